"""Initial centres of k-means: a registry of choices among the samples.

Random choices are weighted by the sample weights and do not depend on the order of the samples. A sample of weight two
equals two samples. The static choices depend on the order of the samples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skem.engine import compiled
from skem.engine.linalg import product
from skem.engine.rows import is_mapped
from skem.engine.samples import OfThread, Samples
from skem.engine.threads import aligned

BLOCK_BYTES = 2**30
"""Largest memory of the blocks that are kept during a choice: making a block takes longer than its comparison with a seed."""

Seeds = Callable[[Samples, int, np.random.RandomState], np.ndarray]
"""Function of samples, number of clusters K and random state that returns centres (K, m)."""


ReadBlock = Callable[[slice], np.ndarray]
"""Function of a chunk that returns its samples as columns, see `Samples.block`."""


def _blocks(samples: Samples) -> ReadBlock:
    """Return a function that keeps blocks of samples for its next calls, if all of them fit into ``BLOCK_BYTES``."""
    kept: dict[int, np.ndarray] = {}
    if 8 * samples.weights.size * samples.scale.size > BLOCK_BYTES or is_mapped(samples.features.X):
        return samples.block

    def block(chunk: slice) -> np.ndarray:
        if chunk.start not in kept:
            kept[chunk.start] = samples.block(chunk)
        return kept[chunk.start]

    return block


def _random_order(samples: Samples, block: ReadBlock, random_state: np.random.RandomState) -> np.ndarray:
    """Sort the samples by their projections on a random direction, which do not depend on their order; shape (n,)."""
    direction = random_state.standard_normal(len(samples.scale))
    # The rounding of a product with BLAS would depend on the position of a sample.
    chunks = samples.map(lambda chunk: product(direction[None], block(chunk))[0])
    projections = np.concatenate(chunks)
    order = projections.argsort()
    ties = (np.diff(projections[order]) == 0).any()
    return projections.argsort(kind="stable") if ties else order


def _at_shares(order: np.ndarray, edges: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the indices of the samples at these shares, from 0 to 1, of the cumulative weights in an order."""
    return order[np.searchsorted(edges, shares * edges[-1], side="right").clip(max=len(edges) - 1)]


def _static_subset(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    order, shares = np.arange(len(samples.weights)), (np.arange(n_clusters) + 0.5) / n_clusters
    return samples.at(_at_shares(order, np.cumsum(samples.weights[order]), shares))


def random_subset(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Draw by systematic sampling: distinct samples if there are enough of them."""
    order = _random_order(samples, samples.block, random_state)
    shares = (np.arange(n_clusters) + random_state.uniform()) / n_clusters
    return samples.at(_at_shares(order, np.cumsum(samples.weights[order]), shares))


class _Seeds:
    """Samples chosen as seeds: their ``indices``, and the squared distance of each sample to the nearest of them."""

    def __init__(self, samples: Samples, block: ReadBlock, first: int, n_candidates: int = 1) -> None:
        q, width = n_candidates, compiled.nearest().TILE
        self._samples, self._block = samples, block
        self._scratch = OfThread(
            lambda: (np.empty(width), aligned(q * width, np.dtype(np.float64)).reshape(q, width))
        )
        self._squares, self._nearest = np.full((q + 1, len(samples.weights)), np.inf), 0
        self.indices: list[int] = []
        self.add_best(np.array([first]))

    @property
    def squares(self) -> np.ndarray:
        """Squared distance of each sample to the nearest seed, shape (n,)."""
        return self._squares[self._nearest]

    def cumulate(self, order: np.ndarray) -> np.ndarray:
        """Return the cumulative weighted ``squares`` in an order of the samples (n,), which the next seed overwrites."""
        sums = self._squares[self._nearest - 1]
        compiled.nearest().cumulate(order, self._samples.weights, self.squares, sums)
        return sums

    def add_best(self, candidates: np.ndarray) -> None:
        """Add the candidate (q,) that leaves the smallest weighted sum of squared distances."""
        samples, rows = self._samples, np.ascontiguousarray(self._samples.at(candidates))

        def totals_of_chunk(chunk: slice) -> np.ndarray:
            totals, x = np.empty(len(rows)), (self._block(chunk), samples.weights[chunk], chunk.start)
            results = self._squares, self._nearest, totals
            compiled.nearest().closer(x, rows, results, self._scratch.memory)
            return totals

        totals = samples.sum(totals_of_chunk, (len(rows) + 8) * rows.shape[1])
        # Two candidates that are nearest to each other, and to no other sample, have equal totals but for rounding.
        best = (totals <= (1 + 1e-12) * totals.min()).argmax()
        self.indices.append(candidates[best])
        self._nearest = best + (best >= self._nearest)

    def centres(self, n_clusters: int) -> np.ndarray:
        """Return the seeds, and copies of the first one up to ``n_clusters``, shape (K, m)."""
        copies = self.indices[:1] * (n_clusters - len(self.indices))
        return self._samples.at(np.array(self.indices + copies))


def kmeans_plusplus(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Repeatedly draw candidates by squared distance and keep the best one (Arthur and Vassilvitskii 2007)."""
    block, n_candidates = _blocks(samples), 2 + int(np.log(n_clusters))
    order = _random_order(samples, block, random_state)
    first = _at_shares(order, np.cumsum(samples.weights[order]), random_state.uniform(size=1))
    seeds = _Seeds(samples, block, first[0], n_candidates)
    while len(seeds.indices) < n_clusters:
        edges = seeds.cumulate(order)
        if edges[-1] == 0:  # No distinct sample is left.
            break
        seeds.add_best(_at_shares(order, edges, random_state.uniform(size=n_candidates)))
    return seeds.centres(n_clusters)


def _spread(samples: Samples, n_clusters: int, first: int) -> np.ndarray:
    """Repeatedly take the sample farthest from all seeds so far, starting with index ``first``."""
    seeds = _Seeds(samples, _blocks(samples), first)
    while len(seeds.indices) < n_clusters:
        seeds.add_best(np.array([seeds.squares.argmax()]))
    return seeds.centres(n_clusters)


def _random_spread(samples: Samples, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    order = _random_order(samples, samples.block, random_state)
    first = _at_shares(order, np.cumsum(samples.weights[order]), random_state.uniform(size=1))
    return _spread(samples, n_clusters, int(first[0]))


SEEDS: dict[str, Seeds] = {
    "static_subset": _static_subset,
    "random_subset": random_subset,
    "k-means++": kmeans_plusplus,
    "static_spread": lambda samples, n_clusters, random_state: _spread(samples, n_clusters, 0),
    "random_spread": _random_spread,
}
"""By their public names."""
