"""Checks of fitted attributes that come from a file."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

LARGEST, POSITIVE = float(np.finfo(np.float64).max), float(np.finfo(np.float64).tiny)
"""Largest finite number, and smallest positive number that is not subnormal."""

LABEL_KINDS = "biufSUmM"
"""Kinds of NumPy dtypes of class labels, and of all arrays in files."""

KINDS = {"float": "f", "integer": "iu", "boolean": "b", "word": "U", "label": LABEL_KINDS}
"""Kinds of NumPy dtypes by the name in error messages."""


def attributes_of(estimator: object, *names: str) -> dict[str, Any]:
    """Number and names of the features, and these attributes, as far as the estimator has them."""
    names = ("n_features_in_", "feature_names_in_", *names)
    return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}


def take(state: dict[str, Any], name: str, *args: Any, **kwargs: Any) -> Any:
    """Remove an attribute from a state, check it by `expect` with the other arguments, and return it."""
    if name not in state:
        raise ValueError(f"{name} is missing")
    return expect(name, state.pop(name), *args, **kwargs)


def expect(
    name: str,
    value: Any,
    shape: tuple[int | None, ...] = (),
    kind: str = "float",
    *,
    least: float = -LARGEST,
    most: float = LARGEST,
    words: Collection[str] = (),
) -> Any:
    """Return a value, called ``name`` in messages, if it is an array of this shape, kind and range, else raise ValueError.

    ``shape`` has the length of each axis, None for any length from one on, and is empty for a single value. A float has 32 or
    64 bits; a single float may be an integer. Infinity is allowed where a bound is infinite, NaN where both are. A word must
    be among ``words``, if there are any.
    """
    is_array = isinstance(value, np.ndarray)
    array = value if is_array else np.array(value if np.isscalar(value) else None)
    kinds = KINDS[kind] + ("iu" if kind == "float" and not is_array else "")
    is_kind = array.dtype.kind in kinds and (array.dtype.kind != "f" or array.dtype.itemsize in (4, 8))
    if is_array and array.dtype == object and "U" in kinds:
        is_kind = all(isinstance(word, str) for word in array.flat)
    if is_array != bool(shape) or not is_kind:
        wanted = f"an array of {kind}s" if shape else f"one {kind}"
        raise ValueError(f"{name} must be {wanted}, got {array.dtype if is_array else repr(value)[:60]}")
    fits = [length == n or (n is None and length > 0) for n, length in zip(shape, array.shape, strict=False)]
    if array.ndim != len(shape) or not all(fits):
        raise ValueError(f"{name} must have shape {str(shape).replace('None', 'n')}, got {array.shape}")
    if array.dtype.kind in "iuf" and array.size and (least, most) != (-np.inf, np.inf):
        low, high = array.min(), array.max()
        if not (least <= low and high <= most):  # NaN compares as false
            allowed = f"at least {least:.3g}" if most >= LARGEST else f"from {least:.3g} to {most:.3g}"
            allowed = allowed if least > -LARGEST else "finite"
            raise ValueError(f"{name} must be {allowed}, got values from {low:.3g} to {high:.3g}")
    if words and value not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}, got {value!r:.60}")
    return value


def take_list(state: dict[str, Any], name: str, length: int | None = None) -> list[Any]:
    """Remove an attribute from a state, check that it is a list of this length, and return it."""
    values = state.pop(name, None)
    if not isinstance(values, list):
        raise ValueError(f"{name} must be a list, got {type(values).__name__}")
    if length not in (None, len(values)):
        raise ValueError(f"{name} must have {length} elements, got {len(values)}")
    return values


def take_features(state: dict[str, Any], estimator: Any) -> int:
    """Set the number of features, and their names if there are any, of an estimator; return the number."""
    m = estimator.n_features_in_ = take(state, "n_features_in_", kind="integer", least=1)
    if "feature_names_in_" in state:
        estimator.feature_names_in_ = take(state, "feature_names_in_", (m,), "word")
    return m


def take_classes(state: dict[str, Any]) -> np.ndarray:
    """Class labels, which must be distinct and in increasing order."""
    classes = take(state, "classes_", (None,), "label")
    if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        raise ValueError(
            f"classes_ must be two or more distinct labels in increasing order, got {classes.tolist()!r:.60}"
        )
    return classes
