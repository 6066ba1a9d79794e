"""The one loop that trains: EM on all blocks pass by pass, until the objective gains too little.

Also what classifiers add to it: rows held out to stop by, and several starts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state

from skem.engine import em
from skem.engine.device import Device
from skem.engine.device_em import DeviceParts
from skem.engine.parameters import Mixture
from skem.engine.parts import Parts, PartsInMemory, slices, tree
from skem.engine.problem import Problem
from skem.engine.rows import Features
from skem.engine.threads import Workers, single_threaded
from skem.estimators._checking import weighted_rows
from skem.estimators._units import feature_moments


class Record(NamedTuple):
    """What is known after a pass, of all blocks together.

    Attributes
    ----------
    mixtures : list of Mixture
        The parameters of each block, in the engine's units.
    log_likelihood, objective : ndarray of shape (n_passes,)
        After each pass so far, summed over blocks: mean over rows in nats, per unit of volume in input units.
    dtype : str
        The widest type that densities are computed in.
    converged : bool
        Whether this pass gained less than ``tol``.
    n_singular : int
        Components of all blocks whose covariance was singular in the M-step.
    """

    mixtures: list[Mixture]
    log_likelihood: np.ndarray
    objective: np.ndarray
    dtype: str
    converged: bool
    n_singular: int

    @property
    def n_passes(self) -> int:
        return len(self.objective)

    @property
    def lower_bound(self) -> float:
        """The last objective; minus infinity before the first iteration."""
        return float(self.objective[-1]) if self.n_passes else -np.inf


@dataclass(frozen=True)
class Training:
    """All that passes of EM need beside a start.

    Attributes
    ----------
    parts : Parts
        The rows.
    blocks : sequence of ndarray of int
        The features of each block.
    options : dict
        Of the engine's ``Problem``: the model, the same for all blocks.
    max_iter : int
        The most passes.
    tol : float
        A pass that gains less than this is the last one: of the objective, in nats per row. Zero never stops.
    n_jobs : int or None
    goes_on : bool
        True if the start is the last fit: its objective then is what the first pass has to improve on by ``tol``.
    em_passes : callable
        From a ``Problem`` and the most passes to the states after each.
    """

    parts: Parts
    blocks: Sequence[np.ndarray]
    options: dict[str, Any]
    max_iter: int
    tol: float
    n_jobs: int | None
    goes_on: bool = False
    em_passes: Callable[[Problem, int], Iterator[em.State]] = em.iterations

    def passes(self, starts: Sequence[Mixture]) -> Generator[Record, None, None]:
        """Yield what is known after each pass from one start, a mixture for each block in the engine's units."""
        scale = self.parts.scale
        log_scale = sum(float(np.log(scale[columns]).sum()) for columns in self.blocks)
        history = np.empty((2, 64))
        with Workers(self.n_jobs) as workers:
            blocks = [
                self.em_passes(
                    Problem(self.parts, columns, start, workers=workers, **self.options), self.max_iter
                )
                for columns, start in zip(self.blocks, starts, strict=True)
            ]
            for p in range(self.max_iter):
                with single_threaded():
                    states = [next(block) for block in blocks]
                if p == history.shape[1]:
                    history = np.hstack([history, np.empty_like(history)])
                history[0, p] = sum([s.log_likelihood for s in states]) - log_scale
                history[1, p] = sum([s.objective for s in states]) - log_scale
                # Nothing is written here again: whoever keeps a record keeps it as it was.
                log_likelihood, objective = history[0, : p + 1], history[1, : p + 1]
                if p:
                    before = objective[-2]
                else:
                    before = sum([s.first_objective for s in states]) - log_scale if self.goes_on else -np.inf
                converged = bool(self.tol > 0 and objective[-1] - before < self.tol)
                dtype = max([s.dtype for s in states], key=attrgetter("itemsize")).type.__name__
                n_singular = sum([s.n_singular for s in states])
                mixtures = [s.mixture for s in states]
                yield Record(mixtures, log_likelihood, objective, dtype, converged, n_singular)
                if converged:
                    return


def warn_if_singular(estimator: Any, n_singular: int) -> None:
    """Warn where components end with another covariance than their samples have."""
    if n_singular:
        warnings.warn(
            f"{type(estimator).__name__}: {n_singular} component covariances are singular, so EM kept or raised earlier ones "
            f"(reg_covar={estimator.reg_covar:g}): increase reg_covar, or use fewer components",
            stacklevel=3,
        )


def warn_unless_converged(estimator: Any) -> None:
    """Warn where ``tol`` did not end the fit that was kept; zero never stops, and never warns."""
    if estimator.tol > 0 and not estimator.converged_:
        warnings.warn(
            f"{type(estimator).__name__} did not converge in {estimator.max_iter} passes: increase max_iter or tol",
            ConvergenceWarning,
            stacklevel=3,
        )


