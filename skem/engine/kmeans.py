"""k-means by Lloyd's iterations: EM with hard assignments (Sanderson and Curtin 2017, eqs. 5, 6 and 19)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skem.engine import compiled
from skem.engine.parameters import DIGITS, EPS
from skem.engine.samples import OfThread, Samples
from skem.engine.threads import aligned, single_threaded


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
        Index of the nearest of the last ``centres``, or of the first of several.
    """

    def __init__(self, samples: Samples, n_clusters: int) -> None:
        n, K, m, loop = len(samples.weights), n_clusters, len(samples.scale), compiled.nearest()
        even, padded = K + K % loop.CENTRES, m + -m % loop.FEATURES
        self.labels, self._gaps = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.float32)
        self._samples = samples
        self._units = samples.shift, 1.0 / samples.scale
        self._centres: np.ndarray | None = None
        self._prepared = (
            np.zeros((even, padded), dtype=np.float32),
            np.full(even, np.inf, dtype=np.float32),
            np.empty((m, K)),
            np.empty(K, dtype=np.float32),
        )

        def scratch() -> tuple[np.ndarray, ...]:
            tile = aligned((padded + 6) * loop.TILE, np.dtype(np.float32)).reshape(-1, loop.TILE)
            tile[m:padded] = 0
            return tile[:padded], *tile[padded:], np.empty(K), np.empty(loop.TILE, dtype=np.int64)

        self._scratch = OfThread(scratch)

    def assign(self, centres: np.ndarray) -> tuple[int, np.ndarray]:
        """Assign each sample to the nearest of ``centres`` (K, m).

        Returns
        -------
        n_changed : int
            Number of labels that changed.
        sums : ndarray of shape (K, m + 1)
            Weighted sums of the samples of each centre, and their weights.
        """
        loop, samples, (K, m), centres = (
            compiled.nearest(),
            self._samples,
            centres.shape,
            np.ascontiguousarray(centres),
        )
        reach = loop.prepare(centres, centres if self._centres is None else self._centres, self._prepared)
        of_centres = *self._prepared, np.float32(1.01 * 2.0**-24 * (m + 8)), np.float32(reach)
        self._centres, n_changed = centres, []

        def assign_chunk(chunk: slice) -> np.ndarray:
            x, sums = (samples.original(chunk), samples.weights[chunk], *self._units), np.zeros((K, m + 1))
            results = self.labels[chunk], self._gaps[chunk], sums
            n_changed.append(loop.assign(x, of_centres, results, self._scratch.memory))
            return sums

        sums = samples.sum(assign_chunk, (K + 8) * m)
        sums[:, :-1] /= samples.scale
        return sum(n_changed), sums


def assign(samples: Samples, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels and sums of `Nearest.assign`."""
    nearest = Nearest(samples, len(centres))
    return nearest.labels, nearest.assign(centres)[1]


def _squared_distances(samples: Samples, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the squared distance of each sample to its centre, shape (n,), in float64."""

    def of_chunk(chunk: slice) -> np.ndarray:
        differences = np.take(centres.T, labels[chunk], axis=1)
        differences -= samples.block(chunk)
        differences *= differences
        return differences.sum(axis=0)

    return np.concatenate(samples.map(of_chunk, len(samples.scale)))


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
        nearest, n_iter, moved = Nearest(samples, len(centres)), 0, np.inf
        while True:
            n_changed, sums = nearest.assign(centres)
            labels, unchanged = nearest.labels, n_iter > 0 and n_changed == 0
            counts, means = sums[:, -1], centres.copy()
            np.divide(sums[:, :-1], counts[:, None], out=means, where=counts[:, None] > 0)
            empty = np.flatnonzero(counts == 0)
            # After the last iteration, only centres without samples move; the bound prevents an endless loop.
            if len(empty) and n_iter < max_iter + len(centres):
                means = means if n_iter < max_iter else centres.copy()
                far_samples = _far_samples(samples, centres, labels, counts)[: len(empty)]
                means[empty[: len(far_samples)]] = far_samples
            elif unchanged or moved <= tol or n_iter >= max_iter:
                break
            centres, moved, n_iter = means, float(((means - centres) ** 2).sum()), n_iter + 1
            if observe is not None and observe(centres):
                max_iter = min(max_iter, n_iter)
        n_iter += unchanged and moved > tol
        return Clusters(centres, labels, inertia(samples, centres, labels), min(n_iter, max_iter))
