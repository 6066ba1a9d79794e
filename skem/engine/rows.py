"""The data as the engine reads it: features along rows, sorted by class, cut into chunks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skem.engine.far_rows import FarRows
from skem.engine.threads import Scratch, Workers

CHUNK_ROWS = 3072
"""Rows per chunk, where an E-step is not cheap (see ``problem``). A constant, so that results do not depend on the machine.
Fewer, and what Python does per chunk costs up to a third; more, and threads wait for the last one longer."""

KEPT_BYTES = 64 * 2**20
"""Of data up to this size each block is kept a second time, as the engine reads it, in the type it is computed in;
larger data is read chunk by chunk in every pass, so a fit takes little memory beyond its data."""

MAX_EXTENT = 1e100
"""Largest feature, in the engine's units: products of its square are still finite."""

Reader = Callable[[slice], tuple[np.ndarray, int]]
"""Gives an array of shape (m, N) that has the features of some rows as columns, and the first of these."""


@dataclass(frozen=True)
class Features:
    """Centred and scaled features, along rows: (X[order] - shift) / scale, transposed.

    Computed in float64 and kept in X's dtype; asked for in a better one they are made again from X, so
    that the fallback to float64 does not inherit the rounding of the features.

    Attributes
    ----------
    X : ndarray of shape (N, M), float32 or float64
    order : ndarray of int, shape (N,), or None
        A permutation of the rows.
    shift, scale : ndarray of shape (M,)
    keep : bool
        Whether the rows are read many times: blocks are kept then, unless X is large or a file on disk.
    """

    X: np.ndarray
    order: np.ndarray | None
    shift: np.ndarray
    scale: np.ndarray
    keep: bool = False
    _far_rows: dict[bytes, FarRows] = field(default_factory=dict, repr=False)
    _blocks: dict[bytes, np.ndarray] = field(default_factory=dict, repr=False)

    @cached_property
    def extent(self) -> np.ndarray:
        """max_n |x_n| of each feature, shape (M,)."""
        with np.errstate(over="ignore"):
            extent = np.maximum(self.X.max(axis=0) - self.shift, self.shift - self.X.min(axis=0)) / self.scale
        far = np.flatnonzero(~(extent < MAX_EXTENT))
        if len(far):
            raise ValueError(
                f"feature {far[0]} is {extent[far[0]]:.3g} spreads from the training mean: too far"
            )
        return extent

    @property
    def n_rows(self) -> int:
        return len(self.X) if self.order is None else len(self.order)

    @property
    def chunks(self) -> list[slice]:
        """The rows of each chunk, whatever their class."""
        return [slice(start, start + CHUNK_ROWS) for start in range(0, self.n_rows, CHUNK_ROWS)]

    def far_rows(self, columns: np.ndarray, workers: Workers) -> FarRows:
        """The rows of a block that are far off; what was found once is kept."""
        if (key := columns.tobytes()) not in self._far_rows:
            extent = self.extent[columns, None]

            def far(chunk: slice) -> FarRows:
                return FarRows.of(self.read(columns, chunk), extent, chunk.start)

            self._far_rows[key] = FarRows.of_all(workers.map(far, self.chunks))
        return self._far_rows[key]

    def original(self, rows: slice) -> np.ndarray:
        """All features of some rows as they are in X, shape (n, M), in C order."""
        return np.ascontiguousarray(self.X[rows if self.order is None else self.order[rows]])

    def at(self, columns: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, None]:
        """Some features of some rows, (m, n), which have no classes."""
        return self.read(columns, rows), None

    def read(
        self, columns: np.ndarray, rows: slice | np.ndarray, dtype: np.dtype | type = np.float64
    ) -> np.ndarray:
        """Some features of some rows, shape (m, n)."""
        x = self.X[rows][:, columns] if self.order is None else self.X[np.ix_(self.order[rows], columns)]
        return ((x - self.shift[columns]) / self.scale[columns]).T.astype(dtype, order="C")

    def reader(
        self, columns: np.ndarray, dtype: np.dtype, memory: tuple[Scratch, Scratch] | None = None
    ) -> Reader:
        """What gives a block's features of some rows again and again; to be asked for by one thread.

        Where they are not kept, what a thread has read is overwritten when it reads again, from any reader with the same
        ``memory``, for a feature and for a block.
        """
        if not self.keep or self.X.nbytes > KEPT_BYTES or _mapped(self.X):
            return self._reader_into_scratch(columns, dtype, memory or (Scratch(), Scratch()))
        block = self._blocks.get(columns.tobytes())
        if block is None or block.dtype != dtype:
            block = np.empty((len(columns), self.n_rows), dtype=dtype)
            for chunk in self.chunks:
                block[:, chunk] = self.read(columns, chunk, dtype)
            self._blocks[columns.tobytes()] = block
        kept = block
        return lambda rows: (kept, rows.start)

    def _reader_into_scratch(
        self, columns: np.ndarray, dtype: np.dtype, memory: tuple[Scratch, Scratch]
    ) -> Reader:
        """What `read` gives, in memory of the thread that asks, until it asks again."""
        line, block = memory

        def read(rows: slice) -> tuple[np.ndarray, int]:
            X = self.X[rows if self.order is None else self.order[rows]]
            offsets = line.empty(len(X), np.dtype(np.float64))
            x = block.empty(len(columns) * len(X), dtype).reshape(len(columns), len(X))
            for feature, j in zip(x, columns.tolist(), strict=True):
                np.subtract(X[:, j], self.shift[j], out=offsets)
                np.divide(offsets, self.scale[j], out=feature, casting="same_kind")
            return x, 0

        return read


