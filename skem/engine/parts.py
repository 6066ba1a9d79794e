"""Training samples in parts, and the order in which their sums are added.

A part is ``PART_ROWS`` consecutive samples, sorted by class among themselves. The sums of its chunks are added in order, those of
parts in a fixed tree. So a fit has the same bits for any storage and any workers: threads of this process, or processes of a
cluster, which may die during a fit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial, reduce
from itertools import islice
from typing import Any

import numpy as np

from skem.engine import rows as _rows
from skem.engine.covariances import CovarianceType
from skem.engine.rows import CHUNK_ROWS, Rows, sort_by_class
from skem.engine.threads import Scratch, Workers, go_on, single_threaded

PART_ROWS = 24 * CHUNK_ROWS
"""Samples of a part, 73,728. A constant, so that results do not depend on the storage."""

FAN_IN = 16
"""Number of sums that a node of the tree adds."""


def slices(n_samples: int) -> list[slice]:
    """The samples of each part."""
    return [slice(start, min(start + PART_ROWS, n_samples)) for start in range(0, n_samples, PART_ROWS)]


def add(values: Iterable[Any]) -> Any:
    """The sum of one or more values, from left to right."""
    return reduce(operator.add, values)


def tree(values: Iterable[Any], combine: Callable[[Sequence[Any]], Any] = add) -> Any:
    """The sum of values in a fixed tree: of ``FAN_IN`` consecutive values, of as many of these sums, and so on."""
    levels: list[list[Any]] = []
    for value in values:
        for level in levels:
            level.append(value)
            if len(level) < FAN_IN:
                break
            value = combine(level.copy())
            level.clear()
        else:
            levels.append([value])
    carried: list[Any] = []
    for level in levels:
        level += carried
        carried = [combine(level)] if level else []
    return carried[0]


class Parts:
    """The training samples of a fit, wherever they are.

    Attributes
    ----------
    n_samples, n_classes : int
    dtype : numpy dtype
    scale : ndarray of shape (M,)
    total_weight : float
    extent : ndarray of shape (M,)
        max_n |x_n| of each feature; ValueError if a feature is too far from zero.
    whole : Rows
        The samples that initialisations draw from: all of them, or a stratified sample if they are outside memory.
    reads_pairs : bool
        True if samples can be read as pairs of numbers.
    """

    n_samples: int
    n_classes: int
    dtype: np.dtype
    scale: np.ndarray
    total_weight: float
    reads_pairs = True
    extent: Any
    whole: Any

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = parts
        self._scratch = Scratch()

    def missing_log_volume(self, columns: np.ndarray, covariance_type: CovarianceType) -> float:
        """Log-volume of a unit of missing features, of these features: its weighted mean over samples."""
        return 0.0

    def fold(self, step: Any, workers: Workers) -> Any:
        """The sum of a step such as `Expectation` over all samples; threads share the chunks of parts in memory."""
        units, sizes = [], []
        for rows in self.parts:
            read = rows.reader(step.columns, step.dtype, pairs=step.pairs)
            chunks = step.chunks(rows)
            units += [(rows, chunk, read) for chunk in chunks]
            sizes.append(len(chunks))
        of_chunk = partial(step.of_chunk, self._scratch)
        if len(units) == 1:  # `imap` would take an eighth of an iteration on 150 samples.
            go_on()
            with single_threaded():
                return step.finish(step.add(None, of_chunk(units[0])))
        with workers.imap(of_chunk, units) as values:
            of_parts = (reduce(step.add, islice(values, size), None) for size in sizes)
            return tree(map(step.finish, of_parts))


class PartsInMemory(Parts):
    """All samples in parts.

    Parameters
    ----------
    X : ndarray of shape (N, M)
    codes : ndarray of int, shape (N,), or None
        The class of each sample, 0 to L - 1; None if all have one class.
    weights : ndarray of shape (N,)
    shift, scale : ndarray of shape (M,)
    n_classes : int, optional
        L; by default the last class has a sample.
    """

    def __init__(
        self,
        X: np.ndarray,
        codes: np.ndarray | None,
        weights: np.ndarray,
        shift: np.ndarray,
        scale: np.ndarray,
        n_classes: int | None = None,
    ) -> None:
        self._data = X, codes, weights, shift, scale
        self.n_samples, self.dtype, self.scale = len(X), X.dtype, scale
        self.n_classes = n_classes or (1 if codes is None else int(codes.max()) + 1)
        sort = partial(
            sort_by_class,
            shift=shift,
            scale=scale,
            n_classes=self.n_classes,
            keep=X.nbytes <= _rows.KEPT_BYTES,
        )
        super().__init__(
            [sort(X[part], None if codes is None else codes[part], weights[part]) for part in slices(len(X))]
        )
        self.total_weight = tree(rows.total_weight for rows in self.parts)

    @cached_property
    def whole(self) -> Rows:
        if len(self.parts) == 1:
            return self.parts[0]
        return sort_by_class(*self._data, n_classes=self.n_classes)

    @cached_property
    def extent(self) -> np.ndarray:
        return np.max([rows.extent for rows in self.parts], axis=0)


# Parts outside memory


def collect(
    executor: Any, function: Callable[..., Any], parts: Sequence[Any], *arguments: Sequence[Any]
) -> list[Any]:
    """Return ``function(part, ...)`` of each part."""
    return executor.fold(partial(_as_list, function), parts, *arguments)


def _as_list(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [function(*arguments)]


def _fold_part(step: Any, rows: Rows) -> Any:
    return Parts([rows]).fold(step, Workers())


def _describe(rows: Rows) -> tuple[np.ndarray, float, np.ndarray, np.dtype]:
    return np.diff(rows.borders), rows.total_weight, rows.extent, rows.X.dtype


def _take(rows: Rows, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return samples of a part in input units, their classes and their weights."""
    return rows.original(numbers), rows.codes[numbers], rows.weights[numbers]


