"""Baselines that score how well samples fit the training samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors


class GaussianMixtureByBIC(DensityMixin, BaseEstimator):
    """scikit-learn's Gaussian mixture with the number of components of the lowest BIC."""

    def __init__(
        self, *, candidates: Sequence[int] = (1, 2, 3, 5, 8, 12, 20, 30), random_state: int | None = None
    ) -> None:
        self.candidates = candidates
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> GaussianMixtureByBIC:
        """Fit all candidates that have at least two samples per component, and keep one; `X` of shape (n, M)."""
        sizes = [k for k in self.candidates if 2 * k <= len(np.asarray(X))]
        fits = [GaussianMixture(k, random_state=self.random_state).fit(X) for k in sizes]
        self.mixture_ = min(fits, key=lambda mixture: mixture.bic(X))
        return self

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """log p(x) in nats, shape (n,)."""
        return self.mixture_.score_samples(X)


class NeighborDistance(BaseEstimator):
    """Negative distance to the ``n_neighbors``-th nearest training sample."""

    def __init__(self, *, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> NeighborDistance:
        """Store the samples; `X` of shape (n, M)."""
        self.neighbors_ = NearestNeighbors(n_neighbors=self.n_neighbors).fit(X)
        return self

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Negative distances, shape (n,)."""
        return -self.neighbors_.kneighbors(X)[0][:, -1]
