"""Training samples outside memory: Dask collections, and files that are read part by part.

A block is a part of the samples as the user gave them, and an executor (``_dask``, `FileReaders`) applies functions to blocks: before EM
to check and summarise them, for the moments of the features, for the sizes of classes, and for the samples that initialisations draw
from.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from skem.engine import rows as _rows
from skem.engine.masked import with_nan
from skem.engine.parts import PartsOutOfCore, collect, tree
from skem.engine.rows import Rows, feature_extremes, sort_by_class
from skem.engine.threads import Workers
from skem.estimators._checking import LEAST_WEIGHT, check_values, refuse_missing_labels
from skem.estimators._units import Moments, checked_moments, chosen_for_limits, robust_limits, winsorised

# Functions of a block


class SampleBlock(NamedTuple):
    """Consecutive samples, from number ``first`` on: features (n, M), and optionally labels (n,) and weights (n,)."""

    first: int
    X: np.ndarray
    labels: np.ndarray | None
    weights: np.ndarray | None


def check_length(values: Any, name: str, X: Any) -> None:
    if values.shape != (len(X),):
        raise ValueError(
            f"X has {len(X)} samples and {name} has shape {values.shape}; give {name} one value for each sample"
        )


Arrays = tuple[np.ndarray, np.ndarray | None, np.ndarray]
"""Features, labels or codes of classes, or None for unlabelled samples, and weights."""


def _arrays(block: SampleBlock, dtype: np.dtype) -> Arrays:
    X = np.asarray(with_nan(block.X)).astype(dtype, copy=False)
    labels = None if block.labels is None else column_or_1d(block.labels)
    weights = np.ones(len(X)) if block.weights is None else np.asarray(with_nan(block.weights), np.float64)
    return X, labels, weights


def _samples(
    block: SampleBlock,
    dtype: np.dtype,
    least_weight: float,
    classes: np.ndarray | None = None,
    mean_weight: float = 1.0,
) -> Arrays:
    """Return the samples of a block with weights above ``least_weight``; given ``classes``, labels become their indices."""
    X, labels, weights = _arrays(block, dtype)
    used = weights > least_weight
    if not used.all():
        X, labels, weights = X[used], None if labels is None else labels[used], weights[used]
    if classes is not None and labels is not None:
        labels = np.searchsorted(classes, labels)
    return X, labels, weights / mean_weight


def _summarise(block: SampleBlock, dtype: np.dtype, least_weight: float) -> tuple[Any, ...] | str | None:
    """Check a block, and summarise its samples that have a weight; None if no sample has one, and a str if the block is refused.

    The summary has the number of samples; total, smallest and largest weight; first sample; smallest and largest values of the
    features; classes.
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
    extremes = (feature_extremes(extreme, X) for extreme in (np.minimum, np.maximum))
    return *totals, X[0].copy(), *extremes, classes


def _check(block: SampleBlock, dtype: np.dtype) -> None:
    X, labels, weights = _arrays(block, dtype)
    check_array(
        weights, ensure_2d=False, ensure_non_negative=True, ensure_min_samples=0, input_name="sample_weight"
    )
    if labels is not None:
        refuse_missing_labels(block.labels, block.first)
        check_classification_targets(labels)
    check_values("X", X, missing=False)


def _measure(samples: Arrays, n_classes: int) -> tuple[Moments, np.ndarray]:
    X, codes, weights = samples
    spread = Moments.of(X, weights)
    return spread, np.zeros(0) if codes is None else np.bincount(codes, weights, n_classes)