class PartsOutOfCore(Parts):
    """Samples outside the memory of this process, which receives sums, and a sample that initialisations draw from.

    ``parts`` are the executor's references to `Rows`, none of which is empty. Its ``fold(function, parts, *arguments)`` returns the
    `tree` of ``function(part, ...)``, with one element of each of ``arguments`` per part.
    """

    def __init__(self, executor: Any, parts: Sequence[Any], shift: np.ndarray, scale: np.ndarray) -> None:
        self._executor, self._parts, self._shift, self.scale = executor, parts, shift, scale
        counts, weights, extents, dtypes = zip(*collect(executor, _describe, parts), strict=True)
        self._counts, self.dtype = np.stack(counts), dtypes[0]
        self.n_classes, self.n_samples = self._counts.shape[1], int(self._counts.sum())
        self.total_weight = tree(weights)
        self.extent = np.max(extents, axis=0)

    def fold(self, step: Any, workers: Workers) -> Any:
        return self._executor.fold(partial(_fold_part, step), self._parts)

    @cached_property
    def whole(self) -> Rows:
        """All samples, or a stratified sample of ``PART_ROWS`` in which small classes have more than their share."""
        numbers = _draw(self._counts)
        drawn = [(part, chosen) for part, chosen in zip(self._parts, numbers, strict=True) if len(chosen)]
        samples = collect(self._executor, _take, *zip(*drawn, strict=True))
        X, codes, weights = (np.concatenate(arrays) for arrays in zip(*samples, strict=True))
        weights *= (self._counts.sum(axis=0) / np.bincount(codes, minlength=self.n_classes))[codes]
        return sort_by_class(X, codes, weights, self._shift, self.scale, n_classes=self.n_classes)


def _draw(counts: np.ndarray) -> list[np.ndarray]:
    """Draw at most ``PART_ROWS`` samples and return their numbers in each part.

    ``counts`` (P, L) are the samples of each class in each part. The samples of a class are divided into runs of equal length,
    and one is drawn from each run.
    """
    n, totals = counts.sum(), counts.sum(axis=0)
    least = PART_ROWS // (2 * len(totals))
    sizes = np.minimum(totals, np.maximum(least, (PART_ROWS - least * len(totals)) * totals // n))
    if n <= PART_ROWS:
        sizes = totals
    rng = np.random.default_rng(0)
    # First sample of each class in each part, and number of its samples in earlier parts.
    begins, before = np.cumsum(counts, axis=1) - counts, np.cumsum(counts, axis=0) - counts
    parts, numbers = [], []
    for c, (size, total) in enumerate(zip(sizes.tolist(), totals.tolist(), strict=True)):
        places = np.arange(size)
        if size < total:
            places = np.unique((places + rng.uniform(size=size)) * (total / size)).astype(np.intp)
            places = np.unique(places.clip(max=total - 1))
        parts.append(np.searchsorted(before[:, c], places, side="right") - 1)
        numbers.append(places - before[parts[-1], c] + begins[parts[-1], c])
    part, number = np.concatenate(parts), np.concatenate(numbers)
    return [number[part == p] for p in range(len(counts))]
