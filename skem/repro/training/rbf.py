"""Radial basis function network trained in two stages, the baseline of Titsias and Likas (2001).

The first stage fits a mixture of spherical Gaussians to the samples of all classes; its components become basis functions. The
second stage solves a linear system for the output weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import euclidean_distances
from sklearn.pipeline import Pipeline

from skem.estimators.gaussian_mixture import GaussianMixture


class GaussianKernels(TransformerMixin, BaseEstimator):
    """Basis functions exp(-|x - mu_j|^2 / (2 s^2)) from an unsupervised mixture of spherical Gaussians.

    The common width s is the largest distance between two centres, the default of the Netlab toolbox that the paper used.
    """

    def __init__(self, n_components: int = 8, *, random_state: Any = None) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> GaussianKernels:
        mixture = GaussianMixture(
            self.n_components,
            covariance_type="spherical",
            init_params="kmeans",
            random_state=self.random_state,
        ).fit(np.asarray(X, dtype=np.float64))
        self.means_, self._variance = mixture.means_, mixture.covariances_
        if len(self.means_) > 1:
            farthest = euclidean_distances(self.means_, squared=True).max()
            self._variance = np.full(len(self.means_), max(farthest, mixture.reg_covar))
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        X = np.asarray(X, dtype=np.float64)
        return np.exp(-0.5 * euclidean_distances(X, self.means_, squared=True) / self._variance)


def rbf_network(n_components: int = 8, random_state: Any = None) -> Pipeline:
    """Make the two-stage network: `GaussianKernels`, then least squares on class indicators."""
    kernels = GaussianKernels(n_components, random_state=random_state)
    # A little regularisation, as basis functions without samples would make the system singular.
    outputs = RidgeClassifier(alpha=1e-8, solver="svd")
    return Pipeline([("kernels", kernels), ("outputs", outputs)])
