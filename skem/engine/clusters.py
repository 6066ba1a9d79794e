"""Means and covariances of clusters (Sanderson and Curtin 2017, eqs. 5-7 with hard assignments)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skem.engine.covariances import COVARIANCE_TYPES, CovarianceType
from skem.engine.linalg import product, regularity, weighted_sum
from skem.engine.parameters import EPS, Mixture
from skem.engine.samples import Samples

VARIANCE_FLOOR = 1e-6
"""Minimum variance of initial covariances, relative to the mean variance of the features."""


def _sums(x: np.ndarray, weights: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the weighted sum of the samples x (n, m) of each cluster, shape (K, m)."""
    sums = [np.bincount(labels, weights=weights * feature, minlength=n_clusters) for feature in x.T]
    return np.stack(sums, axis=1)


def mean_square(samples: Samples) -> float:
    """Return the weighted mean of the squared features."""
    squares = samples.sum(lambda chunk: weighted_sum(samples.weights[chunk], samples.internal(chunk) ** 2))
    return float(np.mean(squares / samples.weights.sum()))


def means_of(samples: Samples, labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean (K, m) and the weight (K,) of each cluster (eqs. 5 and 6)."""
    counts = np.bincount(labels, weights=samples.weights, minlength=n_clusters)
    sums = samples.sum(
        lambda chunk: _sums(samples.internal(chunk), samples.weights[chunk], labels[chunk], n_clusters)
    )
    return sums / counts[:, None], counts


def pooled_scatter(
    samples: Samples, means: np.ndarray, labels: np.ndarray, covariance_type: CovarianceType
) -> np.ndarray:
    """Return the sum of w (x - mu)(x - mu)^T over samples, with mu the mean of a sample's cluster.

    The shape is (m, m), or (m,) of the diagonal for a diagonal type.
    """

    def chunk_sum(chunk: slice) -> np.ndarray:
        deviations = samples.internal(chunk) - means[labels[chunk]]
        if covariance_type.diagonal:
            return weighted_sum(samples.weights[chunk], deviations**2)
        return product(deviations.T * samples.weights[chunk], deviations)

    return samples.sum(chunk_sum)


def pooled_covariance(
    samples: Samples, means: np.ndarray | None, labels: np.ndarray, covariance_type: CovarianceType
) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance about given means (K, m), by default those of the clusters, and the share of each cluster (K,)."""
    if means is None:
        means, counts = means_of(samples, labels, labels.max() + 1)
    else:
        counts = np.bincount(labels, weights=samples.weights, minlength=len(means))
    total = counts.sum()
    return pooled_scatter(samples, means, labels, covariance_type) / total, counts / total


def _scatters(samples: Samples, means: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the scatter matrix of each cluster about its mean (eq. 7), shape (K, m, m)."""
    K, m = means.shape

    def chunk_sum(chunk: slice) -> np.ndarray:
        order = np.argsort(labels[chunk], kind="stable")
        borders = np.searchsorted(labels[chunk][order], np.arange(K + 1))
        x, weights, scatters = (
            samples.internal(chunk)[order],
            samples.weights[chunk][order],
            np.zeros((K, m, m)),
        )
        for k in np.flatnonzero(np.diff(borders)):
            members = slice(borders[k], borders[k + 1])
            deviations = x[members] - means[k]
            scatters[k] = product(deviations.T * weights[members], deviations)
        return scatters

    return samples.sum(chunk_sum)


def _squares(samples: Samples, means: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the diagonals of the scatter matrices, shape (K, m)."""

    def chunk_sum(chunk: slice) -> np.ndarray:
        deviations = samples.internal(chunk) - means[labels[chunk]]
        return _sums(deviations**2, samples.weights[chunk], labels[chunk], len(means))

    return samples.sum(chunk_sum)


_SCATTERS: dict[str, Callable[[Samples, np.ndarray, np.ndarray], np.ndarray]] = {
    "full": _scatters,
    "tied": lambda x, means, labels: pooled_scatter(x, means, labels, COVARIANCE_TYPES["tied"])[None],
    "diag": _squares,
    "spherical": _squares,
}


def mixture_of_clusters(
    samples: Samples, labels: np.ndarray, n_clusters: int, covariance_type: CovarianceType, ridge: float
) -> Mixture:
    """Estimate weights, means and covariances from clusters, none of them empty, by the ``labels`` (n,) of samples.

    The pooled covariance of all clusters replaces a singular one. ``ridge`` is added to the variances.
    """
    means, counts = means_of(samples, labels, n_clusters)
    m, total = means.shape[1], counts.sum()
    scatter, squares = _SCATTERS[covariance_type.name](samples, means, labels), means**2
    if covariance_type.name == "tied":
        squares, counts_of_scatter = (weighted_sum(counts, squares) / total)[None], counts.sum(keepdims=True)
    else:
        counts_of_scatter = counts
    floor = VARIANCE_FLOOR * (mean_square(samples) or 1.0)  # Identical samples have no variance.
    if scatter.ndim == 3:
        matrices = scatter / counts_of_scatter[:, None, None]
        variances = np.diagonal(matrices, axis1=1, axis2=2)
        rounding = EPS * (variances + squares)
        regular = regularity(matrices) & (variances > 4 * rounding).all(axis=1)
        pooled = scatter.sum(axis=0) / total + floor * np.eye(m)
        matrices = np.where(regular[:, None, None], matrices, pooled) + ridge * np.eye(m)
        covariances = covariance_type.compress(matrices)
    else:
        variances = scatter / counts[:, None]
        separate, rounding, pooled = (
            covariance_type.to_engine(array, np.ones(m))
            for array in (
                variances,
                EPS * (variances + squares),
                scatter.sum(axis=0, keepdims=True) / total + floor,
            )
        )
        covariances = np.where(separate > 4 * rounding, separate, pooled) + ridge
    return Mixture((counts / total)[:, None], means, covariances)
