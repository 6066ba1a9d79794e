"""Executors of training outside memory: they apply functions to blocks of samples on Dask's workers, or in threads that read files."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skem.engine.parts import PART_ROWS, add, tree
from skem.engine.threads import Workers, interruptible
from skem.estimators._checking import is_dask

if TYPE_CHECKING:
    import dask.array as da

Function = Callable[..., Any]
Values = Sequence[Any]


class Block(NamedTuple):
    """Consecutive samples, from number ``first`` on: features (n, M), and optionally labels (n,) and weights (n,)."""

    first: int
    X: np.ndarray
    labels: np.ndarray | None
    weights: np.ndarray | None


def _check_length(values: Any, name: str, X: Any) -> None:
    if values.shape != (len(X),):
        raise ValueError(
            f"X has {len(X)} samples and {name} has shape {values.shape}; give {name} one value for each sample"
        )


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
            _check_length(values, name, X)
            if isinstance(values, np.ndarray):
                columns.append(np.split(values, ends[:-1]).__getitem__)
            elif values.block_sizes == X.block_sizes:
                columns.append(values.read_block)
            else:
                raise ValueError(f"{name} has other row groups than X; read both from the same files")

        def read(number: int) -> Block:
            first = ends[number] - X.block_sizes[number]
            return Block(first, *(read_column(number) for read_column in columns))

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


class DaskWorkers:
    """Workers of the active Dask client, or else Dask's threads. A reference is a ``Delayed``.

    Parameters
    ----------
    name : str
        Name of the estimator.
    """

    def __init__(self, name: str) -> None:
        from dask.base import get_scheduler

        client = getattr(get_scheduler(), "__self__", None)
        self._client = client if hasattr(client, "run_on_scheduler") else None
        if self._client is not None:
            _refuse_other_versions(name, self._client)

    def blocks(self, X: da.Array, y: Any, sample_weight: Any) -> list[Any]:
        """References to the blocks of a collection, each as long as a part."""
        import dask.array as da
        from dask import delayed

        X = X.rechunk((PART_ROWS, -1))
        sizes = X.chunks[0]
        columns = [(np.cumsum(sizes) - sizes).tolist(), X.to_delayed()[:, 0]]
        for name, values in ("y", y), ("sample_weight", sample_weight):
            if values is None:
                columns.append([None] * len(sizes))
                continue
            column = dask_array(values if is_dask(values) else da.from_array(np.asarray(values)), name)
            _check_length(column, name, X)
            columns.append(column.rechunk((sizes,)).to_delayed())
        return [delayed(Block)(*block) for block in zip(*columns, strict=True)]

    def apply(self, function: Function, parts: Values, *arguments: Values) -> list[Any]:
        """References to ``function(part, ...)``."""
        from dask import delayed

        work = delayed(function, traverse=False)  # A task of its own, so that it is sent once.
        return [delayed(operator.call)(work, *call) for call in zip(parts, *arguments, strict=True)]

    def fold(self, function: Function, parts: Values, *arguments: Values) -> Any:
        from dask import compute, delayed

        return self._run(compute, tree(self.apply(function, parts, *arguments), delayed(add)))[0]

    def keep(self, parts: list[Any]) -> list[Any]:
        """References to the values of parts, in the memory of workers; Dask computes those of a worker that dies again."""
        from dask import persist

        return list(self._run(persist, *parts))

    @interruptible()
    def _run(self, compute: Function, *tasks: Any) -> Any:
        gone = RuntimeError(
            "the Dask client went away during the fit, or its cluster was restarted: connect another client and fit again"
        )
        if self._client is not None and self._client.status != "running":
            raise gone
        try:
            return compute(*tasks)
        except CancelledError as error:
            raise gone from error


def _refuse_other_versions(name: str, client: Any) -> None:
    """Raise RuntimeError if a worker, or the scheduler, has no skem or another version than this process."""

    def version() -> str:  # Pickled by value, because it also runs without skem.
        try:
            import skem
        except ImportError:
            return "no skem"
        return f"skem {skem.__version__}"

    versions = {f"worker {address}": found for address, found in client.run(version).items()}
    if not versions:
        raise RuntimeError(f"{name}: the Dask cluster has no workers; start some, and fit again")
    versions["the scheduler"] = client.run_on_scheduler(version)
    for place, found in versions.items():
        if found != version():
            raise RuntimeError(
                f"{name}: {place} has {found} and this process {version()}; install the same package everywhere"
            )


def dask_array(values: Any, name: str) -> da.Array:
    """Convert a Dask array or frame to an array with known chunks; a single column of labels or weights has one dimension."""
    import dask.array as da

    is_array = isinstance(values, da.Array)
    if not (is_array or hasattr(type(values), "to_dask_array")):
        raise ValueError(f"{name} must be a Dask array or data frame, got {type(values).__name__}")
    dtypes = np.atleast_1d(values.dtype if is_array else values._meta.dtypes)
    words = sorted({str(dtype) for dtype in dtypes if dtype.kind not in "biuf"})
    if name != "y" and words:
        raise ValueError(f"{name} must be numeric, got type {', '.join(words)}; select or encode the columns")
    if not is_array:
        if name == "y" and not isinstance(getattr(values, "dtype", None), np.dtype):
            values = values.astype(object)  # NumPy has no type for pandas' strings and categories.
        values = values.to_dask_array(lengths=True)
    if np.isnan([size for sizes in values.chunks for size in sizes]).any():
        raise ValueError(f"{name} has chunks of unknown sizes; call {name}.compute_chunk_sizes() first")
    return values[:, 0] if name != "X" and values.shape[1:] == (1,) else values
