"""Dask collections: training on the workers of a cluster, or in Dask's threads, and lazy predictions.

The module is loaded with the first collection.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

import dask.array as da
import numpy as np
from dask import compute, delayed, persist
from dask.base import get_scheduler

from skem.engine.parts import PART_ROWS, add, tree
from skem.engine.threads import interruptible
from skem.estimators._checking import is_dask
from skem.estimators._out_of_core import SampleBlock, check_length

Function = Callable[..., Any]
Values = Sequence[Any]


class DaskWorkers:
    """Workers of the active Dask client, or else Dask's threads. A reference is a ``Delayed``."""

    def __init__(self, name: str) -> None:
        client = getattr(get_scheduler(), "__self__", None)
        self._client = client if hasattr(client, "run_on_scheduler") else None
        if self._client is not None:
            _refuse_other_versions(name, self._client)

    def blocks(self, X: da.Array, y: Any, sample_weight: Any) -> list[Any]:
        """References to the blocks of a collection, each as long as a part."""
        X = X.rechunk((PART_ROWS, -1))
        sizes = X.chunks[0]
        columns = [(np.cumsum(sizes) - sizes).tolist(), X.to_delayed()[:, 0]]
        for name, values in ("y", y), ("sample_weight", sample_weight):
            if values is None:
                columns.append([None] * len(sizes))
                continue
            column = dask_array(
                values if is_dask(values) else da.from_array(np.asarray(values), chunks=-1), name
            )
            check_length(column, name, X)
            columns.append(column.rechunk((sizes,)).to_delayed())
        return [delayed(SampleBlock)(*block) for block in zip(*columns, strict=True)]

    def apply(self, function: Function, parts: Values, *arguments: Values) -> list[Any]:
        """References to ``function(part, ...)``."""
        work = delayed(function, traverse=False)  # A task of its own, so that it is sent once.
        return [delayed(operator.call)(work, *call) for call in zip(parts, *arguments, strict=True)]

    def fold(self, function: Function, parts: Values, *arguments: Values) -> Any:
        return self._run(compute, tree(self.apply(function, parts, *arguments), delayed(add)))[0]

    def keep(self, parts: list[Any]) -> list[Any]:
        """References to the values of parts, in the memory of workers; Dask computes those of a worker that dies again."""
        return list(self._run(persist, *parts))

    @interruptible()
    def _run(self, function: Function, *tasks: Any) -> Any:
        gone = RuntimeError(
            "the Dask client went away during the fit, or its cluster was restarted: connect another client and fit again"
        )
        if self._client is not None and self._client.status != "running":
            raise gone
        try:
            return function(*tasks)
        except CancelledError as error:
            raise gone from error


def _refuse_other_versions(name: str, client: Any) -> None:
    """Raise RuntimeError if a worker, or the scheduler, has another version of skem, as installed, than this process."""
    found = client.get_versions(packages=["pskem"])
    if not found["workers"]:
        raise RuntimeError(f"{name}: the Dask cluster has no workers; start some, and fit again")
    places = {f"worker {address}": each for address, each in found["workers"].items()}
    expected = found["client"]["packages"]["pskem"]
    for place, each in (places | {"the scheduler": found["scheduler"]}).items():
        if (version := each["packages"]["pskem"]) != expected:
            raise RuntimeError(
                f"{name}: {place} has pskem {version} and this process {expected}; install the same package everywhere"
            )


def dask_array(values: Any, name: str) -> da.Array:
    """Convert a Dask array or frame to an array with known chunks; a single column of labels or weights has one dimension."""

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


# Predictions


def map_blocks(
    estimator: Any, method: str, X: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> da.Array:
    """Apply a method of an estimator, in its present state, to each block of a Dask collection, lazily."""
    model = copy.copy(estimator)
    few = X._meta_nonempty if hasattr(X, "_meta_nonempty") else np.zeros((1, X.shape[1]), X.dtype)
    example = _call_method(few, model, method, args, options)
    call = {"model": delayed(model, traverse=False), "method": method, "args": args, "options": options}
    call["empty"] = example[:0]
    like: dict[str, Any] = {"dtype": example.dtype, "meta": example[:0]}
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        shape = {"chunks": (X.chunks[0], example.shape[1:])} if example.ndim > 1 else {"drop_axis": 1}
        return X.map_blocks(_call_method, **call, **shape, **like)
    blocks = [delayed(_call_method)(block, **call) for block in X.to_delayed()]
    arrays = [da.from_delayed(block, (np.nan, *example.shape[1:]), **like) for block in blocks]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _call_method(
    X: Any,
    model: Any,
    method: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    empty: np.ndarray | None = None,
) -> np.ndarray:
    """The result of a block, which is ``empty`` for one without samples."""
    if empty is not None and not len(X):
        return empty
    return np.asarray(getattr(model, method)(X, *args, **options))
