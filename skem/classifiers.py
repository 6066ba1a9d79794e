"""The classifiers: SKEM, PSKEM and MDA over one private base."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from skem import em, initialize, partition
from skem.callbacks import CallbackSupportMixin, follow, with_callbacks
from skem.gaussian import COVARIANCE_TYPES, Full, Mixture
from skem.threads import Workers, single_threaded


class _SharedKernelClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """What the three classifiers share: blocks of features, one shared-kernel mixture each.

    Inside, features are centred and scaled; everything public is in input units.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_blocks": [Interval(Integral, 1, None, closed="left")],
        "arrangement": [StrOptions(set(partition.ARRANGEMENTS)), list, tuple],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "init": [StrOptions(set(initialize.METHODS)), list, tuple],
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
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    # What SKEMClassifier and MDAClassifier do not offer as a parameter.
    n_blocks = 1
    arrangement: str | Sequence[Sequence[int]] = "sequential"
    covariance_type = "full"
    _always_lists = False

    @property
    def _kind(self) -> type[Full]:
        return COVARIANCE_TYPES[self.covariance_type]

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> _SharedKernelClassifier:
        """Train by supervised EM (Pulford 2022, eqs. 15-18; eq. 32 for one covariance).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Float32 input is computed in float32 as long as that is exact enough, see ``dtype_used_``.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; a row of weight two counts as two rows. Only their ratios matter.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            NaN or infinite features, one class only, blocks that do not fit the features, a start that
            needs more rows than there are, or given arrays of the wrong shape.
        """
        self._validate_params()
        follow(self, self.fit_passes(X, y, sample_weight), X, y, sample_weight)
        return self

    def fit_passes(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Generator[_SharedKernelClassifier, bool | None, None]:
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
                f"{type(self).__name__} needs at least two classes, the data contains one class: {self.classes_[0]!r}"
            )
        self.class_prior_ = self._resolve_class_prior(codes, weights)
        if previous is None:
            self.n_components_ = self.n_components or max(20, 3 * len(self.classes_))
            self.block_indices_ = partition.blocks(X.shape[1], self.n_blocks, self.arrangement, random_state)
        self.n_blocks_ = len(self.block_indices_)

        validation = None
        if self.early_stopping:
            X, codes, weights, validation = self._split_validation(X, codes, weights, random_state)
        self._shift, self._scale = self._units(X, weights)
        rows = em.sort_by_class(X, codes, weights, self._shift, self._scale)
        ridge = self._internal_ridge()
        with single_threaded():
            starts = [
                self._start(rows, r, columns, ridge, random_state, previous)
                for r, columns in enumerate(self.block_indices_)
            ]
        self.log_likelihood_, self.objective_ = np.empty(0), np.empty(0)
        self.converged_ = False
        with Workers(self.n_jobs) as workers:
            fits = [
                em.passes(rows, columns, start, kind=self._kind, ridge=ridge, max_iter=self.max_iter, workers=workers)
                for columns, start in zip(self.block_indices_, starts, strict=True)
            ]
            progress = _Progress(self, validation)
            for states in zip(*fits, strict=True):
                self._keep(states)
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
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_all_finite=False)
        _refuse_non_finite(self, X)
        check_classification_targets(y)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        used = weights > 0
        if not used.any():
            raise ValueError("sample_weight: all weights are zero")
        if not used.all():
            X, y, weights = X[used], y[used], weights[used]
        return X, y, weights / weights.mean()

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

    def _split_validation(
        self, X: np.ndarray, codes: np.ndarray, weights: np.ndarray, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=random_state)
        try:
            train, held_out = next(splitter.split(X, codes))
        except ValueError as error:
            raise ValueError(f"early_stopping: no stratified validation split can be made: {error}") from error
        validation = X[held_out], self.classes_[codes[held_out]], weights[held_out]
        return X[train], codes[train], weights[train] / weights[train].mean(), validation

    def _units(self, X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The shift and scale per feature between input units and the engine's."""
        shift = np.average(X, axis=0, weights=weights).astype(np.float64)
        variance = np.zeros(X.shape[1])
        for begin in range(0, len(X), em.CHUNK_ROWS):
            part = slice(begin, begin + em.CHUNK_ROWS)
            variance += weights[part] @ (X[part] - shift) ** 2
        scale = np.sqrt(variance / weights.sum())
        # Rounding of the mean leaves a constant column with a spread that is not zero.
        scale[scale <= 4 * np.finfo(X.dtype).eps * np.abs(shift)] = 0.0
        if not self.standardize:
            # One power of two for all features: squares neither overflow nor underflow, nothing is rounded,
            # and a ball stays a ball.
            overall = np.sqrt(np.mean(scale**2))
            return shift, np.full(X.shape[1], 2.0 ** np.round(np.log2(overall)) if overall > 0 else 1.0)
        return shift, np.where(scale > 0, scale, 1.0)

    def _internal_ridge(self) -> float:
        return self.reg_covar if self.standardize else self.reg_covar / self._scale[0] ** 2

    def _start(
        self,
        rows: em.Rows,
        r: int,
        columns: np.ndarray,
        ridge: float,
        random_state: np.random.RandomState,
        previous: list[Mixture] | None,
    ) -> Mixture:
        if previous is not None:
            return self._to_internal(previous[r], columns)
        if not isinstance(self.init, str):
            given = initialize.given(
                self.init, r, self.n_blocks_, (self.n_components, len(columns), len(self.classes_)), self._kind
            )
            self.n_components_ = len(given.means)
            return self._to_internal(given, columns)
        unit = 1.0 if self.standardize else self._scale[0]
        return initialize.start(
            rows,
            columns,
            self.init,
            self.n_components_,
            kind=self._kind,
            spread=self.init_spread / unit,
            width=self.init_scale / unit,
            centre=np.zeros(len(columns)) if self.standardize else -self._shift[columns] / unit,
            ridge=ridge,
            strict=self.n_components is not None,
            random_state=random_state,
        )

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
        return {name: str(getattr(self, name)) for name in ("covariance_type", "n_blocks", "arrangement")}

    def _keep(self, states: Sequence[em.State]) -> None:
        """Make the estimator that of one pass; attributes are replaced, never changed in place."""
        self._fitted_with = self._structure()
        self.n_iter_ = states[0].n_passes
        self.blocks_ = [
            self._to_input_units(state.mixture, columns)
            for state, columns in zip(states, self.block_indices_, strict=True)
        ]
        log_scale = [np.log(self._scale[columns]).sum() for columns in self.block_indices_]
        log_likelihood = sum(s.log_likelihood for s in states) - sum(log_scale)
        objective = sum(s.objective for s in states) - sum(log_scale)
        self.log_likelihood_ = np.append(self.log_likelihood_, log_likelihood)
        self.objective_ = np.append(self.objective_, objective)
        self.dtype_used_ = str(max((s.dtype for s in states), key=lambda dtype: dtype.itemsize))

    def _to_input_units(self, mixture: Mixture, columns: np.ndarray) -> Mixture:
        scale = self._scale[columns]
        covariances = self._kind.rescale(mixture.covariances, scale)
        if self.covariance_type == "spherical" and not self.standardize:
            covariances = covariances[:, 0]
        return Mixture(mixture.weights, mixture.means * scale + self._shift[columns], covariances)

    def _to_internal(self, mixture: Mixture, columns: np.ndarray) -> Mixture:
        scale = self._scale[columns]
        covariances = self._kind.given(mixture.covariances, 1.0 / scale)
        return Mixture(mixture.weights, (mixture.means - self._shift[columns]) / scale, covariances)

    # Fitted parameters of a model with one block

    def _only_block(self, name: str) -> Mixture:
        if "blocks_" not in vars(self) or len(self.blocks_) != 1:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}: see blocks_")
        return self.blocks_[0]

    @property
    def weights_(self) -> np.ndarray:
        """pi_kc, shape (n_components, n_classes); for a model with one block."""
        return self._only_block("weights_").weights

    @property
    def means_(self) -> np.ndarray:
        """mu_k, shape (n_components, n_features), in input units; for a model with one block."""
        return self._only_block("means_").means

    @property
    def covariances_(self) -> np.ndarray:
        """P_k in input units, shaped by the covariance type; for a model with one block."""
        return self._only_block("covariances_").covariances

    # Densities and predictions

    def _features(self, X: ArrayLike) -> em.Features:
        """Checked features in the engine's units."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False, ensure_all_finite=False)
        _refuse_non_finite(self, X)
        return em.Features(X, np.arange(len(X)), self._shift, self._scale)

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """log p(x|c), summed over blocks (Pulford 2022, eqs. 1 and 36).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In nats, per unit of volume in input units.
        """
        features = self._features(X)
        total = np.zeros((len(self.classes_), len(features.X)))
        with Workers(self.n_jobs) as workers:
            for columns, mixture in zip(self.block_indices_, self.blocks_, strict=True):
                internal = self._to_internal(mixture, columns)
                total += em.class_log_density(features, columns, internal, self._kind, workers)
                total -= np.log(self._scale[columns]).sum()
        return np.ascontiguousarray(total.T)

    def predict_joint_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(x, c) = log p(x|c) + log of the class prior, shape (n_samples, n_classes)."""
        with np.errstate(divide="ignore"):
            return self.class_log_density(X) + np.log(self.class_prior_)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x), shape (n_samples,)."""
        return logsumexp(self.predict_joint_log_proba(X), axis=1)

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x), shape (n_samples, n_classes)."""
        joint = self.predict_joint_log_proba(X)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """p(c|x), shape (n_samples, n_classes). A product over dependent blocks is overconfident."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of largest posterior (Pulford 2022, eqs. 33 and 34), shape (n_samples,)."""
        joint = self.predict_joint_log_proba(X)
        return self.classes_[joint.argmax(axis=1)]

    def responsibilities(self, X: ArrayLike, y: ArrayLike | None = None) -> np.ndarray | list[np.ndarray]:
        """Which component a row came from, Pr(z = k | x, c) (Pulford 2022, eq. 15).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Classes of the rows; without them Pr(z = k | x), with the class prior in place of the class.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to one. From PSKEMClassifier, and from MDAClassifier with several blocks, a list of
            such arrays, one per block.
        """
        per_block = self._block_responsibilities(X, y)
        return per_block if self._always_lists or len(per_block) > 1 else per_block[0]

    def _block_responsibilities(self, X: ArrayLike, y: ArrayLike | None) -> list[np.ndarray]:
        features = self._features(X)
        codes = None if y is None else self._encode(y, len(features.X))
        result = []
        with Workers(self.n_jobs) as workers:
            for columns, mixture in zip(self.block_indices_, self.blocks_, strict=True):
                internal = self._to_internal(mixture, columns)
                log_density = np.concatenate(
                    em.map_log_density(lambda own, _: own, features, columns, internal, self._kind, workers), axis=1
                ).astype(np.float64)
                weights = mixture.weights @ self.class_prior_[:, None] if codes is None else mixture.weights[:, codes]
                with np.errstate(divide="ignore"):
                    log_density += np.log(weights)
                result.append(np.exp(log_density - logsumexp(log_density, axis=0)).T)
        return result

    def _encode(self, y: ArrayLike, n: int) -> np.ndarray:
        y = np.asarray(y)
        if y.shape != (n,):
            raise ValueError(f"y must have shape ({n},), got {y.shape}")
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y contains classes that were not in the training data: {unknown.tolist()}")
        return np.searchsorted(self.classes_, y)

    def sample(self, n_samples: int = 1, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the model; blocks are independent given the class (Pulford 2022, eq. 35).

        Parameters
        ----------
        n_samples : int
        y : array-like of shape (n_samples,) or one label, optional
            The classes to draw from; without them they are drawn from the class prior. With several
            labels ``n_samples`` is not used.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            Where the blocks overlap or leave features out: such a model does not say how to draw a row.
        """
        check_is_fitted(self)
        named = np.concatenate(self.block_indices_)
        if len(named) != self.n_features_in_ or len(np.unique(named)) != self.n_features_in_:
            raise ValueError("sample: the blocks must hold every feature exactly once")
        random_state = check_random_state(self.random_state)
        if y is None:
            if n_samples < 1:
                raise ValueError(f"sample: n_samples must be at least 1, got {n_samples}")
            codes = random_state.choice(len(self.classes_), size=n_samples, p=self.class_prior_)
        else:
            labels = np.full(n_samples, y) if np.ndim(y) == 0 else np.asarray(y)
            codes = self._encode(labels, len(labels))
        X = np.empty((len(codes), self.n_features_in_))
        for columns, mixture in zip(self.block_indices_, self.blocks_, strict=True):
            edges = np.cumsum(mixture.weights, axis=0)
            edges /= edges[-1]
            components = (random_state.uniform(size=len(codes)) >= edges[:, codes]).sum(axis=0)
            internal = self._to_internal(mixture, columns)
            factors = np.linalg.cholesky(self._kind.dense(internal.covariances, *internal.means.shape))
            noise = random_state.standard_normal((len(codes), len(columns)))
            own = internal.means[components] + np.einsum("nij,nj->ni", factors[components], noise)
            X[:, columns] = own * self._scale[columns] + self._shift[columns]
        return X, self.classes_[codes]


class _Progress:
    """When to stop: as scikit-learn's MLPClassifier does, on the objective or on a validation split."""

    def __init__(
        self, model: _SharedKernelClassifier, validation: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    ) -> None:
        self.model = model
        self.validation = validation
        self.best: dict[str, Any] = {}
        self.without_gain = 0
        for name in ("validation_scores_", "best_validation_score_"):
            vars(model).pop(name, None)
        if validation is not None:
            model.validation_scores_, model.best_validation_score_ = [], -np.inf

    def finished(self) -> bool:
        """Whether the pass just kept is the last one."""
        model = self.model
        if self.validation is None:
            gains = np.diff(model.objective_)
            return bool(model.tol > 0 and len(gains) and gains[-1] < model.tol)
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
        vars(self.model).update(self.best)


def _refuse_non_finite(estimator: BaseEstimator, X: np.ndarray) -> None:
    # The sum is finite only if all values are, or overflowed: then look at each of them.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum(dtype=np.float64)):
            return
    nan, infinite = int(np.isnan(X).sum()), int(np.isinf(X).sum())
    if nan or infinite:
        raise ValueError(
            f"Input X of {type(estimator).__name__} contains {nan} NaN and {infinite} infinity values, of {X.size}"
        )


class SKEMClassifier(_SharedKernelClassifier):
    """Shared-kernel Gaussian mixture classifier trained by supervised EM (Pulford 2022, section 2.2).

    Every class has the density p(x|c) = sum_k pi_kc N(x; mu_k, P_k) over one set of K Gaussian kernels.

    Parameters
    ----------
    n_components : int or None, default=None
        K, the number of kernels; None is max(20, 3 per class).
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        One covariance per kernel; one for all; one variance per kernel and feature; one per kernel.
    init : {"class", "class_kmeans", "sample", "kmeans", "uniform"} or arrays, default="class"
        Where EM starts. "class" and "class_kmeans" reserve n_components / n_classes components for each class
        (the first ones get one more) and start them from rows, or k-means, of that class; a weight that
        starts at zero stays zero, so no component is ever shared. Fewer components than classes are an
        error, but for a single one, which all classes share. "sample" and "kmeans" start all classes
        from all rows with equal weights. "uniform" is the paper's: means uniform on
        [-init_spread, init_spread], covariances init_scale^2 I, weights 1/K (section 3.1). Arrays are a tuple
        (weights (K, L), means (K, m), covariances) in input units.
    init_spread, init_scale : float, default=2.0
        For the uniform start; see ``standardize`` for their units.
    standardize : bool, default=True
        Whether init_spread, init_scale and reg_covar are in units of each feature's standard deviation in
        the training data; else in input units, as in the paper. Fitted parameters and densities are in
        input units either way.
    reg_covar : float, default=0.1
        Ridge r added to each covariance's diagonal; training maximises the likelihood of
        log N(x; mu, P) - r/2 tr(P^-1), which this ridge is the exact M-step of.
    class_prior : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        The paper assumes "uniform" (section 2.3).
    max_iter : int, default=30
        Passes, N_P.
    tol : float, default=0.0
        Stop when the objective gains less than this in a pass; 0 never stops, and never warns.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows, stratified; stop when their accuracy has not gained
        ``tol`` for ``n_iter_no_change`` passes, and go back to the best pass.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=5
    warm_start : bool, default=False
        Go on from the parameters of the last fit.
    n_jobs : int, default=None
        Threads; the result does not depend on it. None is one.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    n_components_ : int
    weights_ : ndarray of shape (n_components, n_classes)
        pi_kc.
    means_ : ndarray of shape (n_components, n_features)
        mu_k.
    covariances_ : ndarray
        P_k; (K, m, m) full, (m, m) tied, (K, m) diag and, with ``standardize``, spherical, else (K,).
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean over rows of log p(x|c), plain and with the ridge's penalty, in nats; element p - 1
        belongs to the parameters after pass p. ``objective_`` never falls.
    n_iter_ : int
    converged_ : bool
        Whether ``tol`` or early stopping ended the fit.
    dtype_used_ : str
        "float32" where the input was and its precision sufficed to the end, else "float64".
    validation_scores_, best_validation_score_
        With early stopping: accuracy after each pass, and the best one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A component that loses all its rows keeps its place with weight zero. A covariance that turns singular
    (possible with reg_covar=0 only) stays as it was. A constant column, or a class with one row, is harmless
    with reg_covar > 0.

    References
    ----------
    G. W. Pulford, "Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
    Partitioning", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import SKEMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SKEMClassifier(random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(3)
    array([[1., 0., 0.]])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        covariance_type: str = "full",
        init: str | tuple | list = "class",
        init_spread: float = 2.0,
        init_scale: float = 2.0,
        standardize: bool = True,
        reg_covar: float = 0.1,
        class_prior: str | ArrayLike = "uniform",
        max_iter: int = 30,
        tol: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.init = init
        self.init_spread = init_spread
        self.init_scale = init_scale
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.class_prior = class_prior
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

class PSKEMClassifier(_SharedKernelClassifier):
    """Partitioned SKEM: one shared-kernel mixture per block of features (Pulford 2022, section 2.3).

    log p(x|c) = sum_r log sum_k pi_kc^(r) N(x_r; mu_k^(r), P_k^(r)), eq. 36. Where the blocks are not
    independent given the class, the product is overconfident: trust its decisions more than its
    probabilities.

    Parameters
    ----------
    n_components : int or None, default=None
        K, the number of kernels of each block; None is max(20, 3 per class).
    n_blocks : int, default=3
        R; at most one per feature, see ``n_blocks_``.
    arrangement : {"sequential", "interleaved", "random"} or list of index lists, default="sequential"
        Which feature goes to which block. Index lists may overlap or leave features out, and make
        ``n_blocks`` unused.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        One covariance per kernel; one for all; one variance per kernel and feature; one per kernel.
    init : {"class", "class_kmeans", "sample", "kmeans", "uniform"} or arrays, default="class"
        Where EM starts. "class" and "class_kmeans" reserve n_components / n_classes components for each class
        (the first ones get one more) and start them from rows, or k-means, of that class; a weight that
        starts at zero stays zero, so no component is ever shared. Fewer components than classes are an
        error, but for a single one, which all classes share. "sample" and "kmeans" start all classes
        from all rows with equal weights. "uniform" is the paper's: means uniform on
        [-init_spread, init_spread], covariances init_scale^2 I, weights 1/K (section 3.1). Arrays are a tuple
        (weights (K, L), means (K, m), covariances) in input units, in a list with one tuple per block.
    init_spread, init_scale : float, default=2.0
        For the uniform start; see ``standardize`` for their units.
    standardize : bool, default=True
        Whether init_spread, init_scale and reg_covar are in units of each feature's standard deviation in
        the training data; else in input units, as in the paper. Fitted parameters and densities are in
        input units either way.
    reg_covar : float, default=0.1
        Ridge r added to each covariance's diagonal; training maximises the likelihood of
        log N(x; mu, P) - r/2 tr(P^-1), which this ridge is the exact M-step of.
    class_prior : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        The paper assumes "uniform" (section 2.3).
    max_iter : int, default=30
        Passes, N_P.
    tol : float, default=0.0
        Stop when the objective gains less than this in a pass; 0 never stops, and never warns.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows, stratified; stop when their accuracy has not gained
        ``tol`` for ``n_iter_no_change`` passes, and go back to the best pass.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=5
    warm_start : bool, default=False
        Go on from the parameters of the last fit.
    n_jobs : int, default=None
        Threads; the result does not depend on it. None is one.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    n_components_ : int
    n_blocks_ : int
    block_indices_ : list of ndarray
        The features of each block.
    blocks_ : list of Mixture
        ``weights`` (K, L), ``means`` (K, m) and ``covariances`` of each block.
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean over rows of log p(x|c), plain and with the ridge's penalty, in nats, summed over blocks; element p - 1
        belongs to the parameters after pass p. ``objective_`` never falls.
    n_iter_ : int
    converged_ : bool
        Whether ``tol`` or early stopping ended the fit.
    dtype_used_ : str
        "float32" where the input was and its precision sufficed to the end, else "float64".
    validation_scores_, best_validation_score_
        With early stopping: accuracy after each pass, and the best one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A component that loses all its rows keeps its place with weight zero. A covariance that turns singular
    (possible with reg_covar=0 only) stays as it was. A constant column, or a class with one row, is harmless
    with reg_covar > 0.

    References
    ----------
    G. W. Pulford, "Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
    Partitioning", 2022.
    """

    _always_lists = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_blocks: int = 3,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        covariance_type: str = "full",
        init: str | tuple | list = "class",
        init_spread: float = 2.0,
        init_scale: float = 2.0,
        standardize: bool = True,
        reg_covar: float = 0.1,
        class_prior: str | ArrayLike = "uniform",
        max_iter: int = 30,
        tol: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.arrangement = arrangement
        self.covariance_type = covariance_type
        self.init = init
        self.init_spread = init_spread
        self.init_scale = init_scale
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.class_prior = class_prior
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

class MDAClassifier(_SharedKernelClassifier):
    """Mixture discriminant analysis with shared components: one covariance for all (Pulford 2022, eq. 32).

    As in the paper, all classes share the components. Started from "class" (the default) or
    "class_kmeans", each class keeps its own: that is the mixture discriminant analysis of Hastie and
    Tibshirani (1996).

    Parameters
    ----------
    n_components : int or None, default=None
        K, the number of components of each block; None is max(20, 3 per class).
    n_blocks : int, default=1
        R; at most one per feature, see ``n_blocks_``. Each block has a covariance of its own.
    arrangement : {"sequential", "interleaved", "random"} or list of index lists, default="sequential"
        Which feature goes to which block.
    init : {"class", "class_kmeans", "sample", "kmeans", "uniform"} or arrays, default="class"
        Where EM starts. "class" and "class_kmeans" reserve n_components / n_classes components for each class
        (the first ones get one more) and start them from rows, or k-means, of that class; a weight that
        starts at zero stays zero, so no component is ever shared. Fewer components than classes are an
        error, but for a single one, which all classes share. "sample" and "kmeans" start all classes
        from all rows with equal weights. "uniform" is the paper's: means uniform on
        [-init_spread, init_spread], covariances init_scale^2 I, weights 1/K (section 3.1). Arrays are a tuple
        (weights (K, L), means (K, m), covariances) in input units, in a list with one tuple per block.
    init_spread, init_scale : float, default=2.0
        For the uniform start; see ``standardize`` for their units.
    standardize : bool, default=True
        Whether init_spread, init_scale and reg_covar are in units of each feature's standard deviation in
        the training data; else in input units, as in the paper. Fitted parameters and densities are in
        input units either way.
    reg_covar : float, default=0.1
        Ridge r added to each covariance's diagonal; training maximises the likelihood of
        log N(x; mu, P) - r/2 tr(P^-1), which this ridge is the exact M-step of.
    class_prior : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        The paper assumes "uniform" (section 2.3).
    max_iter : int, default=30
        Passes, N_P.
    tol : float, default=0.0
        Stop when the objective gains less than this in a pass; 0 never stops, and never warns.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows, stratified; stop when their accuracy has not gained
        ``tol`` for ``n_iter_no_change`` passes, and go back to the best pass.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=5
    warm_start : bool, default=False
        Go on from the parameters of the last fit.
    n_jobs : int, default=None
        Threads; the result does not depend on it. None is one.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    n_components_ : int
    weights_, means_, covariances_ : ndarray
        (K, L), (K, m) and (m, m); for a model with one block.
    n_blocks_ : int
    block_indices_ : list of ndarray
        The features of each block.
    blocks_ : list of Mixture
        ``weights`` (K, L), ``means`` (K, m) and ``covariances`` of each block.
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean over rows of log p(x|c), plain and with the ridge's penalty, in nats, summed over blocks; element p - 1
        belongs to the parameters after pass p. ``objective_`` never falls.
    n_iter_ : int
    converged_ : bool
        Whether ``tol`` or early stopping ended the fit.
    dtype_used_ : str
        "float32" where the input was and its precision sufficed to the end, else "float64".
    validation_scores_, best_validation_score_
        With early stopping: accuracy after each pass, and the best one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A component that loses all its rows keeps its place with weight zero. A covariance that turns singular
    (possible with reg_covar=0 only) stays as it was. A constant column, or a class with one row, is harmless
    with reg_covar > 0.

    References
    ----------
    G. W. Pulford, "Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
    Partitioning", 2022. T. Hastie and R. Tibshirani, "Discriminant analysis by Gaussian mixtures", J. R.
    Statist. Soc. B 58, 155-176, 1996.
    """

    covariance_type = "tied"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_blocks: int = 1,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        init: str | tuple | list = "class",
        init_spread: float = 2.0,
        init_scale: float = 2.0,
        standardize: bool = True,
        reg_covar: float = 0.1,
        class_prior: str | ArrayLike = "uniform",
        max_iter: int = 30,
        tol: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.arrangement = arrangement
        self.init = init
        self.init_spread = init_spread
        self.init_scale = init_scale
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.class_prior = class_prior
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
