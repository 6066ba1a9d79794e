"""A plain Gaussian mixture, without classes: the same engine, with all rows in one class."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skem.engine import starts
from skem.engine.class_density import Block, class_log_density, map_log_density
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.given_start import checked_start
from skem.engine.parameters import Mixture
from skem.engine.rows import Features, Rows
from skem.engine.threads import Workers, single_threaded
from skem.estimators._checking import CheckedParameters, check_features, weighted_rows
from skem.estimators._docstrings import documented
from skem.estimators._starting import WITHOUT_CLASSES
from skem.estimators._training import Training, warn_unless_converged
from skem.estimators._units import Units, all_or_nothing


@documented
class GaussianMixture(CheckedParameters, Units, DensityMixin, BaseEstimator):
    """Gaussian mixture density p(x) = sum_k pi_k N(x; mu_k, P_k), trained by EM.

    It does what scikit-learn's ``GaussianMixture`` does, several times faster, with results that do not
    depend on the number of threads, on data that need not fit into memory.

    Parameters
    ----------
    n_components : int, default=1
        K.
    %(covariance_type)s
    init : {"kmeans", "k-means++", "sample"} or tuple, default="kmeans"
        Where EM starts: means from k-means, from the seeds of k-means++, or from rows drawn at random, all
        with equal weights and the covariance about them of all rows. Or arrays: (weights (K,), means
        (K, m), covariances) in input units. k-means copies the data, the draw from rows does not. The other starts of the
        classifiers need classes, or, as the uniform one does, a scale that is not that of the data.
    %(n_init)s
    %(max_iter)s
    %(tol)s
    %(standardize)s
    %(reg_covar)s
    %(warm_start)s
    %(n_jobs)s
    %(random_state)s

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray
        (K, m, m) full, (m, m) tied, (K, m) diag and, with ``standardize``, spherical, else (K,).
    %(log_likelihood_)s
        Without classes p(x|c) is p(x).
    lower_bound_ : float
        The last objective.
    %(n_iter_)s
    converged_ : bool
        Whether ``tol`` ended the fit.
    %(dtype_used_)s
    %(n_features_in_)s

    Notes
    -----
    A component that loses all its rows keeps its place with weight zero. A covariance that turns singular stays as it
    was; where the ridge is lost in rounding only, it is raised until it just is not, if that is better. A constant
    column and identical rows are harmless with reg_covar > 0. Rows may lie far from zero, and narrow components far
    apart: only digits that the input lacks are lost. A fit that is interrupted or fails leaves the estimator as it was.

    The ridge takes part in the E-step too, so that the objective does not fall; scikit-learn adds it in the
    M-step alone. With reg_covar=0 both do the same passes, with 1e-6 almost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import GaussianMixture
    >>> X, _ = load_iris(return_X_y=True)
    >>> GaussianMixture(3, random_state=0).fit(X).weights_.round(2)
    array([0.33, 0.3 , 0.36])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "init": [StrOptions(set(WITHOUT_CLASSES)), tuple],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "standardize": ["boolean"],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        init: str | tuple = "kmeans",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        standardize: bool = False,
        reg_covar: float = 1e-6,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> GaussianMixture:
        """Train by EM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Float32 input is computed in float32 as long as that is exact enough, see ``dtype_used_``. A
            ``numpy.memmap`` is read chunk by chunk.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; a row of weight two counts as two rows. Only their ratios matter. A row of weight zero, or up to
            1e-30 of the largest weight, counts as none; if there are such rows, the others are copied.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            NaN or infinite features, weights that are negative or all zero, fewer rows with a weight than components, or
            given arrays of the wrong shape.
        """
        self._validate_params()
        with all_or_nothing(self), single_threaded():
            self._fit(X, sample_weight)
        warn_unless_converged(self)
        return self

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None) -> None:
        previous = self._mixture() if self.warm_start and hasattr(self, "means_") else None
        checked = check_features(self, X, ensure_min_samples=2)
        rows, _, weights = weighted_rows(checked, np.zeros(len(checked), dtype=np.int8), sample_weight)
        if len(rows) < self.n_components:
            raise ValueError(f"n_components={self.n_components} components from n_samples={len(rows)} rows")
        if previous is not None:
            self._check_previous(previous, rows.shape[1])
        random_state = check_random_state(self.random_state)
        self._measure(rows, weights)
        features = Features(rows, None, self._shift, self._scale, keep=True)
        columns = np.arange(rows.shape[1])
        training = Training(
            Rows(features, weights, np.array([0, len(rows)])),
            [columns],
            {"covariance_type": self._covariance_type, "ridge": self._internal_ridge()},
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
        )
        drawn = isinstance(self.init, str) and previous is None
        fits = []
        for _ in range(self.n_init if drawn else 1):
            (*_, last) = training.passes([self._start(training.rows, previous, random_state)])
            fits.append(last)
        best = max(fits, key=lambda fit: fit.objective[-1])
        fitted = self._to_input_units(best.mixtures[0], columns)
        self.weights_ = fitted.weights[:, 0]
        self.means_, self.covariances_ = fitted.means, fitted.covariances
        self.log_likelihood_, self.objective_ = best.log_likelihood, best.objective
        self.lower_bound_ = float(self.objective_[-1])
        self.n_iter_ = best.n_passes
        self.converged_ = best.converged
        self.dtype_used_ = best.dtype

    def _start(self, rows: Rows, previous: Mixture | None, random_state: np.random.RandomState) -> Mixture:
        columns = np.arange(rows.features.X.shape[1])
        if previous is not None:
            return self._to_internal(previous, columns)
        if not isinstance(self.init, str):
            weights, *rest = self.init if len(self.init) == 3 else (None,)
            start = (np.asarray(weights, dtype=np.float64)[..., None], *rest) if rest else self.init
            given = checked_start(
                start,
                block=0,
                n_blocks=1,
                sizes=(self.n_components, len(columns), 1),
                covariance_type=self._covariance_type,
            )
            return self._to_internal(given, columns)
        request = starts.Request(
            rows=rows,
            columns=columns,
            n_components=self.n_components,
            covariance_type=self._covariance_type,
            random_state=random_state,
            ridge=self._internal_ridge(),
        )
        return starts.STARTS[self.init](request)

    def _check_previous(self, previous: Mixture, n_features: int) -> None:
        now = (self.n_components, n_features, self.covariance_type)
        before = (*previous.means.shape, self._fitted_type)
        for name, new, old in zip(
            ("n_components", "the number of features", "covariance_type"), now, before, strict=True
        ):
            if new != old:
                raise ValueError(f"warm_start: {name} changed from {old} to {new} since the last fit")

    # What can be asked of a fitted mixture

    def _mixture(self) -> Mixture:
        return Mixture(self.weights_[:, None], self.means_, self.covariances_)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) in nats, shape (n_samples,)."""
        features = self._features(X)
        columns = np.arange(self.n_features_in_)
        block = Block(columns, self._to_internal(self._mixture(), columns), self._covariance_type)
        with Workers(self.n_jobs) as workers:
            log_volume = float(np.log(self._scale).sum())
            density = class_log_density(features, [block], workers, [log_volume])
        return density[:, 0]

    def score(self, X: ArrayLike, y: object = None) -> float:
        """The mean of log p(x) over the rows, in nats."""
        return float(self.score_samples(X).mean())

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Pr(z = k | x): which component a row came from, shape (n_samples, n_components)."""
        features = self._features(X)
        columns = np.arange(self.n_features_in_)
        block = Block(columns, self._to_internal(self._mixture(), columns), self._covariance_type)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights_)[:, None]

        def responsibilities(log_density: np.ndarray, _: np.ndarray) -> np.ndarray:
            return softmax(log_density.astype(np.float64) + log_weights, axis=0).T

        with Workers(self.n_jobs) as workers:
            chunks = map_log_density(responsibilities, features, block, workers)
        return np.concatenate(chunks)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable component of each row, shape (n_samples,)."""
        return self.predict_proba(X).argmax(axis=1)

    def fit_predict(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """``fit`` and ``predict`` on the same rows."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def sample(
        self, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows.

        Parameters
        ----------
        n_samples : int
        random_state : int, RandomState instance or None, default=None
            None is the estimator's own. Two calls with the same number draw the same rows, whichever of the two it is.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            The component of each row.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"sample: n_samples must be at least 1, got {n_samples}")
        rng = check_random_state(self.random_state if random_state is None else random_state)
        y = rng.choice(len(self.weights_), size=n_samples, p=self.weights_ / self.weights_.sum())
        return self._rows_of(y, self._mixture(), np.arange(self.n_features_in_), rng), y

    def _n_parameters(self) -> int:
        """Free parameters: weights, means and covariances."""
        K, m = self.means_.shape
        return K - 1 + K * m + self._covariance_type.n_parameters(K, m)

    def bic(self, X: ArrayLike) -> float:
        """Bayesian information criterion on ``X``; the lower the better.

        Each row of ``X`` counts once, whatever weight it had in ``fit``.
        """
        n = len(log_density := self.score_samples(X))
        return float(-2 * log_density.sum() + self._n_parameters() * np.log(n))

    def aic(self, X: ArrayLike) -> float:
        """Akaike information criterion on ``X``; the lower the better.

        Each row of ``X`` counts once, whatever weight it had in ``fit``.
        """
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())
