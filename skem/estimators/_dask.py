"""Fits and predictions on Dask collections, with the active client, or else with Dask's threads.

Only this module imports Dask, and it is imported only when a collection is given.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, TypeVar

import dask
import dask.array as da
import numpy as np
from dask import delayed
from dask.sizeof import sizeof

import skem
from skem.engine.parts import FAN_IN, PART_ROWS, add
from skem.engine.rows import Rows
from skem.engine.threads import interruptible
from skem.estimators._blocks import Block, Source, is_dask

T = TypeVar("T")


@sizeof.register(Rows)
def _size_of_rows(rows: Rows) -> int:
    """Size in bytes; features count twice where the engine keeps a standardised copy."""
    return rows.features.X.nbytes * (2 if rows.features.keep else 1) + rows.weights.nbytes


# The executor


def _call(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)


@dataclass
class _Kept:
    """A part that workers hold, and the recipe to compute it again."""

    recipe: Any
    value: Any


class DaskExecutor:
    """Dask's workers, which hold the parts. If a worker dies, Dask computes its parts again."""

    RETRIES = 2
    """Number of times that work cancelled by Dask, as at the restart of a cluster, is started again."""

    def __init__(self) -> None:
        self._client = _client()

    def map(self, function: Callable[..., T], parts: Sequence[Any], *arguments: Sequence[Any]) -> list[T]:
        def calls() -> list[Any]:
            work = delayed(function, traverse=False)
            values = [_value(part) for part in parts]
            return [delayed(_call)(work, *call) for call in zip(values, *arguments, strict=True)]

        return self._compute(calls, parts)

    def fold(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> Any:
        def calls() -> list[Any]:
            work = delayed(function, traverse=False)
            level = [delayed(_call)(work, _value(part)) for part in parts]
            while len(level) > 1:
                groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
                level = [delayed(add)(group) if len(group) > 1 else group[0] for group in groups]
            return level

        return self._compute(calls, parts)[0]

    @interruptible()
    def keep(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
        work = delayed(function, traverse=False)
        recipes = [delayed(_call)(work, part) for part in parts]
        return [_Kept(*both) for both in zip(recipes, dask.persist(*recipes), strict=True)]

    @interruptible()
    def _compute(self, calls: Callable[[], list[Any]], parts: Sequence[Any]) -> list[Any]:
        for _ in range(self.RETRIES + 1):
            if self._gone():
                break
            try:
                return list(dask.compute(*calls()))
            except CancelledError:
                if self._gone():
                    break
                kept = [part for part in parts if isinstance(part, _Kept)]
                for part, value in zip(kept, dask.persist(*(part.recipe for part in kept)), strict=True):
                    part.value = value
        raise RuntimeError(
            "the Dask client went away during the fit, or its scheduler did: connect another client and fit again"
        )

    def _gone(self) -> bool:
        return self._client is not None and self._client.status != "running"


def _value(part: Any) -> Any:
    return part.value if isinstance(part, _Kept) else part


def _client() -> Any:
    """The client of Dask's computations, if it is one of ``distributed``."""
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    return client if hasattr(client, "run_on_scheduler") else None


def _refuse_other_versions(estimator: object) -> None:
    """Raise RuntimeError if a worker, or the scheduler, has no skem or another version than the client."""
    client = _client()
    if client is None:
        return

    def version() -> str | None:  # Pickled by value, because it also runs without skem.
        try:
            import skem
        except ImportError:
            return None
        return skem.__version__

    versions = {f"worker {address}": found for address, found in client.run(version).items()}
    if not versions:
        raise RuntimeError(f"{type(estimator).__name__}: the Dask cluster has no workers")
    versions["the scheduler"] = client.run_on_scheduler(version)
    for whose, found in versions.items():
        if found != skem.__version__:
            there = "no skem" if found is None else f"skem {found}"
            raise RuntimeError(
                f"{type(estimator).__name__}: {whose} has {there} and this process skem {skem.__version__}: install the same "
                "package everywhere"
            )


# Collections


def source(estimator: object, X: Any, y: Any, sample_weight: Any) -> Source:
    """The blocks of a collection, each as long as a part.

    Raises
    ------
    ValueError
        Unknown chunk sizes; numbers of rows that differ; collections that are no tables of numbers.
    RuntimeError
        Workers without this package, or with another version.
    """
    _refuse_other_versions(estimator)
    names = X._meta
    X = _as_array(X, "X", 2)
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: there is nothing to learn from")
    columns = [_aligned(y, "y", X), _aligned(sample_weight, "sample_weight", X)]
    X = X.rechunk((PART_ROWS, -1))
    parts = [X.to_delayed()[:, 0]]
    for column in columns:
        n = len(parts[0])
        parts.append([None] * n if column is None else column.rechunk((X.chunks[0],)).to_delayed())
    blocks = [delayed(Block)(*block) for block in zip(*parts, strict=True)]
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    return Source(
        DaskExecutor(), blocks, list(X.chunks[0]), X.shape[1], dtype, names, sample_weight is not None
    )


def _as_array(collection: Any, name: str, ndim: int) -> da.Array:
    """A Dask array or frame as an array with known chunks."""
    if not isinstance(collection, da.Array):
        if not hasattr(collection, "to_dask_array"):
            raise ValueError(f"{name} must be a Dask array or data frame, got {type(collection).__name__}")
        kinds = {str(dtype) for dtype in np.atleast_1d(collection._meta.dtypes) if dtype.kind not in "biuf"}
        if name == "X" and kinds:
            raise ValueError(f"X has columns that are no numbers, of type {', '.join(sorted(kinds))}")
        if name == "y" and not isinstance(getattr(collection, "dtype", None), np.dtype):
            collection = collection.astype(object)  # NumPy has no type for pandas' strings and categories.
        collection = collection.to_dask_array(lengths=True)
    if np.isnan([size for sizes in collection.chunks for size in sizes]).any():
        raise ValueError(f"{name} has chunks of unknown sizes: call {name}.compute_chunk_sizes() first")
    if name != "X" and collection.ndim == 2 and collection.shape[1] == 1:
        collection = collection[:, 0]
    if collection.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimensions, got shape {collection.shape}")
    if name != "y" and collection.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got {collection.dtype}")
    return collection


def _aligned(column: Any, name: str, X: da.Array) -> da.Array | None:
    """Labels or weights as an array with a value for each sample of ``X``."""
    if column is None:
        return None
    if not is_dask(column):
        column = da.from_array(np.asarray(column), chunks=PART_ROWS)
    column = _as_array(column, name, 1)
    if len(column) != len(X):
        raise ValueError(
            f"X has {len(X)} rows and {name} has {len(column)}: they do not belong to each other"
        )
    return column


# Predictions


def map_rows(estimator: Any, method: str, X: Any, *args: Any, **kwargs: Any) -> da.Array:
    """Apply a method of an estimator, in its present state, to each block of samples, lazily."""
    model = copy.copy(estimator)
    few = X._meta_nonempty if hasattr(X, "_meta_nonempty") else np.zeros((1, X.shape[1]), X.dtype)
    example = np.asarray(getattr(model, method)(few, *args, **kwargs))
    call = {"method": method, "model": delayed(model, traverse=False), "args": args, "options": kwargs}
    meta = example[:0]
    if isinstance(X, da.Array):
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        shape: dict[str, Any] = {"drop_axis": 1}
        if example.ndim > 1:
            shape = {"chunks": (X.chunks[0], example.shape[1:])}
        return X.map_blocks(_of_block, **call, **shape, dtype=example.dtype, meta=meta)
    blocks = [delayed(_of_block)(block, **call) for block in X.to_delayed()]
    unknown = (np.nan, *example.shape[1:])
    arrays = [da.from_delayed(block, unknown, dtype=example.dtype, meta=meta) for block in blocks]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _of_block(X: Any, method: str, model: Any, args: tuple, options: dict[str, Any]) -> np.ndarray:
    return getattr(model, method)(X, *args, **options)
