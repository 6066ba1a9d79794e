"""The loop that trains: for each initialisation, for each iteration of EM on all feature blocks.

Callbacks, early stopping and ``fit_iterations`` observe it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from skem.engine import em, missing_em
from skem.engine.covariances import COVARIANCE_TYPES, CovarianceType
from skem.engine.given_start import raise_unless_finite
from skem.engine.parameters import Mixture
from skem.engine.parts import Parts
from skem.engine.problem import ACTIVE_ROWS, Problem
from skem.engine.rows import Features
from skem.engine.threads import Workers, single_threaded
from skem.engine.warn import warn
from skem.estimators._callbacks import Progress, Unobserved
from skem.estimators._fitted import FittedMixture
from skem.estimators._regularisation import effective_ridge
from skem.estimators._samples import HeldOutSamples, TrainingSamples
from skem.estimators._state import take
from skem.estimators._units import Units, winsorised

if TYPE_CHECKING:
    from skem.estimators._out_of_core import OutOfCoreSamples


class Iteration(NamedTuple):
    """The result of an iteration, of all blocks together.

    Attributes
    ----------
    states : list of em.State
        One per block, in the engine's units.
    log_likelihood, objective : list of float
        After each iteration so far, summed over blocks: mean over samples in nats, per unit of volume in input units.
    converged : bool or None
        True if the objective gained less than ``tol``; None if ``tol`` is zero.
    last : bool
        True if no iteration follows.
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
        """Number of components whose covariance was singular in the M-step."""
        return sum(state.n_singular for state in self.states)


@dataclass(frozen=True, eq=False)
class Training:
    """Everything that iterations of EM need except the initialisation.

    Attributes
    ----------
    parts : Parts
        The training samples.
    columns : sequence of ndarray of int
        Features of each block.
    units : Units
    covariance_type : CovarianceType
    ridge, variance_floor : float
        Constraints in the engine's units.
    max_iter : int
    tol : float
        Least gain of the objective in an iteration, in nats per sample; an iteration with less is the last. Zero never stops.
    n_jobs : int or None
    log_sharing : ndarray of shape (K, L), optional
        See ``Problem``.
    continued : bool
        True if the initialisation is the last fit: the first iteration then has to improve on its objective by ``tol``.
    incomplete : bool
        True if values are missing.
    active_rows : float
        See ``Problem``.
    held_out : HeldOutSamples or None
        Samples that select an iteration.
    """

    parts: Parts
    columns: Sequence[np.ndarray]
    units: Units
    covariance_type: CovarianceType
    ridge: float
    variance_floor: float
    max_iter: int
    tol: float
    n_jobs: int | None
    log_sharing: np.ndarray | None = None
    continued: bool = False
    incomplete: bool = False
    active_rows: float = ACTIVE_ROWS
    held_out: HeldOutSamples | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        samples: TrainingSamples | OutOfCoreSamples,
        columns: Sequence[np.ndarray],
        held_out: TrainingSamples | None = None,
        *,
        continued: bool,
    ) -> Self:
        """Choose units and regularisation by the training samples and the parameters of a model."""
        limits = samples.limits() if model.standardize == "robust" else None
        samples = samples.winsorised(limits)
        units = replace(Units.of_samples(samples, bool(model.standardize), model.reg_covar), limits=limits)
        parts, covariance_type = (
            samples.parts(units.shift, units.scale),
            COVARIANCE_TYPES[model.covariance_type],
        )
        ridge = units.ridge(model.reg_covar)
        if not samples.incomplete:
            ridge = effective_ridge(model, parts, columns, units, covariance_type)
        scored = None
        if held_out is not None:
            features = Features(winsorised(held_out.X, limits), None, units.shift, units.scale, keep=True)
            scored = HeldOutSamples(features, held_out.codes, held_out.weights)
        return cls(
            parts,
            columns,
            units,
            covariance_type,
            ridge,
            model.variance_floor * units.mean_variance,
            max_iter=model.max_iter,
            tol=model.tol,
            n_jobs=model.n_jobs,
            continued=continued,
            incomplete=samples.incomplete,
            held_out=scored,
        )

    def problem(self, block: int, start: Mixture, workers: Workers) -> Problem:
        """The engine's problem of one block."""
        return Problem(
            self.parts,
            self.columns[block],
            start,
            self.covariance_type,
            workers,
            ridge=self.ridge,
            variance_floor=self.variance_floor,
            log_sharing=self.log_sharing,
            active_rows=self.active_rows,
        )

    def to_engine(self, mixture: Mixture, block: int = 0) -> Mixture:
        """Initial parameters of one block, from input units."""
        return self.units.to_engine(mixture, self.columns[block], self.covariance_type)

    def fitted(self, mixtures: Sequence[Mixture]) -> FittedMixture:
        """The fitted model with these parameters, which are in the engine's units."""
        return FittedMixture.of_engine(mixtures, self.columns, self.units, self.covariance_type)

    def iterations(self, start: Sequence[Mixture], workers: Workers) -> Iterator[Iteration]:
        """Yield the result of each iteration from an initialisation, a mixture per block in the engine's units."""
        em_iterations = missing_em.iterations if self.incomplete else em.iterations
        blocks = [
            em_iterations(self.problem(r, mixture, workers), self.max_iter) for r, mixture in enumerate(start)
        ]
        log_volume = sum(map(self.units.log_volume, self.columns))
        log_likelihood: list[float] = []
        objective: list[float] = []
        for iteration in range(1, self.max_iter + 1):
            with single_threaded():
                states = [next(block) for block in blocks]
            if iteration == 1:
                before = -np.inf
                if self.continued:
                    before = sum([state.first_objective for state in states]) - log_volume
            log_likelihood.append(sum([state.log_likelihood for state in states]) - log_volume)
            objective.append(sum([state.objective for state in states]) - log_volume)
            raise_unless_finite(objective[-1])
            converged = objective[-1] - before < self.tol if self.tol else None
            before = objective[-1]
            last = bool(converged) or iteration == self.max_iter
            yield Iteration(states, log_likelihood, objective, converged, last)
            if last:
                return