def _mapped(X: np.ndarray | None) -> bool:
    """Whether an array is a view of a memory-mapped file."""
    return X is not None and (isinstance(X, np.memmap) or _mapped(getattr(X, "base", None)))


class Chunk(NamedTuple):
    """Rows that are worked on at a time, and the classes they are of, as slices of all rows and of all classes.

    The rows of each class end where those of the next begin, at ``borders`` (C + 1,), counted from the first row.
    """

    classes: slice
    rows: slice
    borders: np.ndarray

    @property
    def several_classes(self) -> bool:
        return self.classes.stop - self.classes.start > 1


@dataclass(frozen=True)
class Rows:
    """Training rows sorted by class.

    Attributes
    ----------
    features : Features
    weights : ndarray of shape (N,), float64
        Sample weights with mean one.
    borders : ndarray of shape (L + 1,)
        Class c holds the rows borders[c] to borders[c + 1].
    """

    features: Features
    weights: np.ndarray
    borders: np.ndarray
    _chunks: dict[int, list[Chunk]] = field(default_factory=dict, repr=False)

    @cached_property
    def total_weight(self) -> float:
        return float(self.weights.sum())

    def chunks(self, n_rows: int) -> list[Chunk]:
        """Chunks of one class each, in order, of up to ``n_rows`` rows."""
        if n_rows not in self._chunks:
            self._chunks[n_rows] = [
                Chunk(
                    slice(c, c + 1),
                    slice(start, min(start + n_rows, stop)),
                    np.array([0, min(n_rows, stop - start)]),
                )
                for c, (begin, stop) in enumerate(zip(self.borders[:-1], self.borders[1:], strict=True))
                for start in range(begin, stop, n_rows)
            ]
        return self._chunks[n_rows]

    @cached_property
    def one_chunk(self) -> list[Chunk]:
        """All classes and their rows as one chunk."""
        return [Chunk(slice(0, len(self.borders) - 1), slice(0, len(self.weights)), self.borders)]

    @cached_property
    def codes(self) -> np.ndarray:
        """The class of each row."""
        return np.repeat(np.arange(len(self.borders) - 1), np.diff(self.borders))


def sort_by_class(
    X: np.ndarray,
    codes: np.ndarray | None,
    weights: np.ndarray,
    shift: np.ndarray,
    scale: np.ndarray,
    *,
    n_classes: int | None = None,
    keep: bool = True,
) -> Rows:
    """The training rows as the engine wants them.

    Parameters
    ----------
    X : ndarray of shape (N, M)
    codes : ndarray of int, shape (N,), or None
        Classes, 0 to L - 1; None where all rows are of one class.
    weights : ndarray of shape (N,)
    shift, scale : ndarray of shape (M,)
        The features become (X - shift) / scale.
    n_classes : int, optional
        L, if not each class has a row.
    keep : bool
        As in ``Features``.
    """
    if codes is None:
        return Rows(Features(X, None, shift, scale, keep), weights, np.array([0, len(X)]))
    order = np.argsort(codes, kind="stable").astype(np.int32 if len(codes) < 2**31 else np.intp)
    borders = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes or 0))])
    return Rows(Features(X, order, shift, scale, keep), weights[order], borders)
