"""k-means: Lloyd's iterations over chunks of rows, one matrix product each, summed in the order of the chunks.

It is EM with hard assignments (Sanderson and Curtin 2017, eqs. 5, 6 and 19). Squared distances |x - c|^2 are compared
without their |x|^2, so that the product of rows and centres takes most of the time. It is one of float32 wherever that
decides as float64 does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skem.engine import compiled
from skem.engine.linalg import DIGITS, EPS
from skem.engine.rows import Chunk, Rows
from skem.engine.threads import Workers, single_threaded

CHUNK_ROWS = 8192
"""Rows per chunk: a constant, so that results do not depend on the machine. Fewer, and calls from Python take longer."""

EXACT_SHARE = 0.5
"""Where float32 was not enough for a larger share of the rows, it is not tried again."""


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
        The last one, in which no row changes its centre, counts as well.
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
        self._chunks = rows.chunks(CHUNK_ROWS)
        self._exactly = False
        self.labels = np.full(len(rows.weights), -1, dtype=np.int32)

    def assign(self, centres: np.ndarray) -> tuple[int, np.ndarray]:
        """Assign each row to the nearest of ``centres`` (K, m), the first of several.

        Returns
        -------
        changed : int
            How many rows had another one.
        sums : ndarray of shape (K, m + 1)
            The weighted sums of the rows of each centre, and their weights.
        """
        features, centres = self._rows.features, np.ascontiguousarray(centres)

        def assign(chunk: Chunk) -> tuple[int, int, np.ndarray, np.ndarray]:
            x, weights, labels = self._chunk(chunk)
            sums, counts = np.zeros(centres.shape), np.zeros(len(centres))
            changed, n_close = compiled.nearest().assign(
                x,
                features.shift,
                features.scale,
                centres,
                weights,
                labels,
                sums,
                counts,
                self._exactly,
            )
            return changed, n_close, sums, counts

        changed, n_close, sums, counts = 0, 0, np.zeros(centres.shape), np.zeros(len(centres))
        with self._workers.imap(assign, self._chunks) as by_chunk:
            for of_chunk in by_chunk:
                changed, n_close = changed + of_chunk[0], n_close + of_chunk[1]
                sums += of_chunk[2]
                counts += of_chunk[3]
        self._exactly |= n_close > EXACT_SHARE * len(self.labels)
        return changed, np.concatenate([sums / features.scale, counts[:, None]], axis=1)

    def _chunk(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Its rows as they are, their weights and their labels."""
        return (
            self._rows.features.original(chunk.rows),
            self._rows.weights[chunk.rows],
            self.labels[chunk.rows],
        )

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
        return self._rows.features.read(np.arange(len(extent)), chosen).T

    def _deviations(self, centres: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The inertia, and the largest squared distance of a row of each centre, and which row that is, (K,)."""
        K, features, centres = len(centres), self._rows.features, np.ascontiguousarray(centres)

        def deviate(chunk: Chunk) -> tuple[float, np.ndarray, np.ndarray]:
            x, weights, labels = self._chunk(chunk)
            farthest, places = np.zeros(K), np.zeros(K, dtype=np.intp)
            total = compiled.nearest().deviations(
                x, features.shift, features.scale, centres, weights, labels, farthest, places
            )
            return total, farthest, places + chunk.rows.start

        total, farthest, places = 0.0, np.zeros(K), np.zeros(K, dtype=np.intp)
        with self._workers.imap(deviate, self._chunks) as by_chunk:
            for of_chunk, distances, rows in by_chunk:
                total += of_chunk
                farther = distances > farthest
                farthest[farther], places[farther] = distances[farther], rows[farther]
        return total, farthest, places


def lloyd(
    rows: Rows,
    centres: np.ndarray,
    workers: Workers,
    *,
    max_iter: int,
    tol: float = 0.0,
    observe: Callable[[np.ndarray], bool] | None = None,
) -> Clusters:
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
    observe : callable, optional
        Called with the centres after each iteration that moves them; True ends the iterations.

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
            if observe is not None and observe(centres):
                max_iter = min(max_iter, n_iter)
        n_iter += changed == 0 and moved > tol
        return Clusters(centres, nearest.labels, nearest.inertia(centres), min(n_iter, max_iter))
