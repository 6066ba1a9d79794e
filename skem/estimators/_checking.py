"""Checks of parameters, features, labels and sample weights."""

from __future__ import annotations

import re
import sys
from datetime import date, time, timedelta
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from skem.engine.given_start import checked_array
from skem.engine.masked import refuse_masked, with_nan
from skem.engine.parameters import LARGEST_INTEGER
from skem.engine.parts import slices, tree
from skem.estimators._array_api import device_of
from skem.estimators._sklearn import Interval

LEAST_WEIGHT = 1e-30
"""Share of the largest sample weight up to which a sample counts as one without weight: float32 still holds the square root of
this share, times the responsibility of a component."""


LARGEST_VARIANCE = 1e100
"""Bound of parameters that are variances: products of a variance with squares of features stay finite below it."""


def integers(least: int | None = None) -> Interval:
    """Constraint on a parameter: an integer from ``least`` to ``LARGEST_INTEGER``."""
    return Interval(Integral, least, LARGEST_INTEGER, closed="right" if least is None else "both")


def numbers(least: float, below: float | None = None, *, closed: str = "left") -> Interval:
    """Constraint on a parameter: a number in an interval, by default from ``least`` on."""
    return Interval(Real, least, below, closed=closed)


def check_features(
    estimator: Any, X: ArrayLike, *, missing: bool = False, empty_rows: bool = False, **check: object
) -> Any:
    """Features as an array of float32 or float64; with ``y`` among the checks, a pair with the labels.

    NaN, and a masked entry, is an error unless ``missing``; so are samples without any value unless ``empty_rows``. Further
    ``check`` are options of ``sklearn.utils.validation.validate_data``. Errors name columns of text, dates or other objects.
    """
    refuse_out_of_core(estimator, X)
    refuse_device(estimator, X)
    name = f"Input X of {type(estimator).__name__}"
    if not missing:
        refuse_masked(name, X)
    X = with_nan(X)
    if check.get("y") is not None:
        refuse_missing_labels(check["y"])
    try:
        checked = validate_data(
            estimator, X, dtype=[np.float64, np.float32], ensure_all_finite=False, **check
        )
    except (TypeError, ValueError):  # NumPy's promotion of dates is a TypeError
        raise_if_not_numbers(X)
        raise
    if _has_dates(X):  # these become numbers of nanoseconds
        raise_if_not_numbers(X)
    features = checked[0] if "y" in check else checked
    check_values(name, features, missing=missing, empty_rows=empty_rows)
    return checked


def check_values(name: str, X: np.ndarray, *, missing: bool, empty_rows: bool = False) -> None:
    """Raise ValueError for infinite values, and for missing ones unless these are allowed."""
    # The sum is finite only if all values are. If it overflows, they are counted.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return
    nan, infinite = int(np.isnan(X).sum()), int(np.isinf(X).sum())
    if infinite or (nan and not missing):
        raise ValueError(
            f"{name} contains {nan} NaN and {infinite} infinity values, of {X.size}: correct these values, or leave the "
            "samples out"
        )
    if nan and not empty_rows:
        empty = np.flatnonzero(np.isnan(X).all(axis=1))
        if len(empty):
            raise ValueError(
                f"{name}: {len(empty)} rows have no value at all, the first is row {empty[0]}: leave them out"
            )


def _has_dates(X: Any) -> bool:
    """True if NumPy, pandas, Polars or PyArrow names a type of dates or times for ``X`` or its columns."""
    of_arrow = getattr(getattr(X, "schema", None), "types", None)
    dtypes = of_arrow or (X.dtypes if hasattr(X, "dtypes") else [getattr(X, "dtype", None)])
    kinds = [getattr(dtype, "kind", None) or re.split(r"[(\[\d]", str(dtype))[0].lower() for dtype in dtypes]
    return any(kind in _KINDS_OF_TIMES for kind in kinds)


_KINDS_OF_TIMES = {"m", "M", "date", "datetime", "duration", "time", "timestamp"}
_TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)


def raise_if_not_numbers(X: Any) -> None:
    """Raise an error for input that is no array, and for the first column with a value that is not a number."""
    if issparse(X):  # of which one kind is a mapping
        return
    # NumPy converts dates of Polars and PyArrow.
    if callable(getattr(X, "get_columns", None)):
        columns: Any = (series.to_list() for series in X.get_columns())
    elif hasattr(X, "column_names"):
        columns = (column.to_pylist() for column in X.columns)
    else:
        try:
            table = np.asarray(X, dtype=object)
        except ValueError:
            return
        if table.ndim == 0:
            raise ValueError(
                f"X is a {type(X).__name__}; give an array or a DataFrame of shape (n_samples, n_features)"
            ) from None
        columns = table.T if table.ndim == 2 else ()
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))
    for j, column in enumerate(columns):
        wrong = next((value for value in column if not _is_number(value)), None)
        if wrong is not None:
            named = bool(names) and isinstance(names[j], str)
            name = f"column {names[j]!r} (index {j})" if named else f"column with index {j}"
            is_text = isinstance(wrong, (str, bytes))
            kind = f"text such as {wrong!r}" if is_text else f"{type(wrong).__name__} objects such as {wrong}"
            advice = "encode it as numbers" + " (e.g. by OneHotEncoder)" * is_text
            message = f"The {name} of X holds {kind}; {advice}, or leave it out."
            if is_text or isinstance(wrong, _TIMES):
                raise ValueError(message) from None
            # scikit-learn's type of exception and its words.
            raise TypeError(f"{message} Each argument must be a string or a number.") from None


def _is_missing(value: Any) -> bool:
    """True for None, NaN and pandas.NA."""
    if value is None or value is getattr(sys.modules.get("pandas"), "NA", None):
        return True
    return isinstance(value, Real) and bool(value != value)


