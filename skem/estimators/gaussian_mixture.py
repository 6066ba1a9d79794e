"""A plain Gaussian mixture, without classes: the same engine, with all rows in one class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator, DensityMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skem.engine import em, starts
from skem.engine.class_density import Block, class_log_density, map_log_density
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.given_start import checked_start
from skem.engine.parameters import Mixture
from skem.engine.problem import Problem
from skem.engine.rows import Features, Rows
from skem.engine.threads import Workers, single_threaded
from skem.estimators._units import CheckedParameters, Units, all_or_nothing

STARTS = {"kmeans": "kmeans", "k-means++": "k-means++", "random_from_data": "sample"}


class GaussianMixture(CheckedParameters, Units, DensityMixin, BaseEstimator):
    """Gaussian mixture density p(x) = sum_k pi_k N(x; mu_k, P_k), trained by EM.

    It does what scikit-learn's ``GaussianMixture`` does, several times faster, with results that do not
    depend on the number of threads, on data that need not fit into memory.

    Parameters
    ----------
    n_components : int, default=1
        K.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        One covariance per component; one for all; one variance per component and feature; one per component.
    init : {"kmeans", "k-means++", "random_from_data"} or tuple, default="kmeans"
        Where EM starts: means from k-means, from the seeds of k-means++, or from rows drawn at random, all
        with equal weights and the covariance about them of all rows. Or arrays: (weights (K,), means
        (K, m), covariances) in input units. k-means copies the data, the draw from rows does not.
    n_init : int, default=1
        Fits from that many starts; the one with the best objective is kept.
    max_iter : int, default=100
        Passes.
    tol : float, default=1e-3
        Stop when the objective gains less than this in a pass; 0 never stops, and never warns.
    standardize : bool, default=False
        Whether reg_covar is in squared units of each feature's standard deviation, else in input units.
    reg_covar : float, default=1e-6
        Ridge r added to each covariance's diagonal; training maximises the likelihood of
        log N(x; mu, P) - r/2 tr(P^-1), which this ridge is the exact M-step of.
    warm_start : bool, default=False
        Go on from the parameters of the last fit.
    n_jobs : int, default=None
        Threads; the result does not depend on it. None is one.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray
        (K, m, m) full, (m, m) tied, (K, m) diag and, with ``standardize``, spherical, else (K,).
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean over rows of log p(x), plain and with the ridge's penalty, in nats; element p - 1 belongs to
        the parameters after pass p. ``objective_`` falls by rounding only, by less than 1e-4 nats in a pass, 2e-3
        where rows are float32.
    lower_bound_ : float
        The last objective.
    n_iter_ : int
        Passes of the fit that was kept.
    converged_ : bool
        Whether ``tol`` ended it.
    dtype_used_ : str
        "float32" where the input was and its precision sufficed to the end, else "float64".
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        "init": [StrOptions(set(STARTS)), tuple],
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: object = None) -> GaussianMixture:
        """Train by EM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Float32 input is computed in float32 as long as that is exact enough, see ``dtype_used_``. A
            ``numpy.memmap`` is read chunk by chunk.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            NaN or infinite features, fewer rows than components, or given arrays of the wrong shape.
        """
        with all_or_nothing(self), single_threaded():
            self._fit(X)
        if self.tol > 0 and not self.converged_:
            warnings.warn(
                f"GaussianMixture did not converge in {self.max_iter} passes: increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _fit(self, X: ArrayLike) -> None:
        previous = self._mixture() if self.warm_start and hasattr(self, "means_") else None
        rows = self._checked(X, ensure_min_samples=2)
        if len(rows) < self.n_components:
            raise ValueError(f"n_components={self.n_components} components from n_samples={len(rows)} rows")
        if previous is not None:
            self._check_previous(previous, rows.shape[1])
        random_state = check_random_state(self.random_state)
        weights = np.ones(len(rows))
        self._measure(rows, weights)
        features = Features(rows, None, self._shift, self._scale, keep=True)
        data = Rows(features, weights, np.array([0, len(rows)]))
        drawn = isinstance(self.init, str) and previous is None
        best: _Fit | None = None
        for _ in range(self.n_init if drawn else 1):
            fit = self._run(data, self._start(data, previous, random_state))
            if best is None or fit.objective[-1] > best.objective[-1]:
                best = fit
        assert best is not None
        columns = np.arange(rows.shape[1])
        fitted = self._to_input_units(best.state.mixture, columns)
        self.weights_ = fitted.weights[:, 0]
        self.means_, self.covariances_ = fitted.means, fitted.covariances
        log_scale = np.log(self._scale).sum()
        self.log_likelihood_ = np.array(best.log_likelihood) - log_scale
        self.objective_ = np.array(best.objective) - log_scale
        self.lower_bound_ = float(self.objective_[-1])
        self.n_iter_ = best.state.n_passes
        self.converged_ = best.converged
        self.dtype_used_ = str(best.state.dtype)

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
        return starts.STARTS[STARTS[self.init]](request)

    def _run(self, rows: Rows, start: Mixture) -> _Fit:
        """EM from one start, until the objective gains less than ``tol``."""
        columns = np.arange(rows.features.X.shape[1])
        log_likelihood, objective = [], []
        converged = False
        with Workers(self.n_jobs) as workers:
            problem = Problem(
                rows, columns, start, self._covariance_type, workers, ridge=self._internal_ridge()
            )
            for state in em.passes(problem, self.max_iter):
                log_likelihood.append(state.log_likelihood)
                objective.append(state.objective)
                converged = self.tol > 0 and len(objective) > 1 and objective[-1] - objective[-2] < self.tol
                if converged:
                    break
        return _Fit(state, log_likelihood, objective, converged)

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
            parts = map_log_density(responsibilities, features, block, workers)
        return np.concatenate(parts)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable component of each row, shape (n_samples,)."""
        return self.predict_proba(X).argmax(axis=1)

    def fit_predict(self, X: ArrayLike, y: object = None) -> np.ndarray:
        """``fit`` and ``predict`` on the same rows."""
        return self.fit(X).predict(X)

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            The component of each row.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"sample: n_samples must be at least 1, got {n_samples}")
        random_state = check_random_state(self.random_state)
        y = random_state.choice(len(self.weights_), size=n_samples, p=self.weights_ / self.weights_.sum())
        internal = self._to_internal(self._mixture(), np.arange(self.n_features_in_))
        factors = np.linalg.cholesky(self._covariance_type.dense(internal.covariances, *internal.means.shape))
        noise = random_state.standard_normal((n_samples, self.n_features_in_))
        X = internal.means[y] + np.einsum("nij,nj->ni", factors[y], noise)
        return X * self._scale + self._shift, y

    def _n_parameters(self) -> int:
        """Free parameters: weights, means and covariances."""
        K, m = self.means_.shape
        return K - 1 + K * m + self._covariance_type.n_parameters(K, m)

    def bic(self, X: ArrayLike) -> float:
        """Bayesian information criterion on ``X``; the lower the better."""
        n = len(log_density := self.score_samples(X))
        return float(-2 * log_density.sum() + self._n_parameters() * np.log(n))

    def aic(self, X: ArrayLike) -> float:
        """Akaike information criterion on ``X``; the lower the better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())


@dataclass(frozen=True)
class _Fit:
    """EM from one start: its last state, and the values after each pass."""

    state: em.State
    log_likelihood: list[float]
    objective: list[float]
    converged: bool
