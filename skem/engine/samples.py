"""Chunks of samples with some of their features, for k-means and initialisations."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from skem.engine import compiled
from skem.engine import rows as _rows
from skem.engine.rows import Rows, for_loops, is_mapped
from skem.engine.threads import Workers

CHUNK_SAMPLES = 8192
"""Samples per chunk. A constant makes results independent of the machine; with fewer samples, Python overhead dominates."""

LEAST_WORK = 2**22
"""Multiply-adds that are worth several threads: some 0.2 ms."""

CALLER = Workers(1)
"""The calling thread."""


class OfThread(threading.local):
    """Memory of each thread: what ``allocate`` returned there."""

    def __init__(self, allocate: Callable[[], Any]) -> None:
        self.memory = allocate()


@dataclass(frozen=True, eq=False)
class Samples:
    """Some features of consecutive samples, and the threads that process them.

    Attributes
    ----------
    features : Rows
    weights : ndarray of shape (n,)
    workers : Workers
    columns : ndarray of int, shape (m,), or None
        Indices of the features, or None for all.
    begin : int
        Index in ``features`` of the first sample.
    """

    features: Rows
    weights: np.ndarray
    workers: Workers
    columns: np.ndarray | None = None
    begin: int = 0

    @classmethod
    def of_array(cls, X: np.ndarray, weights: np.ndarray, workers: Workers) -> Samples:
        """Take the samples of an array, in its units."""
        m = X.shape[1]
        return cls(Rows(X, None, np.zeros(m), np.ones(m), keep=True), weights, workers)

    @property
    def shift(self) -> np.ndarray:
        return for_loops(self._of_columns(self.features.shift))

    @property
    def scale(self) -> np.ndarray:
        return for_loops(self._of_columns(self.features.scale))

    @property
    def extent(self) -> np.ndarray:
        """Largest absolute value of each feature, shape (m,), in the engine's units."""
        return self._of_columns(self.features.extent)

    @property
    def chunks(self) -> list[slice]:
        n = len(self.weights)
        return [slice(start, min(start + CHUNK_SAMPLES, n)) for start in range(0, n, CHUNK_SAMPLES)]

    @property
    def _numbers(self) -> np.ndarray:
        """Indices of the features, shape (m,)."""
        return np.arange(len(self.features.scale)) if self.columns is None else self.columns

    def _of_columns(self, array: np.ndarray) -> np.ndarray:
        return array if self.columns is None else array.take(self.columns, axis=-1)

    @cached_property
    def _is_small(self) -> bool:
        """True if copies of all samples are kept."""
        small = 8 * self.weights.size * self.scale.size <= _rows.KEPT_BYTES
        return self.features.keep and small and not is_mapped(self.features.X)

    @cached_property
    def _all(self) -> np.ndarray:
        return self._read(slice(0, len(self.weights)))

    def _read(self, rows: slice) -> np.ndarray:
        X = self.features.original(slice(self.begin + rows.start, self.begin + rows.stop))
        return np.ascontiguousarray(self._of_columns(X))

    def original(self, chunk: slice) -> np.ndarray:
        """Return samples in input units and dtype, shape (n, m), in C order."""
        return self._all[chunk] if self._is_small else self._read(chunk)

    @cached_property
    def _all_centred(self) -> np.ndarray:
        return self._centre(self._all)

    def _centre(self, x: np.ndarray) -> np.ndarray:
        loop, (n, m) = compiled.nearest(), x.shape
        rows = np.empty(n * (m + 1) + loop.LANES)[: n * (m + 1)].reshape(n, m + 1)
        loop.centre(x, self.shift, rows)
        return rows

    def centred(self, chunk: slice) -> np.ndarray:
        """Return samples less the shift, and a last feature of ones, as `nearest.iterate` takes them, shape (n, m + 1)."""
        return self._all_centred[chunk] if self._is_small else self._centre(self._read(chunk))

    def block(self, chunk: slice) -> np.ndarray:
        """Return samples in the engine's units as columns, shape (m, n), in float64."""
        return self.features.read(self._numbers, slice(self.begin + chunk.start, self.begin + chunk.stop))

    def internal(self, chunk: slice) -> np.ndarray:
        """Return samples in the engine's units, shape (n, m), in float64."""
        x = self.original(chunk) - self.shift
        x /= self.scale  # In place, because new memory pages take longer than the division.
        return x

    def at(self, indices: np.ndarray) -> np.ndarray:
        """Return the samples of these indices in the engine's units, shape (k, m)."""
        return self.features.read(self._numbers, self.begin + indices).T

    def is_worth_threads(self, n_products: int) -> bool:
        """True if this number of multiply-adds per sample is worth several threads."""
        return len(self.weights) * n_products > LEAST_WORK

    def _workers(self, n_products: int) -> Workers:
        return self.workers if self.is_worth_threads(n_products) else CALLER

    def map(self, function: Callable[[slice], Any], n_products: int = LEAST_WORK) -> list[Any]:
        """Return ``function(chunk)`` for all chunks, with threads if this number of multiply-adds per sample is worth them."""
        return self._workers(n_products).map(function, self.chunks)

    def sum(self, function: Callable[[slice], Any], n_products: int = LEAST_WORK) -> Any:
        """Return the sum of ``function(chunk)`` over all chunks, added in order; ``n_products`` is as for `map`."""
        with self._workers(n_products).imap(function, self.chunks) as results:
            return reduce(add, results)
