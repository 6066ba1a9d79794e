"""Samples as the engine reads them: features along rows, sorted by class, cut into chunks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skem.engine import compiled

CHUNK_ROWS = 3072
"""Samples per chunk, where an E-step is not cheap (see ``problem``). A constant, so that results do not depend on the machine.
With fewer, Python's time per chunk is up to a third; with more, threads wait longer for the last chunk."""

KEPT_BYTES = 64 * 2**20
"""Size of the data up to which a standardised copy of each feature block is kept, in the type of the computation. Larger data
are standardised chunk by chunk in each iteration, so EM needs little memory beyond its data; seeds may need ``seeds.BLOCK_BYTES``."""

MAX_EXTENT = 1e100
"""Largest feature, in the engine's units: products of its square are still finite."""


def for_loops(array: np.ndarray) -> np.ndarray:
    """The array, or a copy in C order that is not read-only: numba would compile the loops again for any other."""
    if type(array) is np.ndarray and array.flags.carray:  # found in a tenth of the time
        return array
    return np.require(array, requirements=["C", "A", "W", "E"])


class Chunk(NamedTuple):
    """Samples of one computation and their classes, as slices of all samples and of all classes.

    The samples of each class end where those of the next begin, at ``borders`` (C + 1,), counted from the first sample.
    """

    classes: slice
    rows: slice
    borders: np.ndarray


@dataclass(frozen=True, eq=False)
class Rows:
    """Samples in memory, with centred and scaled features: (X[order] - shift) / scale.

    They are computed from X in float64 and then rounded, so float64 features do not inherit the rounding of float32.

    Attributes
    ----------
    X : ndarray of shape (N, M), float32 or float64
    order : ndarray of int, shape (N,), or None
        A permutation of the samples.
    shift, scale : ndarray of shape (M,)
    keep : bool
        True if the samples are read many times: feature blocks are then kept, unless X is large or a file on disk.
    device : Device or None
        Device that computes their densities; None is the host.
    weights : ndarray of shape (N,), float64
        Weights of training samples, with mean one.
    borders : ndarray of shape (L + 1,)
        Training samples are sorted by class: class c holds the samples borders[c] to borders[c + 1].
    """

    X: np.ndarray
    order: np.ndarray | None
    shift: np.ndarray
    scale: np.ndarray
    keep: bool = False
    device: Any = None
    weights: Any = None
    borders: Any = None
    _blocks: dict[bytes, np.ndarray] = field(default_factory=dict, repr=False)
    _chunks: dict[int, list[Chunk]] = field(default_factory=dict, repr=False)

    def __sizeof__(self) -> int:
        """Size in bytes, by which Dask's workers spill; features count twice if a standardised copy is kept."""
        return self.X.nbytes * (2 if self.keep else 1) + getattr(self.weights, "nbytes", 0)

    @cached_property
    def _lowest(self) -> np.ndarray:
        """The least value of each feature, shape (M,); NaN for one with a missing value."""
        return feature_extremes(np.minimum, self.X)

    @cached_property
    def is_incomplete(self) -> bool:
        """True if a value is missing."""
        return bool(np.isnan(self._lowest).any())

    @cached_property
    def extent(self) -> np.ndarray:
        """max_n |x_n| of each feature, shape (M,); NaN for one without any value."""
        lowest, highest = self._lowest, feature_extremes(np.maximum, self.X)
        if self.is_incomplete:
            lowest, highest = feature_extremes(np.fmin, self.X), feature_extremes(np.fmax, self.X)
        with np.errstate(over="ignore"):
            extent = np.maximum(highest - self.shift, self.shift - lowest) / self.scale
        far = np.flatnonzero(extent >= MAX_EXTENT)
        if len(far):
            raise ValueError(
                f"feature {far[0]} is {extent[far[0]]:.3g} spreads from the training mean: too far for float64; correct "
                "this value, or leave the sample out."
            )
        return extent

    @cached_property
    def _keeps_blocks(self) -> bool:
        return self.keep and self.X.nbytes <= KEPT_BYTES and not is_mapped(self.X)

    @property
    def n_samples(self) -> int:
        return len(self.X) if self.order is None else len(self.order)

    @property
    def chunks(self) -> list[slice]:
        """The samples of each chunk, whatever their class; with missing values four times as many share factors."""
        size = 4 * CHUNK_ROWS if self.is_incomplete else CHUNK_ROWS
        return [slice(start, start + size) for start in range(0, self.n_samples, size)]

    def _index(self, rows: slice | np.ndarray) -> slice | np.ndarray:
        """Index of some samples in X."""
        return rows if self.order is None else self.order[rows]

    def original(self, rows: slice | np.ndarray) -> np.ndarray:
        """All features of some samples, as in X, shape (n, M), in C order."""
        return for_loops(self.X[self._index(rows)])

    def read(
        self,
        columns: np.ndarray,
        rows: slice | np.ndarray,
        dtype: np.dtype | type = np.float64,
        *,
        pairs: bool = False,
    ) -> np.ndarray:
        """Some features of some samples, shape (m, n); with ``pairs``, what rounding left of them below, shape (2 m, n)."""
        index = self._index(rows)
        if len(columns) == self.X.shape[1] and (np.diff(columns) > 0).all():
            x = self.X[index]
        else:
            x = self.X[index][:, columns] if isinstance(index, slice) else self.X[np.ix_(index, columns)]
        shift, scale = self.shift[columns], self.scale[columns]
        if x.flags.c_contiguous:
            z = np.empty(x.shape[::-1], np.float64 if pairs else dtype)
            compiled.matrices().standardise(for_loops(x), shift, scale, z)
        else:  # NumPy is as fast where features are consecutive in memory
            z = np.subtract(x.T, shift[:, None], order="C")
            z /= scale[:, None]
        rounded = z.astype(dtype, copy=False)
        return np.concatenate([rounded, (z - rounded).astype(dtype)]) if pairs else rounded

    def reader(
        self, columns: np.ndarray, dtype: np.dtype, *, pairs: bool = False
    ) -> Callable[[slice], tuple[np.ndarray, int]]:
        """Return a function that reads a feature block repeatedly, as `read` does.

        From a slice of samples it returns an array (m, N) or (2 m, N) that has them as columns, and the number of the first of these columns.
        """
        if not self._keeps_blocks:
            return lambda rows: (self.read(columns, rows, dtype, pairs=pairs), 0)
        block = self._blocks.get(columns.tobytes())
        n_read = len(columns) * (1 + pairs)
        if block is None or block.dtype != dtype or len(block) != n_read:
            block = np.empty((n_read, self.n_samples), dtype=dtype)
            for chunk in self.chunks:
                block[:, chunk] = self.read(columns, chunk, dtype, pairs=pairs)
            self._blocks[columns.tobytes()] = block
        kept = block
        return lambda rows: (kept, rows.start)

    # Training samples

    @cached_property
    def total_weight(self) -> float:
        return float(self.weights.sum())

    def class_chunks(self, n_rows: int) -> list[Chunk]:
        """Chunks of one class each, in order, of up to ``n_rows`` samples."""
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
        """All classes and their samples as one chunk."""
        return [Chunk(slice(0, len(self.borders) - 1), slice(0, len(self.weights)), self.borders)]

    @cached_property
    def codes(self) -> np.ndarray:
        """The class of each sample."""
        return np.repeat(np.arange(len(self.borders) - 1), np.diff(self.borders))


