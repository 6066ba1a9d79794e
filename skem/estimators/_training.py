"""The base class of estimators that EM trains: for each initialisation, for each iteration of EM on all feature blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skem.engine import em
from skem.engine.covariances import COVARIANCE_TYPES, CovarianceType
from skem.engine.given_start import checked_array, raise_unless_finite
from skem.engine.missing_em import filled
from skem.engine.parameters import Mixture
from skem.engine.parts import Parts
from skem.engine.problem import Problem
from skem.engine.rows import Rows
from skem.engine.threads import Workers, single_threaded
from skem.engine.warn import warn
from skem.estimators._array_api import on_device_of_fit, to_numpy
from skem.estimators._callbacks import CallbackSupportMixin, Progress
from skem.estimators._checking import check_features
from skem.estimators._fitted import FittedMixture, checked_replacement, require_fitted
from skem.estimators._regularisation import effective_ridge
from skem.estimators._samples import HeldOutSamples, TrainingSamples
from skem.estimators._units import Units, winsorised

if TYPE_CHECKING:
    from skem.estimators._out_of_core import OutOfCoreSamples


class Iteration(NamedTuple):
    """The result of an iteration: the state of each feature block, and values after each iteration so far, summed over blocks.

    Values are means over samples in nats, per unit of volume in input units. ``converged`` is True if the objective gained less than
    ``tol``, and None if ``tol`` is zero; ``last`` is True if no iteration follows.
    """

    states: list[em.State]
    log_likelihood: list[float]
    objective: list[float]
    converged: bool | None
    last: bool

    @property
    def mixtures(self) -> list[Mixture]:
        return [state.mixture for state in self.states]

    @property
    def dtype(self) -> str:
        """The widest type that densities are computed in."""
        return str(max((state.dtype for state in self.states), key=lambda dtype: dtype.itemsize))

    @property
    def n_singular(self) -> int:
        return sum(state.n_singular for state in self.states)


@dataclass(frozen=True, eq=False)
class Training:
    """Parameters of a fit, from the checked samples and the parameters of the estimator.

    ``model`` has the parameters of the trained estimator, but for what it chose itself. ``columns`` are the features of each
    block, ``ridge`` and ``variance_floor`` are in the engine's units, and ``log_sharing`` is that of ``Problem``. ``held_out``
    selects an iteration. Each initialisation has a random state. The first iteration of a ``continued`` fit has to improve on the
    objective of the last fit by ``tol``. Unless they are drawn from samples, ``given`` has the initial parameters of each block in
    input units, or ``labels`` the component of each sample.
    """

    model: Any
    parts: Parts
    columns: Sequence[np.ndarray]
    units: Units
    covariance_type: CovarianceType
    ridge: float
    variance_floor: float
    log_sharing: np.ndarray | None = None
    continued: bool = False
    incomplete: bool = False
    held_out: HeldOutSamples | None = None
    random_states: Sequence[np.random.RandomState] = ()
    given: Sequence[Mixture] | None = None
    labels: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        samples: TrainingSamples | OutOfCoreSamples,
        columns: Sequence[np.ndarray],
        held_out: TrainingSamples | None = None,
        **others: Any,
    ) -> Self:
        """Choose units and regularisation by the training samples and the parameters of a model."""
        limits = samples.limits() if model.standardize == "robust" else None
        samples = samples.winsorised(limits)
        units = replace(Units.of_samples(samples, bool(model.standardize)), limits=limits)
        parts = samples.parts(units.shift, units.scale)
        covariance_type, ridge = COVARIANCE_TYPES[model.covariance_type], units.ridge(model.reg_covar)
        if not samples.incomplete:
            ridge = effective_ridge(model, parts, columns, units, covariance_type)
            if ridge > units.ridge(model.reg_covar):  # raised, also in later batches
                units = replace(units, least_ridge=ridge)
        floor = model.variance_floor * units.mean_variance
        if held_out is not None:
            features = Rows(winsorised(held_out.X, limits), None, units.shift, units.scale, keep=True)
            others["held_out"] = HeldOutSamples(features, held_out.codes, held_out.weights)
        others["incomplete"] = samples.incomplete
        return cls(model, parts, columns, units, covariance_type, ridge, floor, **others)

    @cached_property
    def rows(self) -> Rows:
        """The samples that initialisations draw from, without missing values."""
        return filled(self.parts.whole) if self.incomplete else self.parts.whole

    def problem(self, block: int, start: Mixture, workers: Workers) -> Problem:
        return Problem(
            self.parts,
            self.columns[block],
            start,
            self.covariance_type,
            workers,
            ridge=self.ridge,
            variance_floor=self.variance_floor,
            log_sharing=self.log_sharing,
        )

    def to_engine(self, mixtures: Sequence[Mixture]) -> list[Mixture]:
        return [
            self.units.to_engine(mixture, columns, self.covariance_type)
            for mixture, columns in zip(mixtures, self.columns, strict=True)
        ]

    def fitted(self, mixtures: Sequence[Mixture]) -> FittedMixture:
        return FittedMixture.of_engine(mixtures, self.columns, self.units, self.covariance_type)

    def iterations(
        self, start: Sequence[Mixture], workers: Workers, max_iter: int, tol: float
    ) -> Iterator[Iteration]:
        """Yield the result of each iteration from an initialisation, a mixture per block in the engine's units.

        An iteration that gains less than ``tol``, in nats per sample, is the last one; zero never stops.
        """
        blocks = [em.iterations(self.problem(r, each, workers), max_iter) for r, each in enumerate(start)]
        log_volume = sum(map(self.units.log_volume, self.columns))
        log_likelihood: list[float] = []
        objective: list[float] = []
        converged, before = None, -np.inf
        while not converged and len(objective) < max_iter:
            with single_threaded():
                states = list(map(next, blocks))
            if self.continued and not objective:
                before = sum([state.first_objective for state in states]) - log_volume
            log_likelihood.append(sum([state.log_likelihood for state in states]) - log_volume)
            objective.append(sum([state.objective for state in states]) - log_volume)
            raise_unless_finite(objective[-1])
            converged = bool(objective[-1] - before < tol) if tol else None
            before = objective[-1]
            last = bool(converged) or len(objective) == max_iter
            yield Iteration(states, log_likelihood, objective, converged, last)


class Selection:
    """The iteration of a model with the best score, the largest ``measure()``; its attributes ``names`` are restored at the end."""

    def __init__(
        self, model: Any, measure: Callable[[], float], names: Sequence[str], n_iter_no_change: int
    ) -> None:
        self._model, self._measure, self._names = model, measure, names
        self._n_iter_no_change = n_iter_no_change
        self.scores: list[float] = []
        self.best_score, self._without_gain = -np.inf, 0

    def add(self) -> bool:
        """Score the present iteration; return True after more than ``n_iter_no_change`` iterations below the best score."""
        score = float(np.nan_to_num(self._measure(), nan=-np.inf, neginf=-np.inf))
        self.scores.append(score)
        self._without_gain = self._without_gain + 1 if score < self.best_score else 0
        if score > self.best_score or len(self.scores) == 1:
            self.best_score = score
            self._best = {name: vars(self._model)[name] for name in self._names}
        return self._without_gain > self._n_iter_no_change

    def restore_best(self) -> None:
        vars(self._model).update(self._best)


def exceeds(objective: float, best: float) -> bool:
    """True if an objective is larger by more than rounding, which must not choose between two fits of one maximum."""
    return objective - best > 1e-9 * (1 + abs(objective))  # the best may be -inf


class MixtureEstimator(CallbackSupportMixin, BaseEstimator):
    """Estimator that EM trains.

    A subclass has ``_prepare``, which checks and returns a `Training`, and ``_initial``, which returns an initialisation, a mixture
    per block in the engine's units.
    """

    _initial: Callable[[Training, np.random.RandomState], list[Mixture]]

    # Parameters that not all of the estimators have.
    early_stopping = False
    verbose: bool | int = False

    _in_batches = False  # True if histories are those of batches
    _empty_rows = False  # True if a sample may miss all values
    _fitted: FittedMixture

    def _is_continued(self) -> bool:
        return self.warm_start and hasattr(self, "_fitted")

    def _n_init(self) -> int:
        """Number of initialisations: given arrays, and the last fit, are one."""
        return self.n_init if isinstance(self.init_params, str) and not self._is_continued() else 1

    def _max_iterations(self) -> int:
        return self._n_init() * self.max_iter

    def _starts(self, training: Training) -> Iterator[list[Mixture]]:
        """Yield initialisations; between two of them, this estimator has the fit from the first."""
        for random_state in training.random_states:
            with single_threaded():
                start = self._initial(training, random_state)
            yield start

    def _value(self, training: Training, iteration: Iteration) -> float:
        """The fit with the largest value is kept."""
        return iteration.objective[-1]

    def _features(self, X: Any, keep: bool = False) -> Rows:
        """Checked samples in the engine's units; ``keep`` if they are read many times."""
        check_is_fitted(self)
        checked = check_features(self, X, missing=True, empty_rows=self._empty_rows, reset=False)
        return self._fitted.features(checked, keep)

    def _store(self, training: Training, iteration: Iteration) -> None:
        """Set the fitted attributes; they are replaced after each iteration, never changed in place."""
        self._fitted = training.fitted(iteration.mixtures)
        self.log_likelihood_ = np.array(iteration.log_likelihood)
        self.objective_ = np.array(iteration.objective)
        self.n_iter_, self.dtype_used_ = len(iteration.objective), iteration.dtype
        keep_convergence(self, iteration.converged)
        self._in_batches = False

    def _train(
        self, training: Training, progress: Progress, *, eager: bool = False
    ) -> Generator[Self, bool | None, bool]:
        """Train by EM; yield the estimator after each iteration, which has to be fitted then if ``eager``.

        Return True if a callback, or the caller by sending True, ended the fit. The estimator is that of the best initialisation.
        """
        best_value, best, stop, selection = -np.inf, None, False, None
        held_out, model = training.held_out, training.model
        with Workers(self.n_jobs) as workers:
            for number, start in enumerate(self._starts(training), 1):
                if held_out is not None and model.early_stopping:
                    names, patience = ("_fitted", "best_iter_"), model._option("n_iter_no_change")
                    selection = Selection(self, partial(held_out.accuracy, self), names, patience)
                iterations = training.iterations(start, workers, model.max_iter, model.tol)
                finished = False
                while not (finished or stop):
                    with progress.task():
                        iteration = next(iterations)
                        finished = iteration.last
                        if finished or eager or selection or progress.observed:
                            self._store(training, iteration)
                        if selection is not None:
                            if selection.add():
                                finished = True
                                if model.tol:
                                    self.converged_ = True
                            self.validation_scores_ = np.array(selection.scores)
                            self.best_validation_score_ = selection.best_score
                    if self.verbose:
                        print(
                            f"initialisation {number}, iteration {len(iteration.objective)}: "
                            f"objective {iteration.objective[-1]:.6f} nats per sample"
                        )
                    stop = bool((yield self)) or progress.stop
                value = self._value(training, iteration)
                if held_out is not None and selection is not None:
                    selection.restore_best()
                    value = -held_out.log_loss(self)
                if best is None or exceeds(value, best_value):
                    best_value, best, n_singular = value, vars(self).copy(), iteration.n_singular
                if stop:
                    break
        assert best is not None
        self.__dict__.update(best)
        if n_singular:  # components end with another covariance than their samples have
            warn(
                f"{type(model).__name__}: {n_singular} component covariances are singular, so EM kept or raised earlier ones "
                f"(reg_covar={model.reg_covar:g}): increase reg_covar, or use fewer components",
            )
        if not stop:
            warn_unless_converged(self, model.max_iter)
        return stop

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = tags.input_tags.allow_nan = True
        return tags


