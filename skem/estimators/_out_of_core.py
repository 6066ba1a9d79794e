"""Training samples outside memory: Dask collections, and files that are read part by part.

An ``Executor`` of the engine reads blocks of samples, one for each part. Before EM it reads them three times: for values and
classes, for the moments of the features, and for the parts themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names, _check_n_features, column_or_1d

from skem.engine import rows as _rows
from skem.engine.masked import refuse_masked, with_nan
from skem.engine.parts import PartsOutOfCore, add, tree
from skem.engine.rows import Rows, sort_by_class
from skem.estimators._blocks import Block, Source, is_dask
from skem.estimators._checking import LEAST_WEIGHT, refuse_missing_labels
from skem.estimators._units import Spread, checked_moments

Method = TypeVar("Method", bound=Callable[..., Any])


def by_blocks(method: Method) -> Method:
    """Decorator of a method with a result per sample: it is lazy for a Dask collection."""

    @wraps(method)
    def of_any(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_dask(X):
            return method(self, X, *args, **kwargs)
        from skem.estimators import _dask

        return _dask.map_rows(self, method.__name__, X, *args, **kwargs)

    return of_any  # type: ignore[return-value]


def out_of_core_rows(estimator: object, X: Any, y: Any, sample_weight: Any) -> OutOfCoreRows:
    """Read the samples of a fit once; ``y`` is None for unlabelled samples.

    Raises
    ------
    ValueError
        NaN or infinite features, by part and row; collections of different or unknown sizes; labels that are no classes; weights
        that are negative or all zero.
    """
    refuse_masked("y", y)
    refuse_masked("sample_weight", sample_weight)
    if is_dask(X):
        from skem.estimators import _dask

        source = _dask.source(estimator, X, y, sample_weight)
    else:
        from skem.estimators import _files_of_rows

        source = _files_of_rows.source(estimator, X, y, sample_weight)
    _check_feature_names(estimator, source.names, reset=True)
    _check_n_features(estimator, np.empty((1, source.n_features)), reset=True)
    return OutOfCoreRows(type(estimator).__name__, source)


# Computations on a block


@dataclass(frozen=True)
class _Summary:
    """The values of a block, or in ``fault`` the reason to refuse them."""

    fault: str
    lowest: np.ndarray
    highest: np.ndarray
    first_row: np.ndarray
    labels: np.ndarray
    largest_weight: float


def _summary(block: Block, first: int, dtype: np.dtype) -> _Summary:
    X = np.asarray(with_nan(block.X))
    weights = np.ones(1) if block.weights is None else np.asarray(with_nan(block.weights))
    labels, fault = np.zeros(0), _fault_of_weights(weights, first)
    if not fault:
        try:
            X = X.astype(dtype, copy=False)
            if block.labels is not None:
                refuse_missing_labels(block.labels, first)
                labels = column_or_1d(block.labels)
                check_classification_targets(labels)
                labels = np.unique(labels[np.broadcast_to(weights > 0, labels.shape)])
        except (TypeError, ValueError) as error:
            fault = str(error)
    if not fault:
        finite = np.isfinite(X)
        if not finite.all():
            row = first + int(np.flatnonzero(~finite.all(axis=1))[0])
            nan = int(np.isnan(X).sum())
            infinite = X.size - nan - int(finite.sum())
            fault = f"{nan} NaN and {infinite} infinity values, the first of them in row {row}"
    if fault:
        nothing = np.zeros(0)
        return _Summary(fault, nothing, nothing, nothing, nothing, 0.0)
    return _Summary("", X.min(axis=0), X.max(axis=0), X[0].copy(), labels, float(weights.max()))


def _fault_of_weights(weights: np.ndarray, first: int) -> str:
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if not wrong.any():
        return ""
    row = int(np.flatnonzero(wrong)[0])
    return f"sample_weight {weights[row]} in row {first + row}, which has to be a number from zero on"


@dataclass(frozen=True)
class _Model:
    """Conversion of the samples of a block to those of a part.

    Attributes
    ----------
    dtype : numpy dtype
    classes : ndarray of shape (L,), or None
    least_weight : float
        Sample weight up to which a sample is left out.
    mean_weight : float
    """

    dtype: np.dtype
    classes: np.ndarray | None
    least_weight: float = -np.inf
    mean_weight: float = 1.0

    def used(self, block: Block) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """The samples of a block that have a weight: features, class codes, and weights."""
        X, codes = np.asarray(block.X).astype(self.dtype, copy=False), None
        weights = np.ones(len(X))
        labels = None if block.labels is None else column_or_1d(block.labels)
        if block.weights is not None:
            weights = np.asarray(block.weights, dtype=np.float64)
            used = weights > self.least_weight
            if not used.all():
                X, weights = X[used], weights[used]
                labels = None if labels is None else labels[used]
            weights = weights / self.mean_weight
        if labels is not None and self.classes is not None:
            codes = np.searchsorted(self.classes, labels)
        return X, codes, weights


def _weight(block: Block, model: _Model) -> tuple[int, float]:
    """The number of samples of a block that have a weight, and the sum of their weights."""
    weights = model.used(block)[2]
    return len(weights), float(weights.sum())


def _spread(block: Block, model: _Model) -> tuple[Spread, np.ndarray]:
    """The moments of the features of a block, and the total weight of each class."""
    X, codes, weights = model.used(block)
    n_classes = 1 if model.classes is None else len(model.classes)
    if codes is None:
        codes = np.zeros(len(X), dtype=np.intp)
    return Spread.of(np.ascontiguousarray(X), weights), np.bincount(
        codes, weights=weights, minlength=n_classes
    )


def _part(block: Block, model: _Model, shift: np.ndarray, scale: np.ndarray, keep: bool) -> Rows:
    """A block as a part of the samples, sorted by class."""
    X, codes, weights = model.used(block)
    n_classes = None if model.classes is None else len(model.classes)
    return sort_by_class(
        np.ascontiguousarray(X), codes, weights, shift, scale, n_classes=n_classes, keep=keep
    )


class OutOfCoreRows:
    """The samples of a fit that have a weight, with the methods of ``LabelledRows``.

    Parameters
    ----------
    name : str
        Name of the estimator.
    source : Source
    """

    def __init__(self, name: str, source: Source) -> None:
        self._name, self._source, self._executor = name, source, source.executor
        self._blocks = list(source.blocks)
        firsts = (np.cumsum(source.sizes) - source.sizes).tolist()
        self._summaries = self._executor.map(partial(_summary, dtype=source.dtype), self._blocks, firsts)
        for number, (summary, first, size) in enumerate(
            zip(self._summaries, firsts, source.sizes, strict=True)
        ):
            if summary.fault:
                raise ValueError(
                    f"{name}: part {number} of the training data, rows {first} to {first + size - 1}: {summary.fault}"
                )
        self.n_rows, self.n_features = sum(source.sizes), source.n_features
        self.classes = np.unique(np.concatenate([summary.labels for summary in self._summaries]))
        self._model = _Model(source.dtype, self.classes if len(self.classes) else None)
        if source.weighted:
            self._weigh()

    def _weigh(self) -> None:
        """Leave out samples without weight, and scale the other weights to a mean of one."""
        largest = max(summary.largest_weight for summary in self._summaries)
        if largest == 0:
            raise ValueError(f"{self._name}: sample_weight is zero in all rows")
        model = _Model(self._model.dtype, self._model.classes, LEAST_WEIGHT * largest)
        counted = self._executor.map(partial(_weight, model=model), self._blocks)
        self._blocks = [block for block, (n, _) in zip(self._blocks, counted, strict=True) if n]
        self.n_rows = sum(n for n, _ in counted)
        mean = tree(weight for n, weight in counted if n) / self.n_rows
        if not np.isfinite(mean):
            raise ValueError(f"{self._name}: the sum of sample_weight is too large for float64")
        self._model = _Model(model.dtype, model.classes, model.least_weight, mean)

    @cached_property
    def _spread(self) -> tuple[Spread, np.ndarray]:
        def both(parts: Sequence[tuple[Spread, np.ndarray]]) -> tuple[Spread, np.ndarray]:
            return Spread.of_all([spread for spread, _ in parts]), add([weights for _, weights in parts])

        return tree(self._executor.map(partial(_spread, model=self._model), self._blocks), both)

    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return checked_moments(self._spread[0], self._summaries[0].first_row, self._source.dtype, self.range)

    def total_weight(self) -> float:
        return self._spread[0].weight

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        lowest = np.min([summary.lowest for summary in self._summaries], axis=0)
        return lowest, np.max([summary.highest for summary in self._summaries], axis=0)

    def class_weights(self) -> np.ndarray:
        """The total weight of each class, shape (L,)."""
        lost = self.classes[self._spread[1] == 0].tolist()
        if lost:
            raise ValueError(
                f"sample_weight: no row of class {lost[0]!r} has more than {LEAST_WEIGHT:g} of the largest weight, "
                "too little to learn from: give its rows more weight, or none"
            )
        return self._spread[1]

    def parts(self, shift: np.ndarray, scale: np.ndarray) -> PartsOutOfCore:
        """The samples as the engine reads them."""
        size = self.n_rows * self.n_features * self._source.dtype.itemsize
        keep = size <= _rows.KEPT_BYTES
        part = partial(_part, model=self._model, shift=shift, scale=scale, keep=keep)
        return PartsOutOfCore(self._executor, self._executor.keep(part, self._blocks), shift, scale)