def feature_extremes(extreme: np.ufunc, X: np.ndarray) -> np.ndarray:
    """The least or largest value of each feature, (m,). NumPy's loop over few features is short, so several samples are one row."""
    (n, m), fold = X.shape, max(1, 128 // X.shape[1])
    if n < fold or not X.flags.c_contiguous:
        return extreme.reduce(X)
    whole = n - n % fold
    extremes = extreme.reduce(X[:whole].reshape(-1, fold * m)).reshape(fold, m)
    return extreme.reduce(np.concatenate([extremes, X[whole:]]))


def is_mapped(X: np.ndarray | None) -> bool:
    """True if an array is a view of a memory-mapped file."""
    return X is not None and (isinstance(X, np.memmap) or is_mapped(getattr(X, "base", None)))


def sorting_order(codes: np.ndarray) -> np.ndarray:
    """Indices that sort non-negative integers (n,), equal ones in their order. NumPy sorts 16 bits in a sixth of the time of 64."""
    return np.argsort(codes.astype(np.uint16) if codes.max(initial=0) < 2**16 else codes, kind="stable")


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
    """Sort training samples by class.

    ``codes`` (N,) are the classes, 0 to L - 1, and None if all samples have one class; ``n_classes`` is L if some classes have no sample.
    The other arguments are those of ``Rows``.
    """
    if codes is None:
        return Rows(X, None, shift, scale, keep, weights=weights, borders=np.array([0, len(X)]))
    order = sorting_order(codes).astype(np.int32 if len(codes) < 2**31 else np.intp)
    borders = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes or 0))])
    return Rows(X, order, shift, scale, keep, weights=weights[order], borders=borders)