@dataclass(frozen=True)
class LabelledRows:
    """Rows in memory, their classes, and their weights.

    Attributes
    ----------
    X : ndarray of shape (n, M)
    codes : ndarray of int, shape (n,)
    weights : ndarray of shape (n,)
    classes : ndarray of shape (L,)
        What the user calls the classes; none where rows have no classes, and codes of zero.
    device : Device or None
        Device on which the E-step runs; None is the host.
    """

    X: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    classes: np.ndarray
    device: Device | None = None

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        labels: np.ndarray,
        sample_weight: ArrayLike | None,
        device: Device | None = None,
    ) -> Self:
        """Those that have a weight; see `weighted_rows`."""
        X, labels, weights = weighted_rows(X, labels, sample_weight)
        classes, codes = np.unique(labels, return_inverse=True)
        return cls(X, codes, weights, classes, device)

    @classmethod
    def without_classes(
        cls, X: np.ndarray, sample_weight: ArrayLike | None, device: Device | None = None
    ) -> Self:
        """Unlabelled samples."""
        X, codes, weights = weighted_rows(X, np.zeros(len(X), dtype=np.int8), sample_weight)
        return cls(X, codes, weights, np.zeros(0), device)

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return feature_moments(self.X, self.weights)

    def total_weight(self) -> float:
        return tree(float(self.weights[part].sum()) for part in slices(len(self.weights)))

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        return np.nanmin(self.X, axis=0), np.nanmax(self.X, axis=0)

    def class_weights(self) -> np.ndarray:
        """The total weight of each class, shape (L,)."""
        return tree(
            np.bincount(self.codes[part], weights=self.weights[part], minlength=len(self.classes))
            for part in slices(len(self.codes))
        )

    def parts(self, shift: np.ndarray, scale: np.ndarray) -> PartsInMemory:
        """The samples as the engine reads them, on the host or on the device."""
        data = self.X, self.codes if len(self.classes) else None, self.weights, shift, scale
        return PartsInMemory(*data) if self.device is None else DeviceParts(self.device, *data)

    def split(
        self, fraction: float, random_state: np.random.RandomState
    ) -> tuple[LabelledRows, LabelledRows]:
        """Those to train on, with weights of mean one, and a stratified ``fraction`` to stop by.

        Raises
        ------
        ValueError
            Where a class has too few rows for both.
        """
        counts = np.bincount(self.codes)
        if counts.min() < 2:
            raise ValueError(
                f"validation_fraction: class {self.classes.tolist()[counts.argmin()]!r} has one sample, and to hold out "
                "samples each class needs two; add samples, leave the class out, or set early_stopping=False and no "
                'strength="auto"'
            )
        splitter = StratifiedShuffleSplit(1, test_size=fraction, random_state=random_state)
        try:
            train, held_out = next(splitter.split(self.X, self.codes))
        except ValueError as error:
            raise ValueError(f"validation_fraction: no stratified split can be made: {error}") from error
        weights = self.weights[train] / self.weights[train].mean()
        return (
            LabelledRows(self.X[train], self.codes[train], weights, self.classes, self.device),
            LabelledRows(self.X[held_out], self.codes[held_out], self.weights[held_out], self.classes),
        )


class EarlyStopping:
    """When to stop by the accuracy on rows held out, and which pass to go back to: of a fit from one start."""

    def __init__(self, model: Any, features: Features, codes: np.ndarray, weights: np.ndarray) -> None:
        self._model, self._codes, self._weights = model, codes, weights
        self._features: Any = features
        self._best: dict[str, Any] = {}
        self._without_gain = 0
        model.validation_scores_, model.best_validation_score_ = [], -np.inf

    def has_enough(self) -> bool:
        """Score the pass the model is at; whether too many passes have been worse than the best one."""
        model = self._model
        score = model.score(self._features, model.classes_[self._codes], sample_weight=self._weights)
        model.validation_scores_ = [*model.validation_scores_, score]
        self._without_gain = self._without_gain + 1 if score < model.best_validation_score_ else 0
        if score > model.best_validation_score_:
            model.best_validation_score_ = score
            self._best = {"blocks_": model.blocks_, "best_iter_": model.n_iter_}
        return self._without_gain > model.n_iter_no_change

    def go_back(self) -> float:
        """Give the model its best pass; the log-loss of that one on the rows held out, in nats."""
        self._model.__dict__.update(self._best)
        log_proba = self._model.predict_log_proba(self._features)
        return -float(np.average(log_proba[np.arange(len(self._codes)), self._codes], weights=self._weights))


def seeds(random_state: int | np.random.RandomState | None, n: int) -> list[int]:
    """Seeds drawn from a random state, which stays as it is where none are asked for."""
    return check_random_state(random_state).randint(2**31 - 1, size=n).tolist() if n else []


def one_seed(*random_states: int | np.random.RandomState | None) -> int:
    """The first random state that is given, as a number that gives several fits the same start."""
    given = next((state for state in random_states if state is not None), None)
    return int(given) if isinstance(given, Integral) else seeds(given, 1)[0]
