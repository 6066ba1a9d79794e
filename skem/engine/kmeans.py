"""k-means by Lloyd's iterations: EM with hard assignments (Sanderson and Curtin 2017, eqs. 5, 6 and 19)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from skem.engine import compiled
from skem.engine.parameters import DIGITS, EPS
from skem.engine.rows import for_loops
from skem.engine.samples import CHUNK_SAMPLES, OfThread, Samples
from skem.engine.threads import aligned, single_threaded

ITERATIONS = 16
"""Iterations on few samples in one compiled call, during which Ctrl-C waits: some milliseconds."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Result of k-means.

    Attributes
    ----------
    centres : ndarray of shape (K, m)
        Centres of the clusters, in the units of the samples.
    labels : ndarray of int32, shape (n,)
        Index of the centre nearest to each sample.
    inertia : float
        Weighted sum of squared distances between samples and their centres.
    n_iter : int
        Number of iterations, including the last one, in which no sample changes its centre.
    """

    centres: np.ndarray
    labels: np.ndarray
    inertia: float
    n_iter: int


class Nearest:
    """The centre nearest to each sample.

    Attributes
    ----------
    labels : ndarray of int32, shape (n,)
        Index of the nearest centre, or of the first of several.
    centres : ndarray of shape (K, m)

    Without the sums of each centre's samples (``with_sums``) the centres stay.
    """

    def __init__(self, samples: Samples, centres: np.ndarray, *, with_sums: bool = True) -> None:
        n, (K, m), loop = len(samples.weights), centres.shape, compiled.nearest()
        even, padded = K + K % loop.CENTRES, m + -m % loop.FEATURES
        self.labels, self._gaps = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.float32)
        inverse = np.ones(m + -m % loop.LANES)
        inverse[:m] = 1.0 / samples.scale
        self._samples, self._units = samples, (inverse, samples.scale)
        length = m + 1 + -(m + 1) % loop.LANES
        self._sums = np.zeros((len(samples.chunks), K, length if with_sums else 0))
        self.centres = np.array(centres, dtype=np.float64, order="C")
        self._model = (
            self.centres,
            self.centres.copy(),
            np.zeros((even, padded), dtype=np.float32),
            np.full(even, np.inf, dtype=np.float32),
            np.empty((m, K)),
            np.empty(K, dtype=np.float32),
            np.empty(1, dtype=np.float32),
        )

        def scratch() -> tuple[np.ndarray, ...]:
            rows = m + -m % loop.LANES
            tile = aligned((rows + 6) * loop.TILE, np.dtype(np.float32)).reshape(-1, loop.TILE)
            return tile[:rows], *tile[rows:], np.empty(K), np.empty(loop.TILE, dtype=np.int64)

        self._scratch = OfThread(scratch)

    @property
    def counts(self) -> np.ndarray:
        """Weight of the samples of each centre, shape (K,)."""
        return reduce(add, self._sums[:, :, self.centres.shape[1]])

    @property
    def means(self) -> np.ndarray:
        """Mean of the samples of each centre, or the centre if it has none, shape (K, m)."""
        sums, counts, means = reduce(add, self._sums), self.counts[:, None], self.centres.copy()
        np.divide(sums[:, : means.shape[1]] / self._samples.scale, counts, out=means, where=counts > 0)
        return means

    def replace(self, centres: np.ndarray) -> None:
        """Take other centres (K, m), in any place."""
        self.centres[:] = centres
        self._gaps[:] = 0  # bounds of moves from the last place

    def iterate(self, n_iter: int, tol: float = 0.0) -> tuple[int, int, float]:
        """Move centres and assign samples up to ``n_iter`` times; with zero, only assign samples.

        Returns
        -------
        n_iter, n_changed : int
            Number of iterations, and of labels that changed in the last one.
        moved : float
            Sum of the squared moves of the centres in the last one.
        """
        loop, samples = compiled.nearest(), self._samples
        assert self._sums.size or n_iter == 0

        def of_chunk(chunk: slice, n_iter: int, sums: np.ndarray) -> tuple[int, int, float]:
            x = samples.centred(chunk), samples.weights[chunk], *self._units
            results = self.labels[chunk], self._gaps[chunk], sums
            limits = n_iter, float(tol), CHUNK_SAMPLES
            return loop.iterate(x, self._model, results, limits, self._scratch.memory)

        def changed_in_chunk(chunk: slice) -> int:
            return of_chunk(chunk, -1, self._sums[chunk.start // CHUNK_SAMPLES :][:1])[1]

        n_products = (len(self.centres) + 8) * self.centres.shape[1]
        if not samples.is_worth_threads(n_products):
            return of_chunk(slice(0, len(samples.weights)), min(n_iter, ITERATIONS), self._sums)
        # Without samples the centres move, and no more.
        n_done, _, moved = of_chunk(slice(0, 0), min(n_iter, 1), self._sums)
        return n_done, sum(samples.map(changed_in_chunk, n_products)), moved


def assign(samples: Samples, centres: np.ndarray) -> np.ndarray:
    """Return the index of the nearest of ``centres`` (K, m) for each sample, int32, shape (n,)."""
    nearest = Nearest(samples, centres, with_sums=False)
    nearest.iterate(0)
    return nearest.labels


def _squared_distances(samples: Samples, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the squared distance of each sample to its centre, shape (n,), in float64."""
    result = np.empty(len(labels))
    scale, centres = samples.scale, for_loops(centres)

    def of_chunk(chunk: slice) -> None:
        rows, of_samples = samples.centred(chunk), (labels[chunk], result[chunk])
        compiled.nearest().squared_distances(rows, scale, centres, *of_samples)

    samples.map(of_chunk, len(samples.scale))
    return result