# Fitted attributes


def parameter(name: str, doc: str, *, of_classes: bool = True) -> property:
    """A property of estimators with one feature block: an array of its mixture, in input units.

    Weights have no axis of classes unless ``of_classes``.
    """
    index = slice(None) if of_classes else (slice(None), 0)

    def mixture_of(model: Any) -> Mixture:
        mixtures = require_fitted(model, f"{name}_").mixtures
        if len(mixtures) != 1:
            raise AttributeError(f"{type(model).__name__} has no attribute '{name}_': see blocks_")
        return mixtures[0]

    def get(model: Any) -> Any:
        return on_device_of_fit(model, getattr(mixture_of(model), name)[index])

    def assign(model: Any, values: Any) -> None:
        array = np.asarray(to_numpy(values))
        if name != "covariances":  # whose shape depends on their type
            axes = "n_components", "n_classes" if name == "weights" else "n_features"
            checked_array(f"{name}_", array, axes[: 1 + of_classes])
        changed = replace(mixture_of(model), **{name: array if of_classes else array[:, None]})
        model._fitted = checked_replacement(model._fitted, mixtures=(changed,))

    return property(get, assign, doc=doc)


def refuse_changes(cause: str, changes: dict[str, tuple[Any, Any]]) -> None:
    """Raise ValueError if a pair differs, of values now and in the last fit, which ``cause`` cannot continue then."""
    fixes = {"warm_start": "set warm_start=False", "partial_fit": "begin with a clone"}
    for name, (now, last) in changes.items():
        if now != last:
            before, after = (shorten(str(value), 80, placeholder=" ...") for value in (last, now))
            raise ValueError(
                f"{cause}: {name} changed from {before} to {after} since the last fit: set it back, or {fixes[cause]}"
            )


def keep_convergence(model: Any, converged: bool | None) -> None:
    """Set ``converged_``; a fit without a criterion, None, has none, not even that of an earlier fit."""
    vars(model).pop("converged_", None)
    if converged is not None:
        model.converged_ = converged


def warn_unless_converged(model: Any, max_iter: int) -> None:
    """Warn if ``tol`` did not end the fit that was kept; zero never stops, and never warns."""
    if not getattr(model, "converged_", True):
        warn(
            f"{type(model).__name__} did not converge in {max_iter} iterations: increase max_iter or tol",
            ConvergenceWarning,
        )


# Random states


def seeds(random_state: int | np.random.RandomState | None, n: int) -> list[int]:
    """Draw ``n`` seeds from a random state, which stays as it is for n = 0."""
    return check_random_state(random_state).randint(2**31 - 1, size=n).tolist() if n else []


def one_seed(*random_states: int | np.random.RandomState | None) -> int:
    """The first random state that is given, as a number that gives several fits the same initialisation."""
    given = next((state for state in random_states if state is not None), None)
    return int(given) if isinstance(given, Integral) else seeds(given, 1)[0]