class Selection:
    """The iteration with the best score on held-out samples; its attributes are restored at the end.

    Parameters
    ----------
    model : estimator
    measure : callable
        Returns the score of the model as it is, the larger the better.
    names : sequence of str
        Attributes of the model that belong to an iteration.
    """

    def __init__(self, model: Any, measure: Callable[[], float], names: Sequence[str]) -> None:
        self._model, self._measure, self._names = model, measure, names
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
        return self._without_gain > self._model._option("n_iter_no_change")

    def restore_best(self) -> None:
        vars(self._model).update(self._best)


def exceeds(objective: float, best: float) -> bool:
    """True if an objective is larger by more than rounding, which must not choose between two fits of one maximum."""
    return objective > best + 1e-9 * (1 + abs(best))


def training_iterations(
    model: Any,
    training: Training,
    initialise: Callable[[], Sequence[Mixture]],
    progress: Progress | Unobserved,
    *,
    eager: bool = False,
) -> Generator[Any, bool | None, bool]:
    """Train a model by EM; yield it after each iteration.

    Parameters
    ----------
    model : estimator
        Its ``_n_init()`` is the number of initialisations, and ``_store(training, iteration)`` sets its fitted attributes.
    training : Training
    initialise : callable
        Returns an initialisation, a mixture per block in the engine's units.
    progress : Progress or Unobserved
        Reports each iteration to callbacks.
    eager : bool
        True if the model has to be fitted at each ``yield``.

    Returns
    -------
    bool
        True if a callback, or the caller by sending True, ended the fit. The model is that of the best initialisation.
    """
    best_value, best, stop, selection = -np.inf, None, False, None
    held_out = training.held_out
    with Workers(training.n_jobs) as workers:
        for number in range(1, model._n_init() + 1):
            with single_threaded():
                start = initialise()
            if held_out is not None and model.early_stopping:
                selection = Selection(model, partial(held_out.accuracy, model), ("_fitted", "best_iter_"))
            iterations = training.iterations(start, workers)
            finished = False
            while not (finished or stop):
                with progress.task() as task:
                    iteration = next(iterations)
                    finished = iteration.last
                    if finished or eager or selection or progress.observed:
                        model._store(training, iteration)
                    if selection is not None:
                        if selection.add():
                            finished = True
                            model._converged = True if training.tol else None
                        model.validation_scores_ = list(selection.scores)
                        model.best_validation_score_ = selection.best_score
                if getattr(model, "verbose", False):
                    print(
                        f"initialisation {number}, iteration {len(iteration.objective)}: "
                        f"objective {iteration.objective[-1]:.6f} nats per sample"
                    )
                stop = bool((yield model)) or task.stop
            value = iteration.objective[-1]
            if held_out is not None and selection is not None:
                selection.restore_best()
                value = -held_out.log_loss(model)
            if best is None or exceeds(value, best_value):
                best_value, best, n_singular = value, vars(model).copy(), iteration.n_singular
            if stop:
                break
    assert best is not None
    vars(model).update(best)
    warn_if_singular(model, n_singular)
    if not stop:
        warn_unless_converged(model)
    return stop


# Convergence and warnings


class ConvergenceMixin:
    """``converged_`` of an estimator with a ``tol``; None in ``_converged`` is a fit without a criterion."""

    _converged: bool | None = None

    @property
    def converged_(self) -> bool:
        """True if ``tol``, or early stopping, ended the fit."""
        if self._converged is None:
            raise AttributeError(
                f"{type(self).__name__} has no attribute 'converged_': fit sets it with tol > 0 only; with tol=0 there is no "
                "criterion of convergence, and max_iter or early stopping ends the fit. Set tol and fit again, or read n_iter_"
            )
        return self._converged

    def _take_converged(self, state: dict[str, Any]) -> None:
        self._converged = take(state, "converged_", kind="boolean") if "converged_" in state else None


def warn_if_singular(model: Any, n_singular: int) -> None:
    """Warn if components end with another covariance than their samples have."""
    if n_singular:
        warn(
            f"{type(model).__name__}: {n_singular} component covariances are singular, so EM kept or raised earlier ones "
            f"(reg_covar={model.reg_covar:g}): increase reg_covar, or use fewer components",
        )


def warn_unless_converged(model: Any) -> None:
    """Warn if ``tol`` did not end the fit that was kept; zero never stops, and never warns."""
    if model._converged is not None and not model._converged:
        warn(
            f"{type(model).__name__} did not converge in {model.max_iter} iterations: increase max_iter or tol",
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
