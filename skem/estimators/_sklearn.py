"""Private names of scikit-learn, which any release may change. No other module imports one; fits, predictions and checks of estimators use all of them."""

from __future__ import annotations

from typing import Any, NoReturn

import sklearn

# scikit-learn has no public indexing of arrays, lists and data frames alike,
from sklearn.utils import _safe_indexing as safe_indexing

# and no public class of what ``BaseEstimator`` checks as ``_parameter_constraints``.
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions, validate_parameter_constraints

# Its array API support is experimental. NumPy arrays do without it.
try:
    from sklearn.utils._array_api import check_same_namespace, get_namespace_and_device, move_to
except ImportError:

    def get_namespace_and_device(*arrays: Any, **options: Any) -> NoReturn:
        raise NotImplementedError(
            f"scikit-learn {sklearn.__version__} has no array API support that skem can use: give NumPy arrays, or install "
            "scikit-learn 1.9"
        )

    move_to = get_namespace_and_device

    def check_same_namespace(*arrays: Any, **options: Any) -> None: ...


__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_same_namespace",
    "get_namespace_and_device",
    "move_to",
    "safe_indexing",
    "validate_parameter_constraints",
]