def _chosen(samples: Arrays, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X, _, weights = samples
    return X[indices], weights[indices]


def _winsorise(samples: Arrays, limits: np.ndarray) -> Arrays:
    X, codes, weights = samples
    return winsorised(X, limits), codes, weights


def _part(samples: Arrays, shift: np.ndarray, scale: np.ndarray, n_classes: int, keep: bool) -> Rows:
    X, codes, weights = samples
    X = np.ascontiguousarray(X)
    return sort_by_class(X, codes, weights, shift, scale, n_classes=n_classes, keep=keep)


class OutOfCoreSamples:
    """Samples of a fit that have a weight, with the methods of samples in memory; ``blocks`` are references to `SampleBlock`.

    All types of features but float32 are converted to float64. ``name`` is that of the estimator.
    """

    incomplete = False  # missing values are refused

    def __init__(self, name: str, executor: Any, blocks: Sequence[Any], n_features: int, dtype: Any) -> None:
        self._name, self._executor, self.n_features = name, executor, n_features
        self._dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)
        blocks, mean_weight, smallest, largest = self._summarise(blocks, 0.0)
        least_weight = LEAST_WEIGHT * largest
        if smallest <= least_weight:
            blocks, mean_weight, *_ = self._summarise(blocks, least_weight)
        if not np.isfinite(mean_weight):
            raise ValueError(
                f"{name}: the sum of sample_weight exceeds float64; divide the weights by a constant"
            )
        samples = partial(_samples, dtype=self._dtype, least_weight=least_weight)
        self._samples = executor.apply(
            partial(samples, classes=self.classes, mean_weight=mean_weight), blocks
        )

    def _summarise(self, blocks: Sequence[Any], least_weight: float) -> tuple[list[Any], float, float, float]:
        """Set attributes of the samples with larger weights; return their blocks, and mean, least and largest weight."""
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
        self._sizes = sizes
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

    def limits(self) -> np.ndarray:
        chosen, ends = chosen_for_limits(self.n_samples), np.cumsum(self._sizes)
        within = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
        indices = [part - first for part, first in zip(within, ends - self._sizes, strict=True)]
        X, weights = map(
            np.concatenate, zip(*collect(self._executor, _chosen, self._samples, indices), strict=True)
        )
        return robust_limits(X, weights)

    def winsorised(self, limits: np.ndarray | None) -> OutOfCoreSamples:
        if limits is None:
            return self
        new = copy.copy(self)
        new.__dict__.pop("_measured", None)
        new._samples = self._executor.apply(partial(_winsorise, limits=limits), self._samples)
        extremes = winsorised(np.stack([*self._range, self._first_sample]), limits)
        new._range, new._first_sample = (extremes[0], extremes[1]), extremes[2]
        return new

    def total_weight(self) -> float:
        return self._measured[0].weight

    def class_weights(self) -> np.ndarray:
        return self._measured[1]

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        return self._range

    def parts(self, shift: np.ndarray, scale: np.ndarray) -> PartsOutOfCore:
        keep = self.n_samples * self.n_features * self._dtype.itemsize <= _rows.KEPT_BYTES
        part = partial(_part, shift=shift, scale=scale, n_classes=len(self.classes), keep=keep)
        parts = self._executor.keep(self._executor.apply(part, self._samples))
        return PartsOutOfCore(self._executor, parts, shift, scale)


class FileReaders:
    """Executor for files: threads of this process. A reference is a function that reads a block, which is dropped after its use."""

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

    def apply(
        self, function: Callable[..., Any], parts: Sequence[Any], *arguments: Sequence[Any]
    ) -> list[Any]:
        """References to ``function(part, ...)``."""

        def call(read: Callable[[], Any], *others: Any) -> Any:
            return function(read(), *others)

        return [partial(call, *values) for values in zip(parts, *arguments, strict=True)]

    def fold(self, function: Callable[..., Any], parts: Sequence[Any], *arguments: Sequence[Any]) -> Any:
        calls = self.apply(function, parts, *arguments)
        with Workers(self._n_jobs) as workers, workers.imap(operator.call, calls) as values:
            return tree(values)

    def keep(self, parts: list[Any]) -> list[Any]:
        """The parts as they are: files are read in each iteration."""
        return parts
