"""The 100 splits of Raetsch, Onoda and Mueller (2001), from the mirror: ``$SKEM_DATA_MIRROR/benchmarks/benchmarks.mat``.

It is the MATLAB file of Cawley and of Diethe (https://doi.org/10.5281/zenodo.18110), which no package contains. It has a
struct of arrays per data set: x (N, D), t (N, 1), and sample numbers from one, train (n_splits, n_train) and test
(n_splits, n_test).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

FIELDS = ("x", "t", "train", "test")

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""X_train, y_train, X_test, y_test."""


def file() -> str | None:
    """Return the path of the file, or None if the mirror lacks it."""
    path = Path(os.environ.get("SKEM_DATA_MIRROR", ""), "benchmarks", "benchmarks.mat").expanduser()
    return str(path) if "SKEM_DATA_MIRROR" in os.environ and path.is_file() else None


def splits(path: str | Path, name: str, n: int) -> list[Split]:
    """Read the first n splits of a data set; a `ValueError` if the file is not as described, or has fewer."""
    try:
        from scipy.io import loadmat  # the rules import this module, and SciPy takes longer

        found = loadmat(path, variable_names=[name])[name]
        X, t, *parts = (np.asarray(found[field].item(), dtype=np.float64) for field in FIELDS)
        y, (train, test) = t.ravel(), (part.astype(np.int64) - 1 for part in parts)
    except (KeyError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        raise ValueError(f"{path}: {name} is no struct of the arrays {', '.join(FIELDS)}") from error
    if (X.ndim, train.ndim, test.ndim) != (2, 2, 2) or len(X) != len(y) or not np.isfinite(X).all():
        shapes = ", ".join(str(array.shape) for array in (X, y, train, test))
        raise ValueError(f"{path}: the arrays of {name} have shapes {shapes}")
    if min(len(train), len(test)) < n:
        raise ValueError(f"{path} has {len(train)} splits of {name}; {n} are required")
    if min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= len(X):
        raise ValueError(f"{path}: splits of {name} name samples beyond its {len(X)}")
    return [(X[a], y[a], X[b], y[b]) for a, b in zip(train[:n], test[:n], strict=True)]
