"""Training on files such as ``skem.datasets.ParquetRows``, which threads read block by block; loaded with the first file."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from skem.engine.parts import tree
from skem.engine.threads import Workers
from skem.estimators._out_of_core import SampleBlock, check_length

Function = Callable[..., Any]
Values = Sequence[Any]


class FileReaders:
    """Threads of this process. A reference is a function that reads a block, which is dropped after its use."""

    def __init__(self, n_jobs: int | None) -> None:
        self._n_jobs = n_jobs

    def blocks(self, X: Any, y: Any, sample_weight: Any) -> list[Any]:
        """References to the blocks of a file that are not empty."""
        ends = np.cumsum(X.block_sizes)
        columns = [X.read_block]
        for name, values in ("y", y), ("sample_weight", sample_weight):
            if values is None:
                columns.append(lambda number: None)
                continue
            values = values if hasattr(values, "read_block") else np.asarray(values)
            check_length(values, name, X)
            if isinstance(values, np.ndarray):
                columns.append(np.split(values, ends[:-1]).__getitem__)
            elif values.block_sizes == X.block_sizes:
                columns.append(values.read_block)
            else:
                raise ValueError(f"{name} has other row groups than X; read both from the same files")

        def read(number: int) -> SampleBlock:
            first = ends[number] - X.block_sizes[number]
            return SampleBlock(first, *(read_column(number) for read_column in columns))

        return [partial(read, number) for number, size in enumerate(X.block_sizes) if size]

    def apply(self, function: Function, parts: Values, *arguments: Values) -> list[Any]:
        """References to ``function(part, ...)``."""

        def call(read: Callable[[], Any], *others: Any) -> Any:
            return function(read(), *others)

        return [partial(call, *values) for values in zip(parts, *arguments, strict=True)]

    def fold(self, function: Function, parts: Values, *arguments: Values) -> Any:
        calls = self.apply(function, parts, *arguments)
        with Workers(self._n_jobs) as workers, workers.imap(operator.call, calls) as values:
            return tree(values)

    def keep(self, parts: list[Any]) -> list[Any]:
        """The parts as they are: files are read in each iteration."""
        return parts
