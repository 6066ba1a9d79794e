"""Training samples outside memory: Dask collections, and files that are read part by part.

A block is a part of the samples as the user gave them. An executor applies functions to blocks where these are: on Dask's workers,
or in threads that read a file. Before EM it does so to check and summarise blocks, for the moments of the features, for the
sizes of classes, and for the samples that initialisations draw from.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names, column_or_1d

from skem.engine import rows as _rows
from skem.engine.masked import refuse_masked, with_nan
from skem.engine.parts import PART_ROWS, PartsOutOfCore, add, collect, tree
from skem.engine.rows import Rows, sort_by_class
from skem.engine.threads import Workers, interruptible
from skem.estimators._checking import LEAST_WEIGHT, is_dask, is_out_of_core, refuse_missing_labels
from skem.estimators._units import Moments, checked_moments

if TYPE_CHECKING:
    import dask.array as da

__all__ = ["OutOfCoreSamples", "is_out_of_core", "map_blocks", "out_of_core_samples"]

Function = Callable[..., Any]
Values = Sequence[Any]
Method = TypeVar("Method", bound=Function)


def out_of_core_samples(estimator: Any, X: Any, y: Any, sample_weight: Any) -> OutOfCoreSamples:
    """Check the samples of a fit; ``y`` is None for unlabelled samples.

    Raises
    ------
    ValueError
        NaN or infinite features, by part and row; collections of different or unknown sizes; labels that are no classes; weights
        that are negative or all zero.
    RuntimeError
        Dask workers without this package, or with another version.
    """
    refuse_masked("y", y)
    refuse_masked("sample_weight", sample_weight)
    name = type(estimator).__name__
    executor: DaskWorkers | FileReaders
    if is_dask(X):
        executor, table = DaskWorkers(name), getattr(X, "_meta", None)
        X = _dask_array(X, "X")
    else:
        executor, table = FileReaders(estimator.n_jobs), X.empty_table
    if len(X.shape) != 2 or 0 in X.shape:
        raise ValueError(f"X must have samples and features, got shape {X.shape}")
    _check_feature_names(estimator, table, reset=True)
    estimator.n_features_in_ = X.shape[1]
    return OutOfCoreSamples(name, executor, executor.blocks(X, y, sample_weight), X.shape[1], X.dtype)


def _check_length(values: Any, name: str, X: Any) -> None:
    if values.shape != (len(X),):
        raise ValueError(
            f"X has {len(X)} samples and {name} has shape {values.shape}; give {name} one value for each sample"
        )


# Functions of a block


class Block(NamedTuple):
    """Consecutive samples, from number ``first`` on: features (n, M), and optionally labels (n,) and weights (n,)."""

    first: int
    X: np.ndarray
    labels: np.ndarray | None
    weights: np.ndarray | None


Samples = tuple[np.ndarray, np.ndarray | None, np.ndarray]
"""Features, labels or codes of classes, or None for unlabelled samples, and weights."""


def _arrays(block: Block, dtype: np.dtype) -> Samples:
    X = np.asarray(with_nan(block.X)).astype(dtype, copy=False)
    labels = None if block.labels is None else column_or_1d(block.labels)
    weights = np.ones(len(X)) if block.weights is None else np.asarray(with_nan(block.weights), np.float64)
    return X, labels, weights


def _samples(
    block: Block,
    dtype: np.dtype,
    least_weight: float,
    classes: np.ndarray | None = None,
    mean_weight: float = 1.0,
) -> Samples:
    """Return the samples of a block with weights above ``least_weight``; given ``classes``, labels become their indices."""
    X, labels, weights = _arrays(block, dtype)
    used = weights > least_weight
    if not used.all():
        X, labels, weights = X[used], None if labels is None else labels[used], weights[used]
    if classes is not None and labels is not None:
        labels = np.searchsorted(classes, labels)
    return X, labels, weights / mean_weight


def _summarise(block: Block, dtype: np.dtype, least_weight: float) -> tuple[Any, ...] | str | None:
    """Check a block, and summarise its samples that have a weight.

    Returns
    -------
    tuple, or str, or None
        Number of samples; total, smallest and largest weight; first sample; smallest and largest values of the features; classes.
        None if no sample has a weight. If the block is refused, the reason.
    """
    try:
        _check(block, dtype)
        X, labels, weights = _samples(block, dtype, least_weight)
        classes = np.zeros(0) if labels is None else np.unique(labels)
    except (TypeError, ValueError) as error:
        return f"rows {block.first} to {block.first + len(block.X) - 1}: {error}"
    if not len(X):
        return None
    totals = len(X), weights.sum(), weights.min(), weights.max()
    return *totals, X[0].copy(), X.min(axis=0), X.max(axis=0), classes


def _check(block: Block, dtype: np.dtype) -> None:
    X, labels, weights = _arrays(block, dtype)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = wrong.argmax()
        raise ValueError(
            f"sample_weight {weights[row]} in row {block.first + row}; weights must be finite and not negative"
        )
    if labels is not None:
        refuse_missing_labels(block.labels, block.first)
        check_classification_targets(labels)
    finite = np.isfinite(X)
    if not finite.all():
        n_missing, row = np.isnan(X).sum(), finite.all(axis=1).argmin()
        raise ValueError(
            f"X has {n_missing} NaN and {(~finite).sum() - n_missing} infinite values, the first in row {block.first + row}; "
            "samples outside memory must be finite: leave these out, or fill in their values"
        )


def _measure(samples: Samples, n_classes: int) -> tuple[Moments, np.ndarray]:
    """Return the moments of the features, and the total weight of each class."""
    X, codes, weights = samples
    spread = Moments.of(np.ascontiguousarray(X), weights)
    return spread, np.zeros(0) if codes is None else np.bincount(codes, weights, n_classes)


def _part(samples: Samples, shift: np.ndarray, scale: np.ndarray, n_classes: int, keep: bool) -> Rows:
    """Sort samples by class."""
    X, codes, weights = samples
    X = np.ascontiguousarray(X)
    return sort_by_class(X, codes, weights, shift, scale, n_classes=n_classes, keep=keep)


class OutOfCoreSamples:
    """Samples of a fit that have a weight, with the methods of samples in memory.

    Parameters
    ----------
    name : str
        Name of the estimator.
    executor : DaskWorkers or FileReaders
    blocks : sequence
        The executor's references to `Block`.
    n_features : int
    dtype : numpy dtype
        Type of the features; all but float32 are converted to float64.
    """

    incomplete = False  # missing values are refused

    def __init__(
        self, name: str, executor: DaskWorkers | FileReaders, blocks: Values, n_features: int, dtype: Any
    ) -> None:
        self._name, self._executor, self.n_features = name, executor, n_features
        self._dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)
        blocks, mean_weight, smallest, largest = self._summarise(blocks, 0.0)
        least_weight = LEAST_WEIGHT * largest
        if smallest <= least_weight:
            classes = self.classes
            blocks, mean_weight, *_ = self._summarise(blocks, least_weight)
            lost = np.setdiff1d(classes, self.classes).tolist()
            if lost:
                raise ValueError(
                    f"{name}: no sample of class {lost[0]!r} has a sample_weight above {LEAST_WEIGHT:g} of the largest; "
                    "increase these weights, or set them to zero to leave the class out"
                )
        if not np.isfinite(mean_weight):
            raise ValueError(
                f"{name}: the sum of sample_weight exceeds float64; divide the weights by a constant"
            )
        samples = partial(_samples, dtype=self._dtype, least_weight=least_weight)
        self._samples = executor.apply(
            partial(samples, classes=self.classes, mean_weight=mean_weight), blocks
        )

    def _summarise(self, blocks: Values, least_weight: float) -> tuple[list[Any], float, float, float]:
        """Set attributes of the samples with larger weights.

        Returns
        -------
        blocks : list
            Blocks with such samples.
        mean_weight, smallest_weight, largest_weight : float
        """
        summarise = partial(_summarise, dtype=self._dtype, least_weight=least_weight)
        summaries = collect(self._executor, summarise, blocks)
        for number, fault in enumerate(summaries):
            if isinstance(fault, str):
                raise ValueError(f"{self._name}: part {number} of the training data, {fault}")
        used = [(block, *summary) for block, summary in zip(blocks, summaries, strict=True) if summary]
        if not used:
            raise ValueError(
                f"{self._name}: sample_weight is zero for all samples; give at least one a weight"
            )
        found, sizes, totals, smallest, largest, first, lowest, highest, classes = zip(*used, strict=True)
        self.n_samples, self.classes = sum(sizes), np.unique(np.concatenate(classes))
        self._first_sample, self._range = first[0], (np.min(lowest, axis=0), np.max(highest, axis=0))
        return list(found), tree(totals) / self.n_samples, min(smallest), max(largest)

    @cached_property
    def _measured(self) -> tuple[Moments, np.ndarray]:
        """The moments of the features, and the total weight of each class."""
        measure = partial(_measure, n_classes=len(self.classes))
        spreads, class_weights = zip(*collect(self._executor, measure, self._samples), strict=True)
        return tree(spreads, Moments.combined), tree(class_weights)

    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return checked_moments(self._measured[0], self._first_sample, self._dtype, self.range)

    def total_weight(self) -> float:
        return self._measured[0].weight

    def class_weights(self) -> np.ndarray:
        """Total weight of each class, shape (L,)."""
        return self._measured[1]

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        return self._range

    def parts(self, shift: np.ndarray, scale: np.ndarray) -> PartsOutOfCore:
        """The samples as the engine reads them."""
        keep = self.n_samples * self.n_features * self._dtype.itemsize <= _rows.KEPT_BYTES
        part = partial(_part, shift=shift, scale=scale, n_classes=len(self.classes), keep=keep)
        parts = self._executor.keep(self._executor.apply(part, self._samples))
        return PartsOutOfCore(self._executor, parts, shift, scale)


# Files


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


# Dask, which is imported for a collection only


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
            column = _dask_array(values if is_dask(values) else da.from_array(np.asarray(values)), name)
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


def _dask_array(values: Any, name: str) -> da.Array:
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


def map_blocks(
    estimator: Any, method: str, X: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> da.Array:
    """Apply a method of an estimator, in its present state, to each block of a Dask collection, lazily."""
    import dask.array as da
    from dask import delayed

    model = copy.copy(estimator)
    few = X._meta_nonempty if hasattr(X, "_meta_nonempty") else np.zeros((1, X.shape[1]), X.dtype)
    example = _call_method(few, model, method, args, options)
    call = {"model": delayed(model, traverse=False), "method": method, "args": args, "options": options}
    like: dict[str, Any] = {"dtype": example.dtype, "meta": example[:0]}
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        shape = {"chunks": (X.chunks[0], example.shape[1:])} if example.ndim > 1 else {"drop_axis": 1}
        return X.map_blocks(_call_method, **call, **shape, **like)
    blocks = [delayed(_call_method)(block, **call) for block in X.to_delayed()]
    arrays = [da.from_delayed(block, (np.nan, *example.shape[1:]), **like) for block in blocks]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _call_method(
    X: Any, model: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]
) -> np.ndarray:
    return np.asarray(getattr(model, method)(X, *args, **options))
