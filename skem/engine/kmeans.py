"""k-means: Lloyd's iterations over chunks of rows, one matrix product each, summed in the order of the chunks.

It is EM with hard assignments (Sanderson and Curtin 2017, eqs. 5, 6 and 19). Squared distances |x - c|^2 are compared
without their |x|^2, so that the product of rows and centres is all that takes time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skem.engine import compiled
from skem.engine.linalg import DIGITS, EPS
from skem.engine.rows import Chunk, Rows
from skem.engine.threads import Workers, single_threaded

CHUNK_ROWS = 8192
"""Rows per chunk: a constant, so that results do not depend on the machine. Fewer, and calls from Python take longer."""


@dataclass(frozen=True)
class Clusters:
    """What k-means ends with.

    Attributes
    ----------
    centres : ndarray of shape (K, m)
        In the units of the rows.
    labels : ndarray of int32, shape (N,)
        The centre nearest to each row.
    inertia : float
        Weighted sum of squared distances between rows and their centres.
    n_iter : int
    """

    centres: np.ndarray
    labels: np.ndarray
    inertia: float
    n_iter: int


class NearestCentres:
    """Rows and the centres they are assigned to.

    Parameters
    ----------
    rows : Rows
        Of one class.
    workers : Workers
        Who works on the chunks; the result does not depend on how many they are.

    Attributes
    ----------
    labels : ndarray of int32, shape (N,)
        The centre of each row; at first there is none.
    """

    def __init__(self, rows: Rows, workers: Workers) -> None:
        self._rows, self._workers = rows, workers
        self._columns = np.arange(rows.features.X.shape[1])
        self._chunks = rows.chunks(CHUNK_ROWS)
        self._use(rows.features.X.dtype)
        self.labels = np.zeros(len(rows.weights), dtype=np.int32)
        # About the origin.
        self._squares = self.inertia(np.zeros((1, len(self._columns)))) if self._dtype != np.float64 else 0.0
        self.labels[:] = -1

    def _use(self, dtype: np.dtype) -> None:
        self._dtype = dtype
        self._read = self._rows.features.reader(self._columns, dtype)

    def assign(self, centres: np.ndarray) -> tuple[int, np.ndarray]:
        """Assign each row to the nearest of ``centres`` (K, m), the first of several.

        Returns
        -------
        changed : int
            How many rows had another one.
        sums : ndarray of shape (K, m + 1)
            The weighted sums of the rows of each centre, and their weights.
        """
        changed, sums, total = self._assign(centres)
        if self._dtype != np.float64:
            # What is left of the squared distances once the terms they are the difference of are rounded.
            rounding = np.finfo(self._dtype).eps * (centres**2).sum(axis=1).max() * self._rows.total_weight
            if self._squares + 2 * total < DIGITS * rounding:
                self._use(np.dtype(np.float64))
                again, sums, _ = self._assign(centres)
                changed += again
        return changed, sums

    def _assign(self, centres: np.ndarray) -> tuple[int, np.ndarray, float]:
        (K, m), rounded = centres.shape, centres.astype(self._dtype, order="C")
        halves = (0.5 * (rounded.astype(np.float64) ** 2).sum(axis=1)).astype(self._dtype)

        def assign(chunk: Chunk) -> tuple[int, float, np.ndarray]:
            x, first = self._read(chunk.rows)
            weights, labels = self._rows.weights[chunk.rows], self.labels[chunk.rows]
            sums = np.zeros((m + 1, K))
            changed, total = compiled.nearest().assign(x, first, rounded, halves, weights, labels, sums)
            return changed, total, sums

        changed, total, sums = 0, 0.0, np.zeros((m + 1, K))
        for of_chunk in self._workers.map(assign, self._chunks):
            changed, total = changed + of_chunk[0], total + of_chunk[1]
            sums += of_chunk[2]
        return changed, sums.T.copy(), total

    def inertia(self, centres: np.ndarray) -> float:
        """Weighted sum of squared distances between the rows and their centres."""
        return self._deviations(centres)[0]

    def far_rows(self, centres: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """The farthest row of each centre that has several distinct rows, the most popular centre's first.

        Raises
        ------
        ValueError
            Where there is no such centre.
        """
        _, farthest, places = self._deviations(centres)
        extent = self._rows.features.extent
        distinct = farthest > (DIGITS * EPS) ** 2 * (extent**2).sum()
        if not distinct.any():
            raise ValueError(
                f"{len(centres)} clusters of {np.count_nonzero(counts)} distinct rows: give a smaller number of "
                "clusters or components"
            )
        order = np.argsort(-counts, kind="stable")
        chosen = places[order[distinct[order]]]
        read = self._rows.features.read
        return np.concatenate([read(self._columns, slice(n, n + 1), self._dtype).T for n in chosen.tolist()])

    def _deviations(self, centres: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The inertia, and the largest squared distance of a row of each centre, and which row that is, (K,)."""
        K, transposed = len(centres), np.ascontiguousarray(centres.T)

        def deviate(chunk: Chunk) -> tuple[float, np.ndarray, np.ndarray]:
            x, first = self._read(chunk.rows)
            weights, labels = self._rows.weights[chunk.rows], self.labels[chunk.rows]
            farthest, places = np.zeros(K), np.zeros(K, dtype=np.intp)
            total = compiled.nearest().deviations(x, first, transposed, weights, labels, farthest, places)
            return total, farthest, places + chunk.rows.start

        total, farthest, places = 0.0, np.zeros(K), np.zeros(K, dtype=np.intp)
        for of_chunk, distances, rows in self._workers.map(deviate, self._chunks):
            total += of_chunk
            farther = distances > farthest
            farthest[farther], places[farther] = distances[farther], rows[farther]
        return total, farthest, places


def lloyd(rows: Rows, centres: np.ndarray, workers: Workers, *, max_iter: int, tol: float = 0.0) -> Clusters:
    """Lloyd's iterations from given centres, (K, m) in the units of ``rows``.

    A centre that loses all its rows moves to the farthest row of the most popular centre; several of them to those of
    the most popular ones.

    Parameters
    ----------
    rows : Rows
        Of one class.
    centres : ndarray of shape (K, m)
    workers : Workers
    max_iter : int
        The most iterations; with none, rows are assigned to the centres as they are.
    tol : float
        Stop where the sum of the centres' squared moves is no more than this, in squared units of ``rows``. It stops in
        any case where no row changes its centre.

    Raises
    ------
    ValueError
        Where there are more centres than distinct rows.
    """
    with single_threaded():
        nearest = NearestCentres(rows, workers)
        n_iter, moved = 0, np.inf
        while True:
            changed, sums = nearest.assign(centres)
            counts = sums[:, -1:]
            means = np.where(counts > 0, sums[:, :-1] / np.where(counts > 0, counts, 1.0), centres)
            empty = np.flatnonzero(counts == 0)
            # At the end only centres without rows move, but not for ever.
            if len(empty) and n_iter < max_iter + len(centres):
                means = means if n_iter < max_iter else centres.copy()
                far_rows = nearest.far_rows(centres, counts[:, 0])[: len(empty)]
                means[empty[: len(far_rows)]] = far_rows
            elif changed == 0 or moved <= tol or n_iter >= max_iter:
                break
            centres, moved, n_iter = means, float(((means - centres) ** 2).sum()), n_iter + 1
        return Clusters(centres, nearest.labels, nearest.inertia(centres), min(n_iter, max_iter))
