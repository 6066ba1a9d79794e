"""What the classifiers share: checking, units, starts, the loop over passes, densities and predictions."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from skem.engine import em, partition, sharing, starts
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.given_start import checked_start
from skem.engine.parameters import Mixture
from skem.engine.problem import ACTIVE_ROWS, Problem
from skem.engine.rows import Features, Rows, sort_by_class
from skem.engine.threads import Workers, single_threaded
from skem.estimators._callbacks import CallbackSupportMixin, follow, with_callbacks
from skem.estimators._densities import Densities
from skem.estimators._units import CheckedParameters, all_or_nothing, refuse_non_finite

LEAST_WEIGHT = 1e-30
"""Share of the largest sample weight up to which a row counts as one without weight: float32 still holds its square root
times what a component may take of it."""


def mean_one(weights: np.ndarray) -> np.ndarray:
    """Weights with mean one, whatever their size."""
    with np.errstate(over="ignore"):
        mean = weights.mean()
    return weights / mean if np.isfinite(mean) else mean_one(weights / weights.max())


class SharedKernelClassifier(
    CheckedParameters, Densities, CallbackSupportMixin, ClassifierMixin, BaseEstimator
):
    """What the four classifiers share: blocks of features, one shared-kernel mixture each.

    Inside, features are centred and scaled; everything public is in input units.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_blocks": [Interval(Integral, 1, None, closed="left")],
        "arrangement": [StrOptions(set(partition.ARRANGEMENTS)), list, tuple, np.ndarray],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "init": [StrOptions(set(starts.STARTS) - {"k-means++"}), list, tuple],
        "init_spread": [Interval(Real, 0, None, closed="left")],
        "init_scale": [Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean"],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "class_prior": [StrOptions({"uniform", "empirical"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "sharing": [Real, "array-like", None],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    # What some of the classifiers do not offer as a parameter.
    n_blocks = 1
    arrangement: str | Sequence[Sequence[int]] = "sequential"
    covariance_type = "full"
    sharing: ArrayLike | None = None
    groups: Sequence[Sequence[int]] | None = None
    variance_floor = 0.0

    _active_rows = ACTIVE_ROWS  # 0 for exact passes, to measure what active sets are worth

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SharedKernelClassifier:
        """Train by supervised EM (Pulford 2022, eqs. 15-18; eq. 32 for one covariance).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Float32 input is computed in float32 as long as that is exact enough, see ``dtype_used_``.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; a row of weight two counts as two rows. Only their ratios matter. A row of weight zero, or up to
            1e-30 of the largest weight, counts as none: a class that has weights of zero only is not in ``classes_``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            NaN or infinite features, one class only among rows with a weight, a class with next to no weight, blocks that do not fit the features, a start that
            needs more rows than there are, or given arrays of the wrong shape.
        """
        self._validate_params()
        with all_or_nothing(self), single_threaded():
            follow(self, self.fit_passes(X, y, sample_weight), X, y, sample_weight)
        return self

    def fit_passes(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Generator[SharedKernelClassifier, bool | None, None]:
        """Fit, and yield the estimator itself after every pass, ready to predict: for learning curves.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Yields
        ------
        self
            Fitted with the passes so far. Sending True into the generator ends the fit.
        """
        self._validate_params()
        X, y, weights = self._check_training_data(X, y, sample_weight)
        random_state = check_random_state(self.random_state)
        previous = self._previous_fit(X, y) if self.warm_start and hasattr(self, "blocks_") else None
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, and the rows with a weight are of one class only: "
                f"{self.classes_.tolist()[0]!r}"
            )
        self.class_prior_ = self._resolve_class_prior(codes, weights)
        if previous is None:
            self.n_components_ = self.n_components or max(20, 3 * len(self.classes_))
            self.block_indices_ = partition.blocks(X.shape[1], self.n_blocks, self.arrangement, random_state)
        self.n_blocks_ = len(self.block_indices_)
        lambdas = None
        if self.sharing is not None:
            lambdas = sharing.check_lambdas(self.sharing, len(self.classes_))
        drawn = isinstance(self.init, str) or previous is not None
        if drawn:
            self._group()

        validation = None
        if self.early_stopping:
            X, codes, weights, validation = self._split_validation(X, codes, weights, random_state)
        self._measure(X, weights)
        rows = sort_by_class(X, codes, weights, self._shift, self._scale)
        ridge, floor = self._internal_ridge(), self.variance_floor * self._mean_variance
        with single_threaded():
            starts = [
                self._start(rows, r, columns, ridge, random_state, previous)
                for r, columns in enumerate(self.block_indices_)
            ]
        if not drawn:  # the arrays say how many kernels there are
            self._group()
        log_sharing = None
        if lambdas is not None:
            log_sharing = sharing.log_sharing(lambdas, self.groups_)
            starts = [sharing.closed(start, log_sharing, refill=previous is not None) for start in starts]
        self.log_likelihood_, self.objective_ = np.empty(0), np.empty(0)
        self.converged_ = False
        with Workers(self.n_jobs) as workers:
            fits = [
                em.passes(
                    Problem(
                        rows,
                        columns,
                        start,
                        self._covariance_type,
                        workers,
                        ridge=ridge,
                        variance_floor=floor,
                        log_sharing=log_sharing,
                        active_rows=self._active_rows,
                    ),
                    self.max_iter,
                )
                for columns, start in zip(self.block_indices_, starts, strict=True)
            ]
            progress = _Progress(self, validation)
            self._fitted_with = self._structure()
            log_scale = sum(float(np.log(self._scale[columns]).sum()) for columns in self.block_indices_)
            for _ in range(self.max_iter):
                with single_threaded():
                    self._keep([next(fit) for fit in fits], log_scale)
                self.converged_ = progress.finished()
                stop = yield self
                if stop or self.converged_:
                    break
            else:
                if self.tol > 0:
                    warnings.warn(
                        f"{type(self).__name__} did not converge in {self.max_iter} passes: increase max_iter or tol",
                        ConvergenceWarning,
                        stacklevel=2,
                    )
        progress.restore_best()

    # Training, one step each

    def _check_training_data(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows: np.ndarray
        rows, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_all_finite=False)
        refuse_non_finite(self, rows)
        check_classification_targets(y)
        labels = np.asarray(y)
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        if not weights.any():
            raise ValueError("sample_weight: all weights are zero")
        used = weights > LEAST_WEIGHT * weights.max()
        if not used.all():
            lost = np.setdiff1d(labels[weights > 0], labels[used]).tolist()
            if lost:
                raise ValueError(
                    f"sample_weight: no row of class {lost[0]!r} has more than {LEAST_WEIGHT:g} of the largest weight, "
                    "too little to learn from: give its rows more weight, or none"
                )
            rows, labels, weights = rows[used], labels[used], weights[used]
        return rows, labels, mean_one(weights)

    def _resolve_class_prior(self, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        n_classes = len(self.classes_)
        if isinstance(self.class_prior, str):
            if self.class_prior == "uniform":
                return np.full(n_classes, 1.0 / n_classes)
            return np.bincount(codes, weights=weights) / weights.sum()
        prior = np.asarray(self.class_prior, dtype=np.float64)
        if prior.shape != (n_classes,) or not (prior >= 0).all() or not np.isclose(prior.sum(), 1.0):
            raise ValueError(
                f"class_prior must be {n_classes} non-negative numbers that sum to one, in the order of "
                f"classes_; got {self.class_prior!r}"
            )
        return prior / prior.sum()

    def _group(self) -> None:
        """Set ``groups_``, the kernels of each class, where kernels are grouped."""
        if self.sharing is None:
            return
        if self.groups is None:
            self.groups_ = sharing.equal_groups(self.n_components_, len(self.classes_))
            return
        given = self.n_components is not None or not isinstance(self.init, str)
        self.groups_ = sharing.check_groups(self.groups, self.n_components_ if given else None, self.classes_)
        self.n_components_ = sum(map(len, self.groups_))

    def _split_validation(
        self, X: np.ndarray, codes: np.ndarray, weights: np.ndarray, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=random_state)
        try:
            train, held_out = next(splitter.split(X, codes))
        except ValueError as error:
            raise ValueError(
                f"early_stopping: no stratified validation split can be made: {error}"
            ) from error
        validation = X[held_out], codes[held_out], weights[held_out]
        return X[train], codes[train], weights[train] / weights[train].mean(), validation

    def _start(
        self,
        rows: Rows,
        r: int,
        columns: np.ndarray,
        ridge: float,
        random_state: np.random.RandomState,
        previous: list[Mixture] | None,
    ) -> Mixture:
        if previous is not None:
            return self._to_internal(previous[r], columns)
        if not isinstance(self.init, str):
            given = checked_start(
                self.init,
                block=r,
                n_blocks=self.n_blocks_,
                sizes=(self.n_components, len(columns), len(self.classes_)),
                covariance_type=self._covariance_type,
            )
            self.n_components_ = len(given.means)
            return self._to_internal(given, columns)
        unit = 1.0 if self.standardize else self._scale[0]
        groups = self.groups_ if self.sharing is not None else None
        request = starts.Request(
            rows=rows,
            columns=columns,
            n_components=self.n_components_,
            covariance_type=self._covariance_type,
            random_state=random_state,
            ridge=ridge,
            strict=self.n_components is not None or self.groups is not None,
            spread=self.init_spread / unit,
            width=self.init_scale / unit,
            centre=np.zeros(len(columns)) if self.standardize else -self._shift[columns] / unit,
            groups=groups,
            labels=self.classes_.tolist(),
        )
        start = starts.STARTS[self.init]
        mixture = start(request)
        return sharing.opened(mixture, groups) if groups and start.by_class else mixture

    def _previous_fit(self, X: np.ndarray, y: np.ndarray) -> list[Mixture]:
        """Where a warm start goes on from, if it still fits."""
        wanted = {
            "classes": (list(np.unique(y)), list(self.classes_)),
            "n_components": (self.n_components or self.n_components_, self.n_components_),
            "the number of features": (X.shape[1], len(self._shift)),
            **{name: (now, self._fitted_with[name]) for name, now in self._structure().items()},
        }
        for name, (now, before) in wanted.items():
            if now != before:
                raise ValueError(f"warm_start: {name} changed from {before} to {now} since the last fit")
        return self.blocks_

    def _structure(self) -> dict[str, str]:
        """What a warm start cannot change, beside the data."""
        return {
            name: str(getattr(self, name))
            for name in ("covariance_type", "n_blocks", "arrangement", "groups")
        }

    def _keep(self, states: Sequence[em.State], log_scale: float) -> None:
        """Make the estimator that of one pass; attributes are replaced, never changed in place.

        Densities per unit of volume in input units are those of the engine less ``log_scale``.
        """
        self.n_iter_ = states[0].n_passes
        self.blocks_ = [
            self._to_input_units(state.mixture, columns)
            for state, columns in zip(states, self.block_indices_, strict=True)
        ]
        log_likelihood = sum(s.log_likelihood for s in states) - log_scale
        objective = sum(s.objective for s in states) - log_scale
        self.log_likelihood_ = np.append(self.log_likelihood_, log_likelihood)
        self.objective_ = np.append(self.objective_, objective)
        self.dtype_used_ = max((s.dtype for s in states), key=lambda dtype: dtype.itemsize).type.__name__


class _Progress:
    """When to stop: as scikit-learn's MLPClassifier does, on the objective or on a validation split."""

    def __init__(
        self, model: SharedKernelClassifier, validation: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    ) -> None:
        self.model = model
        self.validation = None
        if validation is not None:
            X, y, weights = validation
            self.validation = (
                Features(X, None, model._shift, model._scale, keep=True),
                model.classes_[y],
                weights,
            )
        self.best: dict[str, Any] = {}
        self.without_gain = 0
        for name in ("validation_scores_", "best_validation_score_"):
            model.__dict__.pop(name, None)
        if validation is not None:
            model.validation_scores_, model.best_validation_score_ = [], -np.inf

    def finished(self) -> bool:
        """Whether the pass just kept is the last one."""
        model = self.model
        if self.validation is None:
            latest = model.objective_[-2:]
            return bool(model.tol > 0 and len(latest) == 2 and latest[1] - latest[0] < model.tol)
        X, y, weights = self.validation
        score = model.score(X, y, sample_weight=weights)
        model.validation_scores_ = [*model.validation_scores_, score]
        self.without_gain = self.without_gain + 1 if score < model.best_validation_score_ + model.tol else 0
        if score > model.best_validation_score_:
            model.best_validation_score_ = score
            self.best = {"blocks_": model.blocks_}
        return self.without_gain > model.n_iter_no_change

    def restore_best(self) -> None:
        """Go back to the parameters with the best validation score."""
        self.model.__dict__.update(self.best)
