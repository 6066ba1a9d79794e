"""What parameters and training data have to be before anything is learned from them."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._missing import is_pandas_na, is_scalar_nan
from sklearn.utils._param_validation import InvalidParameterError, make_constraint
from sklearn.utils.validation import _check_sample_weight, validate_data

from skem.engine.masked import refuse_masked, with_nan
from skem.engine.parts import slices, tree
from skem.estimators._array_api import device_of
from skem.estimators._blocks import is_out_of_core

LEAST_WEIGHT = 1e-30
"""Share of the largest sample weight up to which a row counts as one without weight: float32 still holds its square root
times what a component may take of it."""


class CheckedParameters:
    """For estimators with ``_parameter_constraints``: True and False are no numbers."""

    if TYPE_CHECKING:
        _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def _validate_params(self) -> None:
        for name, allowed in self._parameter_constraints.items():
            value = getattr(self, name, None)
            if isinstance(value, (bool, np.bool_)) and "boolean" not in allowed:
                words = " or ".join(str(make_constraint(constraint)) for constraint in allowed)
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be {words}. Got {value} instead."
                )
        super()._validate_params()  # type: ignore[misc]


def check_features(
    estimator: Any, X: ArrayLike, *, missing: bool = False, empty_rows: bool = False, **check: object
) -> Any:
    """The features as an array of floats, float32 or float64; with ``y`` among the checks, a pair with the labels.

    With ``missing`` a NaN, or a masked entry, is a missing value.

    Raises
    ------
    ValueError
        What ``sklearn.utils.validation.validate_data`` refuses; NaN and infinite values by their number; with ``missing``
        rows without any value, but not with ``empty_rows``; without it, masked entries; labels that are missing.
    TypeError
        Under ``array_api_dispatch``, an array of another library than NumPy.
    """
    refuse_out_of_core(estimator, X)
    refuse_device(estimator, X)
    if not missing:
        refuse_masked(f"Input X of {type(estimator).__name__}", X)
    X = with_nan(X)
    if check.get("y") is not None:
        refuse_missing_labels(check["y"])
    checked = validate_data(estimator, X, dtype=[np.float64, np.float32], ensure_all_finite=False, **check)
    rows = checked[0] if "y" in check else checked
    if missing and has_missing(rows):
        refuse_infinite(estimator, rows)
        if not empty_rows:
            refuse_empty_rows(estimator, rows)
    else:
        refuse_non_finite(estimator, rows)
    return checked


def refuse_missing_labels(y: Any, first_row: int = 0) -> None:
    """Raise ValueError where a label is masked, None, NaN or pandas.NA; ``first_row`` is the number of the first label."""
    refuse_masked("y", y)
    labels = np.asarray(y).ravel()
    if labels.dtype.kind == "O" and {*map(type, labels)} <= {str, int, bool}:  # faster than to look at each
        return
    if labels.dtype.kind == "O":
        missing = np.array([label is None or is_scalar_nan(label) or is_pandas_na(label) for label in labels])
    else:
        missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(0)
    if missing.any():
        raise ValueError(
            f"Input y contains {missing.sum()} missing labels (None or NaN), of {len(labels)}, the first in row "
            f"{first_row + missing.argmax()}: leave these samples out"
        )


def check_weights(sample_weight: ArrayLike | None, X: Any) -> np.ndarray:
    """Weights of the samples ``X``, non-negative and in float64; None is a weight of one for each.

    Raises
    ------
    ValueError
        Weights that are negative, all zero, masked or not finite, or of another number of samples.
    """
    refuse_masked("sample_weight", sample_weight)
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


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
    """Whether a value is NaN; no array as large as ``X`` is made for it."""
    return bool(np.isnan(X.min()))


def refuse_infinite(estimator: object, X: np.ndarray) -> None:
    """Raise ValueError with the number of infinite values, if there are any."""
    if np.isinf(X).any():
        raise ValueError(
            f"Input X of {type(estimator).__name__} contains {int(np.isinf(X).sum())} infinity values, of {X.size}"
        )


def refuse_empty_rows(estimator: object, X: np.ndarray) -> None:
    """Raise ValueError where a row has no value at all."""
    empty = np.flatnonzero(np.isnan(X).all(axis=1))
    if len(empty):
        raise ValueError(
            f"Input X of {type(estimator).__name__}: {len(empty)} rows have no value at all, the first is row {empty[0]}: "
            "leave them out"
        )


def refuse_unknown_features(X: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> None:
    """Raise ValueError where a class, by its code, has no value of a feature at all."""
    missing = np.isnan(X)
    for c, label in enumerate(classes.tolist()):
        for j in np.flatnonzero(missing[codes == c].all(axis=0)):
            raise ValueError(
                f"no training row of class {label!r} has a value of feature {j}: leave the feature out, or the class"
            )


def refuse_non_finite(estimator: object, X: np.ndarray) -> None:
    """Raise ValueError with the number of NaN and infinite values, if there are any."""
    # The sum is finite only if all values are, or overflowed: then look at each of them.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum(dtype=np.float64)):
            return
    nan, infinite = int(np.isnan(X).sum()), int(np.isinf(X).sum())
    if nan or infinite:
        raise ValueError(
            f"Input X of {type(estimator).__name__} contains {nan} NaN and {infinite} infinity values, of {X.size}"
        )


def weighted_rows(
    X: np.ndarray, labels: np.ndarray, sample_weight: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows that have a weight, their labels, and their weights with mean one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), or None
        Non-negative. A weight up to ``LEAST_WEIGHT`` of the largest counts as none; None is a weight of one for each.

    Raises
    ------
    ValueError
        Weights that are negative or all zero, or a class with next to no weight.
    """
    weights = check_weights(sample_weight, X)
    used = weights > LEAST_WEIGHT * weights.max()
    if not used.all():
        lost = np.setdiff1d(labels[weights > 0], labels[used]).tolist()
        if lost:
            raise ValueError(
                f"sample_weight: no row of class {lost[0]!r} has more than {LEAST_WEIGHT:g} of the largest weight, "
                "too little to learn from: give its rows more weight, or none"
            )
        X, labels, weights = X[used], labels[used], weights[used]
    return X, labels, mean_one(weights)


def mean_one(weights: np.ndarray) -> np.ndarray:
    """Weights with mean one, whatever their size; ValueError if all are zero."""
    if not weights.any():
        raise ValueError(
            f"sample_weight is zero for all of {len(weights)} samples: give one of them a weight, or with cross-validation fewer splits"
        )
    with np.errstate(over="ignore"):
        mean = tree(weights[part].sum() for part in slices(len(weights))) / len(weights)
    return weights / mean if 0 < mean < np.inf else mean_one(weights / weights.max())


def total_weight(n_samples: int, sample_weight: ArrayLike | None) -> float:
    """The sum of the weights, for where their size matters and not only their ratios.

    Raises
    ------
    ValueError
        Where it overflows.
    """
    if sample_weight is None:
        return float(n_samples)
    with np.errstate(over="ignore"):
        total = float(np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), n_samples).sum())
    if not np.isfinite(total):
        raise ValueError("sample_weight: the sum of the weights overflows: divide them by a constant")
    return total


def check_n_samples(n_samples: object) -> None:
    """Refuse what is no number of rows to draw.

    Raises
    ------
    TypeError, ValueError
    """
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool):
        raise TypeError(f"sample: n_samples must be a whole number, got {n_samples!r}")
    if n_samples < 1:
        raise ValueError(f"sample: n_samples must be at least 1, got {n_samples}")
