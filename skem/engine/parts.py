"""Training rows in parts: what maps over them, and in which order their sums are added.

A part is ``PART_ROWS`` consecutive rows, sorted by class among themselves. Sums of a part are those of its chunks, one after
the other; sums of parts are added in a fixed tree. So a fit has the same bits wherever the parts are and whoever works on
them: threads of this process, or workers of a cluster, which may die on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import groupby
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from skem.engine import rows as _rows
from skem.engine.far_rows import FarRows
from skem.engine.rows import CHUNK_ROWS, Chunk, Features, Reader, Rows, sort_by_class
from skem.engine.threads import Scratch, Workers, go_on, single_threaded

PART_ROWS = 24 * CHUNK_ROWS
"""Rows of a part, 73,728. A constant, so that results do not depend on how rows are stored."""

FAN_IN = 16
"""How many sums are added at a time."""

T = TypeVar("T")


def slices(n_rows: int) -> list[slice]:
    """Where the parts of so many rows are."""
    return [slice(start, min(start + PART_ROWS, n_rows)) for start in range(0, n_rows, PART_ROWS)]


def add(values: Sequence[Any]) -> Any:
    """The sum of one or more values, from left to right."""
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def tree(values: Iterable[T], combine: Callable[[Sequence[T]], T] = add) -> T:
    """All values combined in groups of ``FAN_IN`` consecutive ones, these again, and so on; few of them are kept."""
    levels: list[list[T]] = [[]]

    def put(value: T, level: int) -> None:
        if level == len(levels):
            levels.append([])
        levels[level].append(value)
        if len(levels[level]) == FAN_IN:
            put(combine(levels[level]), level + 1)
            levels[level] = []

    for value in values:
        put(value, 0)
    level = 0
    while level < len(levels) - 1 or len(levels[level]) > 1:
        if rest := levels[level]:
            levels[level] = []
            put(combine(rest), level + 1)
        level += 1
    return levels[level][0]


class Step(Protocol):
    """What is done to each part; it can be pickled, and holds no rows."""

    columns: np.ndarray
    dtype: np.dtype

    def chunks(self, rows: Rows) -> list[Chunk]: ...
    def of_chunk(self, rows: Rows, chunk: Chunk, read: Reader, scratch: Scratch) -> Any: ...
    def add(self, sums: Any, chunk: Chunk, added: Any) -> Any:
        """The sums so far, or None, with what a chunk comes to; both may be changed."""


def of_part(step: Step, rows: Rows) -> Any:
    """The sums of one part, by one thread."""
    scratch, read, sums = Scratch(), rows.features.reader(step.columns, step.dtype), None
    with single_threaded():
        for chunk in step.chunks(rows):
            go_on()
            sums = step.add(sums, chunk, step.of_chunk(rows, chunk, read, scratch))
    return sums


class Parts(Protocol):
    """The rows of a fit."""

    n_rows: int
    n_classes: int
    dtype: np.dtype
    scale: np.ndarray
    total_weight: float

    @property
    def extent(self) -> np.ndarray:
        """max_n |x_n| of each feature, shape (M,)."""

    @property
    def whole(self) -> Rows:
        """The rows that starts are drawn from: all of them, or a sample."""

    @property
    def only_part(self) -> Rows | None:
        """All rows, where they are in the memory of this process and few enough for one part."""

    @property
    def all_rows(self) -> Rows:
        """All rows, sorted by class, for what is not done part by part; ValueError where they are elsewhere."""

    def fold(self, step: Step, workers: Workers) -> Any:
        """The sums over all rows."""

    def far_rows(self, columns: np.ndarray, workers: Workers) -> FarRows: ...
    def at(self, columns: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]: ...


class Offsets:
    """Between the numbers of rows among all and those among the rows of their part."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)

    def split(self, numbers: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Each part that some rows, in order, are of, and their numbers there."""
        of_parts = np.searchsorted(self.first, numbers, side="right") - 1
        for part in np.unique(of_parts).tolist():
            yield part, numbers[of_parts == part] - self.first[part]


class PartsInMemory:
    """Rows that this process holds, or maps from a file; its threads share their chunks.

    Parameters
    ----------
    X : ndarray of shape (N, M)
    codes : ndarray of int, shape (N,), or None
        The class of each row, 0 to L - 1; None where all are of one class.
    weights : ndarray of shape (N,)
    shift, scale : ndarray of shape (M,)
    """

    def __init__(
        self,
        X: np.ndarray,
        codes: np.ndarray | None,
        weights: np.ndarray,
        shift: np.ndarray,
        scale: np.ndarray,
    ) -> None:
        self._data = X, codes, weights, shift, scale
        self.n_rows, self.dtype, self.scale = len(X), X.dtype, scale
        self.n_classes = 1 if codes is None else int(codes.max()) + 1
        keep = X.nbytes <= _rows.KEPT_BYTES
        self.parts = [
            sort_by_class(
                X[part],
                None if codes is None else codes[part],
                weights[part],
                shift,
                scale,
                n_classes=self.n_classes,
                keep=keep,
            )
            for part in slices(len(X))
        ]
        self.total_weight: float = tree(rows.total_weight for rows in self.parts)
        self._offsets = Offsets([len(rows.weights) for rows in self.parts])
        self._scratch, self._memory_of_readers = Scratch(), (Scratch(), Scratch())
        self._readers: dict[bytes, tuple[np.dtype, list[Reader]]] = {}
        self._far_rows: dict[bytes, FarRows] = {}

    @cached_property
    def whole(self) -> Rows:
        return self.parts[0] if len(self.parts) == 1 else sort_by_class(*self._data)

    @property
    def only_part(self) -> Rows | None:
        return self.parts[0] if len(self.parts) == 1 else None

    @property
    def all_rows(self) -> Rows:
        return self.whole

    @cached_property
    def extent(self) -> np.ndarray:
        return np.max([rows.features.extent for rows in self.parts], axis=0)

    def fold(self, step: Step, workers: Workers) -> Any:
        readers, scratch = self._readers_of(step), self._scratch
        if len(self.parts) == 1:  # with few rows, what parts take would be a twentieth of a pass
            rows, read, sums = self.parts[0], readers[0], None
            chunks = step.chunks(rows)
            with workers.imap(lambda chunk: step.of_chunk(rows, chunk, read, scratch), chunks) as added:
                for chunk, of_chunk in zip(chunks, added, strict=True):
                    sums = step.add(sums, chunk, of_chunk)
            return sums

        units = [
            (rows, chunk, read)
            for rows, read in zip(self.parts, readers, strict=True)
            for chunk in step.chunks(rows)
        ]

        def of_parts(added: Iterator[Any]) -> Iterator[Any]:
            results = zip(units, added, strict=True)
            for _, of_part in groupby(results, lambda result: id(result[0][0])):
                sums = None
                for (_, chunk, _), of_chunk in of_part:
                    sums = step.add(sums, chunk, of_chunk)
                yield sums

        with workers.imap(lambda unit: step.of_chunk(*unit, scratch), units) as added:
            return tree(of_parts(added))

    def _readers_of(self, step: Step) -> list[Reader]:
        """What reads the features of a step from each part; kept until they are asked for in another type."""
        key = step.columns.tobytes()
        kept = self._readers.get(key)
        if kept is None or kept[0] != step.dtype:
            readers = [
                rows.features.reader(step.columns, step.dtype, self._memory_of_readers) for rows in self.parts
            ]
            kept = self._readers[key] = step.dtype, readers
        return kept[1]

    def far_rows(self, columns: np.ndarray, workers: Workers) -> FarRows:
        if (key := columns.tobytes()) not in self._far_rows:
            extent = self.extent[columns, None]
            units = [
                (rows.features, chunk, int(first))
                for rows, first in zip(self.parts, self._offsets.first[:-1], strict=True)
                for chunk in rows.features.chunks
            ]

            def far(unit: tuple[Features, slice, int]) -> FarRows:
                features, chunk, first = unit
                return FarRows.of(features.read(columns, chunk), extent, first + chunk.start)

            self._far_rows[key] = FarRows.of_all(workers.map(far, units))
        return self._far_rows[key]

    def at(self, columns: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        found = [read_rows(self.parts[part], columns, numbers) for part, numbers in self._offsets.split(rows)]
        return np.hstack([x for x, _ in found]), np.concatenate([codes for _, codes in found])


def read_rows(rows: Rows, columns: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Some features, (m, n), and the classes of some rows of a part."""
    return rows.features.read(columns, numbers), rows.codes[numbers]


# Parts that are elsewhere


class Executor(Protocol):
    """What works on parts that are not in the memory of this process; it knows what ``parts`` are."""

    def map(self, function: Callable[..., T], parts: Sequence[Any], *arguments: Sequence[Any]) -> list[T]:
        """``function(part, ...)`` for each part, with its own ones of further arguments."""

    def fold(
        self, function: Callable[[Any], T], parts: Sequence[Any], combine: Callable[[Sequence[T]], T]
    ) -> T:
        """What `tree` makes of ``function(part)`` of all parts."""

    def keep(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
        """New parts, ``function(part)`` of each; kept where they are made, if there is room for them."""


class _Facts(NamedTuple):
    """What is known of a part."""

    borders: np.ndarray
    total_weight: float
    extent: np.ndarray
    dtype: np.dtype


def _facts(rows: Rows) -> _Facts:
    return _Facts(rows.borders, rows.total_weight, rows.features.extent, rows.features.X.dtype)


def _far_rows_of_part(rows: Rows, columns: np.ndarray, extent: np.ndarray) -> FarRows:
    features = rows.features
    return FarRows.of_all(
        FarRows.of(features.read(columns, chunk), extent, chunk.start) for chunk in features.chunks
    )


class PartsElsewhere:
    """Rows that an executor works on; what comes here are sums, and some rows: a sample to start from, and those to measure at.

    Parameters
    ----------
    executor : Executor
    parts : sequence
        Of `Rows`, as the executor has them; none is empty.
    shift, scale : ndarray of shape (M,)
    """

    def __init__(
        self, executor: Executor, parts: Sequence[Any], shift: np.ndarray, scale: np.ndarray
    ) -> None:
        self._executor, self._parts, self._shift, self.scale = executor, parts, shift, scale
        facts = executor.map(_facts, parts)
        self._borders = np.stack([of_part.borders for of_part in facts])
        self.n_classes = self._borders.shape[1] - 1
        self._offsets = Offsets(self._borders[:, -1].tolist())
        self.n_rows = int(self._offsets.first[-1])
        self.total_weight: float = tree(of_part.total_weight for of_part in facts)
        self.extent = np.max([of_part.extent for of_part in facts], axis=0)
        self.dtype = facts[0].dtype
        self._far_rows: dict[bytes, FarRows] = {}

    @property
    def counts(self) -> np.ndarray:
        """How many rows each class has, shape (L,)."""
        return np.diff(self._borders, axis=1).sum(axis=0)

    def fold(self, step: Step, workers: Workers) -> Any:
        return self._executor.fold(partial(of_part, step), self._parts, add)

    def far_rows(self, columns: np.ndarray, workers: Workers) -> FarRows:
        if (key := columns.tobytes()) not in self._far_rows:
            of_part = partial(_far_rows_of_part, columns=columns, extent=self.extent[columns, None])
            found = self._executor.map(of_part, self._parts)
            self._far_rows[key] = FarRows.of_all(
                of_part.moved(int(first))
                for of_part, first in zip(found, self._offsets.first[:-1], strict=True)
            )
        return self._far_rows[key]

    @property
    def only_part(self) -> Rows | None:
        return None

    @property
    def all_rows(self) -> Rows:
        raise ValueError("this takes rows in memory: give an array, not a Dask collection or files")

    def at(self, columns: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        which, numbers = zip(*self._offsets.split(rows), strict=True)
        parts = [self._parts[part] for part in which]
        found = self._executor.map(read_rows, parts, [columns] * len(parts), numbers)
        return np.hstack([x for x, _ in found]), np.concatenate([codes for _, codes in found])

    @cached_property
    def whole(self) -> Rows:
        """All rows, or a sample of ``PART_ROWS``: of each class as many as its share, but a few hundred of small ones."""
        drawn = _sample(np.diff(self._borders, axis=1))
        which, numbers = zip(*((p, n) for p, n in enumerate(drawn) if len(n)), strict=True)
        parts = [self._parts[part] for part in which]
        found = self._executor.map(rows_as_given, parts, numbers)
        X = np.concatenate([X for X, _, _ in found])
        weights = np.concatenate([weights for _, weights, _ in found])
        codes = np.concatenate([codes for _, _, codes in found])
        counts = np.bincount(codes, minlength=self.n_classes)
        weights *= (self.counts / counts)[codes]
        return sort_by_class(X, codes, weights, self._shift, self.scale, n_classes=self.n_classes)


def rows_as_given(rows: Rows, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some rows of a part, in input units, their weights and their classes."""
    features = rows.features
    X = features.X[numbers if features.order is None else features.order[numbers]]
    return X, rows.weights[numbers], rows.codes[numbers]


def _sample(counts: np.ndarray) -> list[np.ndarray]:
    """Which rows of each part to draw from ``counts`` (P, L) rows of each class in each part: at most ``PART_ROWS``.

    Those of a class are drawn one from each of equally long runs of its rows, at random.
    """
    n, totals = counts.sum(), counts.sum(axis=0)
    least = PART_ROWS // (2 * len(totals))
    sizes = np.minimum(totals, np.maximum(least, (PART_ROWS - least * len(totals)) * totals // n))
    if n <= PART_ROWS:
        sizes = totals
    rng = np.random.default_rng(0)
    begins = np.cumsum(counts, axis=1) - counts
    drawn: list[list[np.ndarray]] = [[] for _ in counts]
    for c, (size, total) in enumerate(zip(sizes.tolist(), totals.tolist(), strict=True)):
        places = np.arange(size)
        if size < total:
            places = np.unique((places + rng.uniform(size=size)) * (total / size)).astype(np.intp)
            places = np.unique(places.clip(max=total - 1))
        for part, numbers in Offsets(counts[:, c].tolist()).split(places):
            drawn[part].append(begins[part, c] + numbers)
    return [np.concatenate([*of_part, np.arange(0)]) for of_part in drawn]
