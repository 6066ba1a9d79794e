"""The mixture that clusters of rows make."""

from __future__ import annotations

import numpy as np

from skem.engine.covariance_type import CovarianceType
from skem.engine.moments import Moments
from skem.engine.parameters import Mixture
from skem.engine.rows import Chunk, Rows
from skem.engine.threads import Workers

CHUNK_ROWS = 8192
"""Rows per chunk: enough for several of each cluster."""

VARIANCE_FLOOR = 1e-6
"""Least variance of what stands in for a singular covariance, relative to the mean variance of the features."""


def of_clusters(
    rows: Rows,
    labels: np.ndarray,
    n_components: int,
    covariance_type: CovarianceType,
    workers: Workers,
    ridge: float,
) -> Mixture:
    """Sizes, means and covariances of clusters (Sanderson and Curtin 2017, eqs. 5-7 with hard assignments).

    A cluster whose covariance is singular gets that of all clusters together, about their means.

    Parameters
    ----------
    rows : Rows
        Of one class.
    labels : ndarray of int, shape (N,)
        The cluster of each row, each with at least one row.
    n_components : int
        K.
    covariance_type : CovarianceType
    workers : Workers
    ridge : float
        Added to the covariances, as the M-step does.
    """
    columns = np.arange(rows.features.X.shape[1])
    m, K = len(columns), n_components
    read = rows.features.reader(columns, np.dtype(np.float64))
    chunks = rows.chunks(CHUNK_ROWS)

    def sums(chunk: Chunk) -> tuple[np.ndarray, float]:
        x, first = read(chunk.rows)
        w, of_rows = rows.weights[chunk.rows], labels[chunk.rows]
        x = x[:, first : first + len(w)]
        of_clusters = [np.bincount(of_rows, weights=w * feature, minlength=K) for feature in x]
        return np.stack(of_clusters, axis=1), float((w * x**2).sum())

    counts, variance = np.bincount(labels, weights=rows.weights, minlength=K), 0.0
    totals = np.zeros((K, m))
    with workers.imap(sums, chunks) as by_chunk:
        for of_chunk, of_squares in by_chunk:
            totals += of_chunk
            variance += of_squares / (m * rows.total_weight)
    means = totals / counts[:, None]

    def squares(chunk: Chunk) -> np.ndarray:
        x, first = read(chunk.rows)
        of_rows = labels[chunk.rows]
        order = np.argsort(of_rows, kind="stable")
        w, borders = rows.weights[chunk.rows][order], np.searchsorted(of_rows[order], np.arange(K + 1))
        x = x[:, first + order]
        phi = np.zeros((K, covariance_type.n_quadratic(m)))
        for k in np.flatnonzero(np.diff(borders)).tolist():
            rows_of_k = slice(borders[k], borders[k + 1])
            phi[k] = covariance_type.weighted_sums(x[:, rows_of_k], means[k], w[rows_of_k])
        return phi

    phi = np.zeros((K, covariance_type.n_quadratic(m)))
    with workers.imap(squares, chunks) as sums_of_squares:
        for of_chunk in sums_of_squares:
            phi += of_chunk

    linear, nowhere = covariance_type.linear(m), np.zeros(K, dtype=int)

    def moments(phi: np.ndarray, counts: np.ndarray, means: np.ndarray) -> Moments:
        return Moments(phi / counts[:, None], phi[:, linear] / counts[:, None], means, counts)

    # Identical rows have no variance to be relative to.
    variance = variance or 1.0
    ball = covariance_type.of_groups(variance * np.eye(m)[None], nowhere[:1])
    together = moments(phi.sum(axis=0, keepdims=True), counts.sum(keepdims=True), np.zeros((1, m)))
    pooled, *_ = covariance_type.maximise(together, ball, VARIANCE_FLOOR * variance)
    pooled = np.broadcast_to(pooled, covariance_type.shapes(K, m)[0])
    covariances, *_ = covariance_type.maximise(moments(phi, counts, means), pooled, 0.0)
    covariances = covariances + covariance_type.of_groups(ridge * np.eye(m)[None], nowhere)
    return Mixture((counts / counts.sum())[:, None], means, covariances)