def distances(samples: Samples, centres: np.ndarray) -> np.ndarray:
    """Return the distances of samples to ``centres`` (K, m), shape (n, K)."""
    result, loop = np.empty((len(samples.weights), len(centres))), compiled.nearest()
    centres = for_loops(centres)

    def of_chunk(chunk: slice) -> None:
        loop.distances(samples.block(chunk), centres, result[chunk], np.empty(loop.TILE))

    samples.map(of_chunk, centres.size)
    return result


def inertia(samples: Samples, centres: np.ndarray, labels: np.ndarray) -> float:
    """Return the weighted sum of squared distances between samples and their centres."""
    # A product with BLAS would depend on the processor.
    return float((samples.weights * _squared_distances(samples, centres, labels)).sum())


def _far_samples(samples: Samples, centres: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the farthest sample of each centre with several distinct samples, starting with the most popular centre.

    Raises
    ------
    ValueError
        No centre has several distinct samples.
    """
    squares = _squared_distances(samples, centres, labels)
    order = np.lexsort((-squares, labels))
    used, first = np.unique(labels[order], return_index=True)
    farthest = order[first]
    distinct = squares[farthest] > (DIGITS * EPS) ** 2 * (samples.extent**2).sum()
    if not distinct.any():
        raise ValueError(
            f"{len(centres)} clusters exceed the {len(used)} distinct samples; use at most {len(used)} clusters or components."
        )
    by_popularity = np.argsort(-counts[used[distinct]], kind="stable")
    return samples.at(farthest[distinct][by_popularity])


def lloyd(
    samples: Samples,
    centres: np.ndarray,
    *,
    max_iter: int,
    tol: float = 0.0,
    observe: Callable[[np.ndarray], bool] | None = None,
) -> Clusters:
    """Run Lloyd's iterations.

    A centre that loses all its samples moves to the farthest sample of the most popular centre. Several such centres move
    to the farthest samples of the most popular centres.

    Parameters
    ----------
    samples : Samples
    centres : ndarray of shape (K, m)
        Initial centres, in the units of the samples.
    max_iter : int
        Maximum number of iterations. Zero only assigns samples to the initial centres.
    tol : float
        Maximum sum of the centres' squared moves at convergence, in squared units of the samples. The iterations also end
        if no sample changes its centre.
    observe : callable, optional
        Callback with the centres after each iteration that moves them; it returns True to end the iterations.

    Raises
    ------
    ValueError
        More centres than distinct samples.
    """
    with single_threaded():
        nearest, n_iter, moved = Nearest(samples, centres), 0, np.inf
        labels, (_, n_changed, _) = nearest.labels, nearest.iterate(0)
        while True:
            counts, unchanged = nearest.counts, n_iter > 0 and n_changed == 0
            empty = np.flatnonzero(counts == 0)
            # After the last iteration, only centres without samples move; the bound prevents an endless loop.
            if len(empty) and n_iter < max_iter + len(centres):
                far_samples = _far_samples(samples, nearest.centres, labels, counts)[: len(empty)]
                means = nearest.means if n_iter < max_iter else nearest.centres.copy()
                means[empty[: len(far_samples)]] = far_samples
                moved = float(((means - nearest.centres) ** 2).sum())
                nearest.replace(means)
                n_done, (_, n_changed, _) = 1, nearest.iterate(0)
            elif unchanged or moved <= tol or n_iter >= max_iter:
                break
            else:
                steps = 1 if observe is not None else max_iter - n_iter
                n_done, n_changed, moved = nearest.iterate(steps, tol)
            n_iter += n_done
            if observe is not None and observe(nearest.centres.copy()):
                max_iter = min(max_iter, n_iter)
        n_iter += unchanged and moved > tol
        n_iter = min(n_iter, max_iter)
        return Clusters(nearest.centres, labels, inertia(samples, nearest.centres, labels), n_iter)
