"""What can be asked of a fitted mixture without classes; everything public is in input units."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skem.engine import device, missing
from skem.engine.density import Block, class_log_density, fill_log_density
from skem.engine.kmeans import assign
from skem.engine.parameters import Mixture
from skem.engine.rows import Features
from skem.engine.samples import Samples
from skem.engine.threads import Workers, single_threaded
from skem.estimators._array_api import (
    answers_in_namespace,
    computes_in_namespace,
    like,
    namespace_of,
    to_numpy,
)
from skem.estimators._checking import (
    check_features,
    check_n_samples,
    check_weights,
    has_missing,
    mean_one,
    total_weight,
)
from skem.estimators._metrics import METRICS
from skem.estimators._out_of_core import by_blocks
from skem.estimators._units import Units, common_scale


class MixtureDensities(Units):
    """Densities, components and samples of a mixture."""

    if TYPE_CHECKING:
        weights_: np.ndarray
        means_: np.ndarray
        covariances_: np.ndarray
        n_features_in_: int
        n_jobs: int | None
        random_state: int | np.random.RandomState | None

    def _mixture(self) -> Mixture:
        return Mixture(self.weights_[:, None], self.means_, self.covariances_)

    _takes_missing = True
    _in_namespace_of_X = "means_"

    @by_blocks
    @computes_in_namespace
    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) in nats, shape (n_samples,); of a row with missing values, which are NaN, that of the others."""
        features = self._features(X)
        if has_missing(features.X):
            return logsumexp(self._log_joint(features), axis=1)
        with Workers(self.n_jobs) as workers:
            log_volume = float(np.log(self._scale).sum())
            blocks, log_volumes = [self._block()], [log_volume]
            if isinstance(features, device.DeviceFeatures):
                return device.class_log_density(features, blocks, log_volumes)[:, 0]
            return class_log_density(features, blocks, workers, log_volumes)[:, 0]

    def _block(self) -> Block:
        return self._blocks_of([self._mixture()], [np.arange(self.n_features_in_)])[0]

    def _log_joint(self, features: Features) -> np.ndarray:
        """log p(x, z = k), shape (n_samples, n_components)."""
        with np.errstate(divide="ignore"):
            return self._component_log_density(features) + np.log(self.weights_)

    @by_blocks
    @computes_in_namespace
    def component_log_density(self, X: ArrayLike) -> np.ndarray:
        """log N(x; mu_k, P_k) in nats, shape (n_samples, n_components): without the weights."""
        return self._component_log_density(self._features(X))

    def _component_log_density(self, features: Features) -> np.ndarray:
        block = self._block()
        with Workers(self.n_jobs) as workers:
            if has_missing(features.X):
                density = missing.log_densities(features, block, workers)
                return density - ~np.isnan(features.X) @ np.log(self._scale)[:, None]
            log_volume = float(np.log(self._scale).sum())
            if isinstance(features, device.DeviceFeatures):
                return device.component_log_density(features, block) - log_volume

            def in_input_units(log_density: np.ndarray) -> np.ndarray:
                return (log_density.astype(np.float64) - log_volume).T

            result = np.empty((len(features.X), len(self.weights_)))
            fill_log_density(result, in_input_units, features, block, workers)
            return result

    @by_blocks
    @computes_in_namespace
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Pr(z = k | x): which component a row came from, shape (n_samples, n_components)."""
        features = self._features(X)
        if has_missing(features.X):
            return softmax(self._log_joint(features), axis=1)
        if isinstance(features, device.DeviceFeatures):
            log_density = self._component_log_density(features)
            with np.errstate(divide="ignore"):
                return softmax(log_density + like(np.log(self.weights_), log_density), axis=1)
        result = np.empty((len(features.X), len(self.weights_)))
        self._fill(result, features, lambda responsibilities: responsibilities.T)
        return result

    def _fill(
        self, result: np.ndarray, features: Features, function: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """Fill ``result`` (n, ...) with a function of the responsibilities (K, n_chunk) of each chunk of samples."""
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights_)[:, None]

        def of_chunk(log_density: np.ndarray) -> np.ndarray:
            return function(softmax(log_density.astype(np.float64) + log_weights, axis=0))

        with Workers(self.n_jobs) as workers:
            fill_log_density(result, of_chunk, features, self._block(), workers)

    @answers_in_namespace
    def impute(self, X: ArrayLike) -> np.ndarray:
        """The rows with the mean of each missing value, which is NaN, given the values that are there: E[x_h | x_o].

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            A copy; what is there stays as it is.
        """
        features, block = self._features(X), self._block()
        with Workers(self.n_jobs) as workers, single_threaded():
            mean = missing.imputed(features, block, workers)
        return np.where(np.isnan(features.X), mean * self._scale + self._shift, features.X)

    @by_blocks
    @computes_in_namespace
    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable component of each row, shape (n_samples,)."""
        features: Any = self._features(X)
        if isinstance(features, device.DeviceFeatures) or has_missing(features.X):
            proba = self.predict_proba(features)
            return namespace_of(proba).argmax(proba, axis=1)
        result = np.empty(len(features.X), dtype=np.intp)
        self._fill(result, features, lambda responsibilities: responsibilities.argmax(axis=0))
        return result

    @answers_in_namespace
    def assign(self, X: ArrayLike, metric: str = "probability") -> np.ndarray:
        """The component of each row, shape (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        metric : {"probability", "euclidean", "mahalanobis"}
            The most probable component, as ``predict``; or that of the nearest mean, with features as they are, or each in
            units of its standard deviation under the mixture (Sanderson and Curtin 2017, eq. 20).

        Raises
        ------
        ValueError
            Another metric.
        """
        check_is_fitted(self)
        if metric == "probability":
            return self.predict(X)
        if metric not in METRICS:
            raise ValueError(
                f'assign: metric must be "probability", "euclidean" or "mahalanobis", got {metric!r}'
            )
        rows = check_features(self, X, reset=False)
        spread = np.sqrt(self._variances())
        scale = spread if metric == "mahalanobis" else common_scale(spread)
        shift = self.weights_ @ self.means_
        with Workers(self.n_jobs) as workers, single_threaded():
            samples = Samples(Features(rows, None, shift, scale), np.ones(len(rows)), workers)
            return assign(samples, (self.means_ - shift) / scale)[0]

    def _variances(self) -> np.ndarray:
        """The variance of each feature under the mixture, shape (n_features,)."""
        internal = self._block().mixture
        matrices = self._covariance_type.dense(internal.covariances, *internal.means.shape)
        within = np.diagonal(matrices, axis1=1, axis2=2)
        about = internal.means - self.weights_ @ internal.means
        return self.weights_ @ (within + about**2) * self._scale**2

    @answers_in_namespace
    def histogram(self, X: ArrayLike, metric: str = "probability", normalize: bool = False) -> np.ndarray:
        """How many rows each component has, or with ``normalize`` their share, shape (n_components,); see ``assign``."""
        counts = np.bincount(self.assign(X, metric), minlength=len(self.weights_))
        return counts / counts.sum() if normalize else counts

    @answers_in_namespace
    def sample(
        self,
        n_samples: int = 1,
        *,
        component: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw samples.

        Parameters
        ----------
        n_samples : int
        component : int, optional
            Component to draw from, from 0 to n_components - 1. None draws from all, by their weights.
        random_state : int, RandomState instance or None, default=None
            None is the estimator's own. Two calls with the same number draw the same rows, whichever of the two it is.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            The component of each row.

        Raises
        ------
        TypeError, ValueError
            A number of samples that is not whole, or less than one; a component that does not exist.
        """
        check_is_fitted(self)
        check_n_samples(n_samples)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        K = len(self.weights_)
        if component is None:
            y = rng.choice(K, size=n_samples, p=self.weights_ / self.weights_.sum())
        elif isinstance(component, Integral) and not isinstance(component, bool) and 0 <= component < K:
            y = np.full(n_samples, component, dtype=np.intp)
        else:
            raise ValueError(f"sample: component must be a whole number from 0 to {K - 1}, got {component!r}")
        return self._rows_of(y, self._mixture(), np.arange(self.n_features_in_), rng), y

    # Criteria

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The mean of log p(x) over the rows, in nats, weighted by ``sample_weight`` (n_samples,)."""
        log_density, weights = self._weighted(X, sample_weight)
        return float(np.average(log_density, weights=mean_one(weights)))

    def _weighted(self, X: ArrayLike, sample_weight: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
        """log p(x) and the weight of each row."""
        log_density = to_numpy(self.score_samples(X))
        return log_density, check_weights(to_numpy(sample_weight), log_density[:, None])

    @property
    def precisions_(self) -> np.ndarray:
        """The inverse of ``covariances_``, of the same shape."""
        check_is_fitted(self)
        xp = namespace_of(self.covariances_)
        matrices = self._fitted_type in ("full", "tied")
        return xp.linalg.inv(self.covariances_) if matrices else 1.0 / self.covariances_

    @property
    def n_parameters_(self) -> int:
        """Free parameters: weights, means and covariances."""
        check_is_fitted(self)
        K, m = (int(size) for size in self.means_.shape)
        return K - 1 + K * m + self._covariance_type.n_parameters(K, m)

    def bic(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Bayesian information criterion on ``X``; the lower the better.

        Each row counts once, whatever weight it had in ``fit``, or as often as ``sample_weight`` (n_samples,) says: a row of
        weight two is two rows, so here the size of the weights matters.
        """
        log_density, weights = self._weighted(X, sample_weight)
        total = total_weight(len(weights), weights)
        return float(-2 * weights @ log_density + self.n_parameters_ * np.log(total))

    def aic(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Akaike information criterion on ``X``; the lower the better. ``sample_weight`` is as in ``bic``."""
        log_density, weights = self._weighted(X, sample_weight)
        total_weight(len(weights), weights)
        return float(-2 * weights @ log_density + 2 * self.n_parameters_)
