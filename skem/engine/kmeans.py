"""k-means by Lloyd's iterations: EM with hard assignments (Sanderson and Curtin 2017, eqs. 5, 6 and 19)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skem.engine import compiled
from skem.engine.parameters import DIGITS, EPS
from skem.engine.samples import Samples
from skem.engine.threads import single_threaded

LEAST_GAP = 1e-30
"""Minimum difference of two squared distances in float32: smaller squares may underflow."""


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


def assign(samples: Samples, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Assign each sample to the nearest of ``centres`` (K, m), or to the first of several.

    Distances are computed in float32, and in float64 if the rounding of float32 may decide.

    Returns
    -------
    labels : ndarray of int32, shape (n,)
    sums : ndarray of shape (K, m + 1)
        Weighted sums of the samples of each centre, and their weights.
    """
    loop, (K, m), shift, scale = compiled.nearest(), centres.shape, samples.shift, samples.scale
    padded = np.zeros((K, -(-m // loop.FEATURES) * loop.FEATURES))
    padded[:, :m] = centres
    with np.errstate(over="ignore"):
        in_float32 = padded.astype(np.float32)
    # With u = 2^-24, a difference x - c has an error of u (|x| + |c|) <= u (|x - c| + 2 |c|), and a sum of m squares one of
    # m + 3 units u. The factor 2.02 covers two distances, and terms of second order.
    limits = 2.02 * 2.0**-24 * (m + 8), 2 * float(np.linalg.norm(centres, axis=1).max()), LEAST_GAP
    labels, inverse = np.empty(len(samples.weights), dtype=np.int32), 1.0 / scale

    def assign_chunk(chunk: slice) -> np.ndarray:
        x, weights, chunk_labels = samples.original(chunk), samples.weights[chunk], labels[chunk]
        sums, tile = np.zeros((K, m + 1)), np.zeros((padded.shape[1] + 4, loop.TILE), np.float32)
        loop.assign((x, weights, shift, inverse), in_float32, limits, tile, (chunk_labels, sums))
        undecided = np.flatnonzero(chunk_labels < 0)
        if len(undecided):
            rest, rest_labels = (x[undecided], weights[undecided], shift, inverse), chunk_labels[undecided]
            loop.assign(rest, padded, (0.0, 0.0, 0.0), tile.astype(np.float64), (rest_labels, sums))
            chunk_labels[undecided] = rest_labels
        return sums

    sums = samples.sum(assign_chunk)
    sums[:, :-1] /= scale
    return labels, sums


def squared_distances(samples: Samples, chunk: slice, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the squared distance of each sample of a chunk to its centre, shape (n_chunk,), in float64."""
    squares, units = np.empty(len(labels)), (samples.shift, samples.scale)
    centres = np.ascontiguousarray(centres)
    compiled.nearest().squared_distances(samples.original(chunk), units, centres, labels, squares)
    return squares


def _all_squared_distances(samples: Samples, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the squared distance of each sample to its centre, shape (n,)."""
    return np.concatenate(
        samples.map(lambda chunk: squared_distances(samples, chunk, centres, labels[chunk]))
    )


def inertia(samples: Samples, centres: np.ndarray, labels: np.ndarray) -> float:
    """Return the weighted sum of squared distances between samples and their centres."""
    return float(samples.weights @ _all_squared_distances(samples, centres, labels))


def _far_samples(samples: Samples, centres: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the farthest sample of each centre with several distinct samples, starting with the most popular centre.

    Raises
    ------
    ValueError
        No centre has several distinct samples.
    """
    squares = _all_squared_distances(samples, centres, labels)
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
        labels, n_iter, moved = None, 0, np.inf
        while True:
            previous_labels = labels
            labels, sums = assign(samples, centres)
            unchanged = previous_labels is not None and np.array_equal(labels, previous_labels)
            counts = sums[:, -1]
            empty = np.flatnonzero(counts == 0)
            means = np.where(
                counts[:, None] > 0, sums[:, :-1] / np.where(counts > 0, counts, 1.0)[:, None], centres
            )
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
