"""Initial centres of k-means: a registry of choices among the samples.

Random choices are weighted by the sample weights and do not depend on the order of the samples. A sample of weight two
equals two samples. The static choices depend on the order of the samples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skem.engine.kmeans import squared_distances
from skem.engine.samples import Samples

Seeds = Callable[[Samples, int, np.random.RandomState], np.ndarray]

SEEDS: dict[str, Seeds] = {}
"""Functions of samples, number of clusters K and random state that return centres (K, m), by their public names."""


def _register(name: str) -> Callable[[Seeds], Seeds]:
    def register(seeds: Seeds) -> Seeds:
        SEEDS[name] = seeds
        return seeds

    return register


def _random_order(samples: Samples, random_state: np.random.RandomState) -> np.ndarray:
    """Sort the samples by their projections on a random direction, which do not depend on their order; shape (n,)."""
    direction = random_state.standard_normal(len(samples.scale))
    # The rounding of a matrix product would depend on the position of a sample.
    projections = samples.map(lambda chunk: (samples.internal(chunk) * direction).sum(axis=1))
    return np.argsort(np.concatenate(projections), kind="stable")


def _at_shares(order: np.ndarray, weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the indices of the samples at these shares, from 0 to 1, of the cumulative weights."""
    edges = np.cumsum(weights[order])
    return order[np.searchsorted(edges, shares * edges[-1], side="right").clip(max=len(edges) - 1)]


@_register("static_subset")
def _static_subset(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    order, shares = np.arange(len(samples.weights)), (np.arange(n_clusters) + 0.5) / n_clusters
    return samples.at(_at_shares(order, samples.weights, shares))


@_register("random_subset")
def random_subset(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Draw by systematic sampling: distinct samples if there are enough of them."""
    order = _random_order(samples, random_state)
    shares = (np.arange(n_clusters) + random_state.uniform()) / n_clusters
    return samples.at(_at_shares(order, samples.weights, shares))


class _Nearest:
    """Squared distance of each sample to the nearest seed so far, in ``squares`` (n,)."""

    def __init__(self, samples: Samples, seed: np.ndarray) -> None:
        self._samples, self.squares = samples, np.full(len(samples.weights), np.inf)
        self.add(seed)

    def _with(self, candidate: np.ndarray, chunk: slice) -> np.ndarray:
        """Return the squared distances of a chunk after adding a candidate to the seeds."""
        squares = self.squares[chunk]
        first = np.zeros(len(squares), dtype=np.int32)
        return np.minimum(squares, squared_distances(self._samples, chunk, candidate[None], first))

    def add(self, seed: np.ndarray) -> None:
        def update(chunk: slice) -> None:
            self.squares[chunk] = self._with(seed, chunk)

        self._samples.map(update)

    def inertia(self, candidates: np.ndarray) -> np.ndarray:
        """Return the weighted sum of squared distances after adding each of the candidates, shape (q,)."""
        weights = self._samples.weights
        return self._samples.sum(
            lambda chunk: np.array([weights[chunk] @ self._with(c, chunk) for c in candidates])
        )


@_register("k-means++")
def kmeans_plusplus(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Repeatedly draw candidates by squared distance and keep the best one (Arthur and Vassilvitskii 2007)."""
    order, n_candidates = _random_order(samples, random_state), 2 + int(np.log(n_clusters))

    def draw(weights: np.ndarray, size: int) -> np.ndarray:
        return samples.at(_at_shares(order, weights, random_state.uniform(size=size)))

    seeds = [draw(samples.weights, 1)[0]]
    nearest = _Nearest(samples, seeds[0])
    while len(seeds) < n_clusters:
        potential = samples.weights * nearest.squares
        if not potential.any():  # No distinct sample is left.
            return np.stack(seeds + seeds[:1] * (n_clusters - len(seeds)))
        candidates = draw(potential, n_candidates)
        seeds.append(candidates[nearest.inertia(candidates).argmin()])
        nearest.add(seeds[-1])
    return np.stack(seeds)


def _spread(samples: Samples, n_clusters: int, first: int) -> np.ndarray:
    """Repeatedly take the sample farthest from all seeds so far, starting with index ``first``."""
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
