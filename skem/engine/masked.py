"""Masked arrays, whose masked entries are missing values."""

from __future__ import annotations

from typing import Any

import numpy as np


def with_nan(X: Any) -> Any:
    """Replace masked entries by NaN; return other input unchanged."""
    if isinstance(X, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.stack(X)
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    return np.ma.filled(X.astype(np.float64) if X.dtype.kind in "biu" else X, np.nan)


def refuse_masked(name: str, array: Any) -> None:
    """Raise ValueError for masked entries, because NumPy ignores masks on conversion."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise ValueError(
            f"{name} has {np.ma.count_masked(array)} masked entries, of {array.size}, but cannot have missing values; "
            "leave these samples out, or fill them in with numpy.ma.filled."
        )
