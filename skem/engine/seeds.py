"""Where k-means starts: a registry of ways to draw its first centres from the rows.

What is drawn at random is weighted by the sample weights and does not depend on the order of the rows: a row of weight
two is the same as two rows. The static ways draw nothing, and go by the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skem.engine import compiled
from skem.engine.kmeans import CHUNK_ROWS
from skem.engine.rows import Chunk, Rows
from skem.engine.threads import Workers


@dataclass(frozen=True)
class SeedRequest:
    """What seeds are drawn from.

    Attributes
    ----------
    rows : Rows
        Of one class.
    n_clusters : int
        K.
    random_state : RandomState
    workers : Workers
    """

    rows: Rows
    n_clusters: int
    random_state: np.random.RandomState
    workers: Workers

    @property
    def columns(self) -> np.ndarray:
        return np.arange(self.rows.features.X.shape[1])

    def row(self, n: int) -> np.ndarray:
        """The features of row number n, shape (1, m)."""
        return self.rows.features.read(self.columns, slice(n, n + 1)).T

    @cached_property
    def order(self) -> np.ndarray:
        """The rows by their projections on a random direction, shape (N,): what they are decides it, not where they stand."""
        direction = self.random_state.standard_normal(len(self.columns))
        # Not a matrix product: its rounding depends on where in the array a row stands.
        projections = [
            (self.rows.features.read(self.columns, chunk.rows) * direction[:, None]).sum(axis=0)
            for chunk in self.rows.chunks(CHUNK_ROWS)
        ]
        return np.argsort(np.concatenate(projections), kind="stable")

    def draw(self, weights: np.ndarray, size: int) -> np.ndarray:
        """Numbers of rows drawn with probabilities proportional to ``weights`` (N,)."""
        edges = np.cumsum(weights[self.order])
        steps = self.random_state.uniform(size=size) * edges[-1]
        return self.order[np.searchsorted(edges, steps, side="right").clip(max=len(edges) - 1)]


Seeds = Callable[[SeedRequest], np.ndarray]

SEEDS: dict[str, Seeds] = {}
"""Give the first centres, (K, m) in the units of the rows, by the name that users give."""


def _register(name: str) -> Callable[[Seeds], Seeds]:
    def register(seeds: Seeds) -> Seeds:
        SEEDS[name] = seeds
        return seeds

    return register


def _at_steps(request: SeedRequest, order: np.ndarray, offset: float) -> np.ndarray:
    """Rows at equal steps along their cumulated weights."""
    edges = np.cumsum(request.rows.weights[order])
    steps = (np.arange(request.n_clusters) + offset) / request.n_clusters * edges[-1]
    chosen = order[np.searchsorted(edges, steps, side="right").clip(max=len(order) - 1)]
    return np.concatenate([request.row(n) for n in chosen.tolist()])


@_register("static_subset")
def _static_subset(request: SeedRequest) -> np.ndarray:
    return _at_steps(request, np.arange(len(request.rows.weights)), 0.5)


@_register("random_subset")
def _random_subset(request: SeedRequest) -> np.ndarray:
    """Systematic sampling: distinct rows where there are enough of them."""
    order = request.order
    return _at_steps(request, order, request.random_state.uniform())


class _Closest:
    """The squared distance of each row to the closest of the seeds so far."""

    def __init__(self, request: SeedRequest, seed: np.ndarray) -> None:
        rows = request.rows
        self._features, self._weights, self._workers = rows.features, rows.weights, request.workers
        self._chunks = rows.chunks(CHUNK_ROWS)
        self.squares = np.full(len(rows.weights), np.inf)
        self.add(seed)

    def _closer(self, chunk: Chunk, candidates: np.ndarray) -> np.ndarray:
        x, squares = self._features.original(chunk.rows), self.squares[chunk.rows]
        closest = np.empty((len(candidates), len(squares)))
        compiled.nearest().closer(x, self._features.shift, self._features.scale, candidates, squares, closest)
        return closest

    def add(self, seed: np.ndarray) -> None:
        """Take in one more seed, shape (1, m)."""

        def add(chunk: Chunk) -> None:
            self.squares[chunk.rows] = self._closer(chunk, seed)[0]

        self._workers.map(add, self._chunks)

    def with_each(self, candidates: np.ndarray) -> np.ndarray:
        """The weighted sum of the squared distances once a candidate is a seed, of each of them: shape (q,)."""

        def total(chunk: Chunk) -> np.ndarray:
            return self._closer(chunk, candidates) @ self._weights[chunk.rows]

        return sum(self._workers.map(total, self._chunks), start=np.zeros(len(candidates)))


@_register("k-means++")
def _kmeans_plusplus(request: SeedRequest) -> np.ndarray:
    """Of a few rows drawn by their squared distances, the one that leaves the least (Arthur and Vassilvitskii 2007)."""
    n_candidates = 2 + int(np.log(request.n_clusters))
    seeds = [request.row(int(request.draw(request.rows.weights, 1)[0]))]
    closest = _Closest(request, seeds[0])
    while len(seeds) < request.n_clusters:
        potential = request.rows.weights * closest.squares
        if not potential.any():  # no distinct row is left, which k-means will find out
            return np.concatenate(seeds + seeds[:1] * (request.n_clusters - len(seeds)))
        drawn = request.draw(potential, n_candidates)
        candidates = np.concatenate([request.row(n) for n in drawn.tolist()])
        best = int(closest.with_each(candidates).argmin())
        seeds.append(candidates[best : best + 1])
        closest.add(seeds[-1])
    return np.concatenate(seeds)


def _spread(request: SeedRequest, first: int) -> np.ndarray:
    """The row farthest from all seeds so far, again and again."""
    seeds = [request.row(first)]
    closest = _Closest(request, seeds[0])
    while len(seeds) < request.n_clusters:
        seeds.append(request.row(int(closest.squares.argmax())))
        closest.add(seeds[-1])
    return np.concatenate(seeds)


@_register("static_spread")
def _static_spread(request: SeedRequest) -> np.ndarray:
    return _spread(request, 0)


@_register("random_spread")
def _random_spread(request: SeedRequest) -> np.ndarray:
    return _spread(request, int(request.draw(request.rows.weights, 1)[0]))