def _is_number(value: Any) -> bool:
    """True for numbers, also as text, and for missing values."""
    if _is_missing(value):
        return True
    if isinstance(value, _TIMES):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return isinstance(value, (complex, np.complexfloating))  # scikit-learn's message is about them
    return True


def refuse_missing_labels(y: Any, first_row: int = 0, name: str = "y") -> None:
    """Raise ValueError for a label that is masked, None, NaN or pandas.NA; ``first_row`` is the number of the first label."""
    refuse_masked(name, y)
    labels = np.asarray(y).ravel()
    if labels.dtype.kind == "O" and {*map(type, labels)} <= {str, int, bool}:  # faster than to look at each
        return
    if labels.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in labels])
    else:
        missing = np.isnan(labels) if labels.dtype.kind in "fmM" else np.zeros(0)
    if missing.any():
        raise ValueError(
            f"Input {name} contains {missing.sum()} missing labels (None or NaN), of {len(labels)}, the first in row "
            f"{first_row + missing.argmax()}: leave them out"
        )


def check_weights(sample_weight: ArrayLike | None, X: Any) -> np.ndarray:
    """Weights of the samples ``X``, non-negative, not all zero and in float64; None, or a number, is a weight of all.

    Those up to ``LEAST_WEIGHT`` of the largest become zero.
    """
    refuse_masked("sample_weight", sample_weight)
    n_samples = np.shape(X)[0]
    if sample_weight is None:
        return np.ones(n_samples)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    check = {"dtype": np.float64, "order": "C", "ensure_2d": False, "ensure_non_negative": True}
    try:
        weights = check_array(sample_weight, **check, input_name="sample_weight")
    except ValueError as error:
        if "could not convert" not in str(error):  # by NumPy, which names no parameter
            raise
        raise ValueError(f"sample_weight: {error}; give one non-negative number per sample") from None
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has the shape {weights.shape}: give one non-negative number per sample, shape ({n_samples},)"
        )
    if not weights.any():
        raise ValueError(
            f"sample_weight is zero for all of {n_samples} samples: give one of them a weight, or use fewer splits in "
            "cross-validation"
        )
    return np.where(weights > LEAST_WEIGHT * weights.max(), weights, 0.0)


def is_dask(X: object) -> bool:
    return hasattr(X, "__dask_graph__")


def is_out_of_core(X: object) -> bool:
    """True for a Dask collection, or a file such as ``skem.datasets.ParquetRows``."""
    return is_dask(X) or hasattr(X, "read_block")


def refuse_out_of_core(estimator: object, X: object) -> None:
    """Raise TypeError for samples outside memory, which NumPy would silently read as a whole."""
    if is_out_of_core(X):
        raise TypeError(
            f"{type(estimator).__name__} takes arrays in memory here, not {type(X).__name__}: give np.asarray(X) if it fits"
        )


def refuse_device(estimator: object, X: object) -> None:
    """Raise TypeError under ``array_api_dispatch`` for an array of another library than NumPy."""
    device = device_of(X)
    if device is not None:
        raise TypeError(
            f"{type(estimator).__name__}: X is an array of {device.name}, and only fit and the predictions of mixtures and "
            "shared-kernel classifiers are computed there: give a NumPy array"
        )


def has_missing(X: np.ndarray) -> bool:
    """True if a value is NaN, without an array as large as ``X``."""
    return bool(np.isnan(X.min()))


def distinct_samples(X: np.ndarray) -> np.ndarray:
    """Indices of the distinct samples, sorted by their values; NaN equals NaN."""
    return np.unique(np.where(np.isnan(X), np.inf, X), axis=0, return_index=True)[1]


def weighted_samples(X: np.ndarray, sample_weight: ArrayLike | None) -> tuple[slice | np.ndarray, np.ndarray]:
    """The samples that have a weight, as an index, and their weights with a mean of one."""
    weights = check_weights(sample_weight, X)
    used = weights > 0
    if used.all():
        return slice(None), mean_one(weights)
    return used, mean_one(weights[used])


def mean_one(weights: np.ndarray) -> np.ndarray:
    """Scale weights, not all of which are zero, to a mean of one."""
    with np.errstate(over="ignore"):
        mean = tree(weights[part].sum() for part in slices(len(weights))) / len(weights)
    return weights / mean if 0 < mean < np.inf else mean_one(weights / weights.max())


def check_n_samples(n_samples: object) -> None:
    """Raise TypeError or ValueError for a number of samples to draw that is not a positive integer."""
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool):
        raise TypeError(f"sample: n_samples must be a whole number, got {n_samples!r}")
    if n_samples < 1:
        raise ValueError(f"sample: n_samples must be at least 1, got {n_samples}")


def check_attribute(
    name: str,
    values: Any,
    shape: tuple[int | str, ...] = (),
    *,
    least: float = -np.inf,
    most: float = np.inf,
    integer: bool = False,
) -> np.ndarray:
    """A fitted attribute, which users may assign, as an array; ValueError unless it has this shape, see `checked_array`, and range."""
    if np.ndim(values) and not shape:
        raise ValueError(f"{name} must be one number, got an array of shape {np.shape(values)}")
    if integer and np.asarray(values).dtype.kind not in "iu":
        raise ValueError(f"{name} must be an array of integers, got {np.asarray(values).dtype}")
    array = checked_array(name, values, shape)
    if array.size and not (least <= array.min() and array.max() <= most):
        allowed = f"at least {least:.3g}" if most == np.inf else f"from {least:.3g} to {most:.3g}"
        raise ValueError(f"{name} must be {allowed}, got values from {array.min():.3g} to {array.max():.3g}")
    return array
