"""Initial centres of k-means: a registry of ways to choose them among the samples.

Random choices are weighted by the sample weights and do not depend on the order of the samples: a sample of weight two
equals two samples. The static ways follow the order of the samples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skem.engine.kmeans import squared_distances
from skem.engine.samples import Samples

Seeds = Callable[[Samples, int, np.random.RandomState], np.ndarray]

SEEDS: dict[str, Seeds] = {}
"""Functions of samples, number of clusters K and random state, by their public names. They return centres (K, m)."""


def _register(name: str) -> Callable[[Seeds], Seeds]:
    def register(seeds: Seeds) -> Seeds:
        SEEDS[name] = seeds
        return seeds

    return register


def _random_order(samples: Samples, random_state: np.random.RandomState) -> np.ndarray:
    """Indices of the samples by their projections on a random direction, (n,): independent of the samples' order."""
    direction = random_state.standard_normal(len(samples.scale))
    # Not a matrix product: its rounding depends on the position of a sample.
    projections = samples.map(lambda chunk: (samples.internal(chunk) * direction).sum(axis=1))
    return np.argsort(np.concatenate(projections), kind="stable")


def _at_shares(order: np.ndarray, weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Indices of the samples at these shares, from 0 to 1, of the cumulated weights (n,)."""
    edges = np.cumsum(weights[order])
    return order[np.searchsorted(edges, shares * edges[-1], side="right").clip(max=len(edges) - 1)]


@_register("static_subset")
def _static_subset(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    order, shares = np.arange(len(samples.weights)), (np.arange(n_clusters) + 0.5) / n_clusters
    return samples.at(_at_shares(order, samples.weights, shares))


@_register("random_subset")
def random_subset(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Draw by systematic sampling: distinct samples where there are enough of them."""
    order = _random_order(samples, random_state)
    shares = (np.arange(n_clusters) + random_state.uniform()) / n_clusters
    return samples.at(_at_shares(order, samples.weights, shares))


class _Nearest:
    """Squared distance of each sample to the nearest seed so far, in ``squares`` (n,)."""

    def __init__(self, samples: Samples, seed: np.ndarray) -> None:
        self._samples, self.squares = samples, np.full(len(samples.weights), np.inf)
        self.add(seed)

    def _with(self, candidate: np.ndarray, chunk: slice) -> np.ndarray:
        """The squared distances of a chunk if a candidate became a seed."""
        squares = self.squares[chunk]
        first = np.zeros(len(squares), dtype=np.int32)
        return np.minimum(squares, squared_distances(self._samples, chunk, candidate[None], first))

    def add(self, seed: np.ndarray) -> None:
        def of_chunk(chunk: slice) -> None:
            self.squares[chunk] = self._with(seed, chunk)

        self._samples.map(of_chunk)

    def inertia(self, candidates: np.ndarray) -> np.ndarray:
        """Weighted sum of the squared distances if a candidate became a seed, for each of them: shape (q,)."""
        weights = self._samples.weights
        return self._samples.sum(
            lambda chunk: np.array([weights[chunk] @ self._with(c, chunk) for c in candidates])
        )


@_register("k-means++")
def kmeans_plusplus(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Draw a few samples by their squared distances and take the best, repeatedly (Arthur and Vassilvitskii 2007)."""
    order, n_candidates = _random_order(samples, random_state), 2 + int(np.log(n_clusters))

    def drawn(weights: np.ndarray, size: int) -> np.ndarray:
        return samples.at(_at_shares(order, weights, random_state.uniform(size=size)))

    seeds = [drawn(samples.weights, 1)[0]]
    nearest = _Nearest(samples, seeds[0])
    while len(seeds) < n_clusters:
        potential = samples.weights * nearest.squares
        if not potential.any():  # No distinct sample is left.
            return np.stack(seeds + seeds[:1] * (n_clusters - len(seeds)))
        candidates = drawn(potential, n_candidates)
        seeds.append(candidates[nearest.inertia(candidates).argmin()])
        nearest.add(seeds[-1])
    return np.stack(seeds)


def _spread(samples: Samples, n_clusters: int, first: int) -> np.ndarray:
    """Take the sample farthest from all seeds so far, repeatedly, beginning with the index ``first``."""
    seeds = [samples.at(np.array([first]))[0]]
    nearest = _Nearest(samples, seeds[0])
    while len(seeds) < n_clusters:
        seeds.append(samples.at(np.array([nearest.squares.argmax()]))[0])
        nearest.add(seeds[-1])
    return np.stack(seeds)


@_register("static_spread")
def _static_spread(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    return _spread(samples, n_clusters, 0)


@_register("random_spread")
def _random_spread(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    order = _random_order(samples, random_state)
    first = _at_shares(order, samples.weights, random_state.uniform(size=1))
    return _spread(samples, n_clusters, int(first[0]))
