"""Fits on files that are read again in each iteration, such as ``skem.datasets.ParquetRows``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from skem.engine.parts import tree
from skem.engine.threads import Workers
from skem.estimators._blocks import Block, Source

T = TypeVar("T")
Load = Callable[[], Any]


class FileExecutor:
    """Threads of this process; a reference to a part is a function that reads it, and each part is dropped after its use."""

    def __init__(self, n_jobs: int | None) -> None:
        self._n_jobs = n_jobs

    def map(self, function: Callable[..., T], parts: Sequence[Load], *arguments: Sequence[Any]) -> list[T]:
        def call(of_part: tuple[Any, ...]) -> T:
            load, *rest = of_part
            return function(load(), *rest)

        with Workers(self._n_jobs) as workers:
            return workers.map(call, list(zip(parts, *arguments, strict=True)))

    def fold(self, function: Callable[[Any], Any], parts: Sequence[Load]) -> Any:
        with (
            Workers(self._n_jobs) as workers,
            workers.imap(lambda load: function(load()), parts) as results,
        ):
            return tree(results)

    def keep(self, function: Callable[[Any], Any], parts: Sequence[Load]) -> list[Load]:
        return [partial(_load, function, load) for load in parts]


def _load(function: Callable[[Any], Any], load: Load) -> Any:
    return function(load())


def source(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Source:
    """The blocks of a file.

    Raises
    ------
    ValueError
        Labels or weights for another number of samples, or in other blocks.
    """
    if len(X.shape) != 2 or 0 in X.shape:
        raise ValueError(f"X must have rows and columns, got shape {X.shape}")
    sizes = list(X.block_sizes)
    columns = [_column(y, "y", X), _column(sample_weight, "sample_weight", X)]

    def block(number: int) -> Block:
        return Block(
            X.read_block(number), *(None if column is None else column(number) for column in columns)
        )

    blocks = [partial(block, number) for number, size in enumerate(sizes) if size]
    return Source(
        FileExecutor(estimator.n_jobs),
        blocks,
        [size for size in sizes if size],
        X.shape[1],
        X.dtype,
        X.empty_table,
        sample_weight is not None,
    )


def _column(values: Any, name: str, X: Any) -> Callable[[int], np.ndarray] | None:
    """A function that reads the labels or weights of a block of ``X``."""
    if values is None:
        return None
    if not hasattr(values, "read_block"):
        values = np.asarray(values)
    if values.shape != (len(X),):
        raise ValueError(f"{name} must have shape ({len(X)},), as X has so many rows, got {values.shape}")
    if isinstance(values, np.ndarray):
        first = np.cumsum(X.block_sizes) - X.block_sizes
        array = values
        return lambda block: array[first[block] : first[block] + X.block_sizes[block]]
    if list(values.block_sizes) != list(X.block_sizes):
        raise ValueError(f"{name} has other row groups than X: read both from the same files")
    return values.read_block
