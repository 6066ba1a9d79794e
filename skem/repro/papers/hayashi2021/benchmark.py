"""The splits of Raetsch, Onoda and Mueller (2001), where a mirror folder has them: ``$SKEM_DATA_MIRROR/benchmarks/benchmarks.mat``.

It is the MATLAB file of Cawley and of Diethe (https://doi.org/10.5281/zenodo.18110), no package has it. Of each data set it has a
struct of arrays: x (N, D), t (N, 1), and row numbers from one, train (n_splits, n_train) and test (n_splits, n_test).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.io import loadmat

FIELDS = ("x", "t", "train", "test")

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def file() -> Path | None:
    """Where it is, or None."""
    mirror = os.environ.get("SKEM_DATA_MIRROR")
    path = Path(mirror).expanduser() / "benchmarks" / "benchmarks.mat" if mirror else None
    return path if path and path.is_file() else None


def splits(path: Path, name: str, n: int) -> list[Split]:
    """The first n splits of a data set: X_train, y_train, X_test, y_test of each. Arrays are read, and nothing else.

    Raises
    ------
    ValueError
        If the file is not as described, or has fewer splits.
    """
    try:
        found = loadmat(path, variable_names=[name])[name]
        x, t, train, test = (found[field].item() for field in FIELDS)
        train, test = np.asarray(train, dtype=np.int64) - 1, np.asarray(test, dtype=np.int64) - 1
        X, y = np.asarray(x, dtype=np.float64), np.asarray(t, dtype=np.float64).ravel()
    except (KeyError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        raise ValueError(f"{path}: {name} is no struct of the arrays {', '.join(FIELDS)}") from error
    if (X.ndim, train.ndim, test.ndim) != (2, 2, 2) or len(X) != len(y) or not np.isfinite(X).all():
        raise ValueError(
            f"{path}: the arrays of {name} have shapes {x.shape}, {t.shape}, {train.shape}, {test.shape}"
        )
    if min(len(train), len(test)) < n:
        raise ValueError(f"{path}: {n} splits of {name} are asked for, it has {len(train)}")
    for rows in (train, test):
        if rows.min() < 0 or rows.max() >= len(X):
            raise ValueError(f"{path}: splits of {name} name rows that it has not")
    return [(X[a], y[a], X[b], y[b]) for a, b in zip(train[:n], test[:n], strict=True)]
