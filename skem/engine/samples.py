"""Chunks of samples with some of their features, for k-means and initialisations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from skem.engine.rows import Features, Rows
from skem.engine.threads import Workers

CHUNK_SAMPLES = 8192
"""Samples per chunk. A constant makes results independent of the machine; with fewer samples, Python overhead dominates."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Some features of consecutive samples, and the threads that process them.

    Attributes
    ----------
    features : Features
    weights : ndarray of shape (n,)
    workers : Workers
    columns : ndarray of int, shape (m,), or None
        Indices of the features, or None for all.
    begin : int
        Index in ``features`` of the first sample.
    """

    features: Features
    weights: np.ndarray
    workers: Workers
    columns: np.ndarray | None = None
    begin: int = 0

    @classmethod
    def of(cls, rows: Rows, workers: Workers) -> Samples:
        """Take all features of the samples of all classes."""
        return cls(rows.features, rows.weights, workers)

    @classmethod
    def of_array(cls, X: np.ndarray, weights: np.ndarray, workers: Workers) -> Samples:
        """Take the samples of an array, in its units."""
        m = X.shape[1]
        return cls(Features(X, None, np.zeros(m), np.ones(m)), weights, workers)

    @property
    def shift(self) -> np.ndarray:
        return self._of_columns(self.features.shift)

    @property
    def scale(self) -> np.ndarray:
        return self._of_columns(self.features.scale)

    @property
    def extent(self) -> np.ndarray:
        """Largest absolute value of each feature, shape (m,), in the engine's units."""
        return self._of_columns(self.features.extent)

    @property
    def chunks(self) -> list[slice]:
        n = len(self.weights)
        return [slice(start, min(start + CHUNK_SAMPLES, n)) for start in range(0, n, CHUNK_SAMPLES)]

    def _of_columns(self, array: np.ndarray) -> np.ndarray:
        return array if self.columns is None else array.take(self.columns, axis=-1)

    def original(self, chunk: slice) -> np.ndarray:
        """Return samples in input units and dtype, shape (n, m), in C order."""
        rows = slice(self.begin + chunk.start, self.begin + chunk.stop)
        return self._of_columns(self.features.original(rows))

    def internal(self, chunk: slice) -> np.ndarray:
        """Return samples in the engine's units, shape (n, m), in float64."""
        x = self.original(chunk) - self.shift
        x /= self.scale  # In place, because new memory pages take longer than the division.
        return x

    def at(self, indices: np.ndarray) -> np.ndarray:
        """Return the samples of these indices in the engine's units, shape (k, m)."""
        columns = np.arange(len(self.features.scale)) if self.columns is None else self.columns
        return self.features.read(columns, self.begin + indices).T

    def map(self, function: Callable[[slice], Any]) -> list[Any]:
        """Return ``function(chunk)`` for all chunks."""
        return self.workers.map(function, self.chunks)

    def sum(self, function: Callable[[slice], Any]) -> Any:
        """Return the sum of ``function(chunk)`` over all chunks, added in order."""
        with self.workers.imap(function, self.chunks) as results:
            return reduce(add, results)
