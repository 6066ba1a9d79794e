"""Means and covariances of clusters (Sanderson and Curtin 2017, eqs. 5-7 with hard assignments)."""

from __future__ import annotations

import numpy as np

from skem.engine.covariances import CovarianceType
from skem.engine.linalg import regularity, transposed_product, weighted_sum, weighted_sums
from skem.engine.parameters import EPS, Mixture
from skem.engine.rows import sorting_order
from skem.engine.samples import Samples

VARIANCE_FLOOR = 1e-6
"""Minimum variance of initial covariances, relative to the mean variance of the features."""


def _scatter(deviations: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return sum w d d^T, shape (m, m), for differences d from means, (n, m)."""
    return transposed_product((deviations * weights[:, None])[None], deviations[None])[0]


def mean_square(samples: Samples) -> float:
    """Return the weighted mean of the squared features."""
    squares = samples.sum(lambda chunk: weighted_sum(samples.weights[chunk], samples.internal(chunk) ** 2))
    return float(np.mean(squares / samples.weights.sum()))


def means_of(samples: Samples, labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean (K, m) and the weight (K,) of each cluster (eqs. 5 and 6)."""
    counts = np.bincount(labels, weights=samples.weights, minlength=n_clusters)
    sums = samples.sum(
        lambda chunk: weighted_sums(
            samples.weights[chunk], samples.internal(chunk), labels[chunk], n_clusters
        )
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
        return _scatter(deviations, samples.weights[chunk])

    return samples.sum(chunk_sum)


def pooled_covariance(
    samples: Samples, means: np.ndarray, labels: np.ndarray | None, covariance_type: CovarianceType
) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance about the means (K, m) of clusters, and the share of each cluster (K,); without labels about the mean of all."""
    if labels is None:
        labels = np.zeros(len(samples.weights), dtype=int)
        means, _ = means_of(samples, labels, 1)
    counts = np.bincount(labels, weights=samples.weights, minlength=len(means))
    total = counts.sum()
    return pooled_scatter(samples, means, labels, covariance_type) / total, counts / total


def _scatters(
    samples: Samples, means: np.ndarray, labels: np.ndarray, covariance_type: CovarianceType
) -> np.ndarray:
    """Return the scatter of each cluster about its mean (eq. 7), (K, m, m), or its diagonal, (K, m); of all, (1, m, m), if tied."""
    clusters = range(1, len(means))

    def chunk_sum(chunk: slice) -> np.ndarray:
        codes, weights = labels[chunk], samples.weights[chunk]
        deviations = samples.internal(chunk) - means[codes]
        if covariance_type.diagonal:
            return weighted_sums(weights, deviations**2, codes, len(means))
        order = sorting_order(codes)
        members = np.split(order, np.searchsorted(codes[order], clusters))
        return np.stack([_scatter(deviations[each], weights[each]) for each in members])

    if covariance_type.name == "tied":
        return pooled_scatter(samples, means, labels, covariance_type)[None]
    return samples.sum(chunk_sum)


def mixture_of_clusters(
    samples: Samples, labels: np.ndarray, n_clusters: int, covariance_type: CovarianceType, ridge: float
) -> Mixture:
    """Estimate weights, means and covariances from clusters, none of them empty, by the ``labels`` (n,) of samples.

    The pooled covariance of all clusters replaces a singular one. ``ridge`` is added to the variances.
    """
    means, counts = means_of(samples, labels, n_clusters)
    m, total = means.shape[1], counts.sum()
    scatter, squares = _scatters(samples, means, labels, covariance_type), means**2
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
