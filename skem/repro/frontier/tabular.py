"""Tables of the ordinary kind: cross-validation, all that is chosen chosen on training rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as bundled
from sklearn.model_selection import StratifiedKFold

from skem import datasets
from skem.repro.frontier import measurements
from skem.repro.frontier.settings import BUNDLED
from skem.repro.training.baselines import stratified_rows
from skem.repro.training.classifiers import make
from skem.repro.training.histories import attempt
from skem.repro.training.splits import seed

Split = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def load(name: str, max_rows: int | None, root: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The features and labels of a table, of so many rows at most, drawn in proportion to the classes."""
    if name in BUNDLED:
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
    else:
        data = datasets.load(name)
        X, y = data.data, data.target
    rows = stratified_rows(y, max_rows, seed(root, name, "frontier rows"))
    return X[rows].astype(np.float64), y[rows]


def folds(
    name: str, y: NDArray[Any], n_folds: int, root: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and test rows, stratified, the same for every classifier."""
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed(root, name, "frontier folds"))
    yield from splitter.split(np.zeros(len(y)), y)


def fit(
    name: str, methods: Mapping[str, Mapping[str, Any]], setup: Mapping[str, Any], root: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Every method on every fold of a table.

    Parameters
    ----------
    name : str
    methods : mapping
        By label: model and params, as for ``classifiers.make``.
    setup : mapping
        n_folds and max_rows.
    root : int

    Returns
    -------
    scores, seconds : list of dict
        One row per fold and method. A method that failed has one row of scores, with ``error``.
    """
    X, y = load(name, setup["max_rows"], root)
    scores: list[dict[str, Any]] = []
    seconds: list[dict[str, Any]] = []
    splits = list(enumerate(folds(name, y, setup["n_folds"], root)))

    def measured(label: str, method: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows, times = [], []
        for fold, (train, test) in splits:
            random_state = seed(root, name, fold, "frontier")
            estimator = make(method["model"], random_state=random_state, **method.get("params", {}))
            found, spent, _ = measurements.measure(estimator, (X[train], y[train]), (X[test], y[test]))
            keys = {"dataset": name, "method": label, "fold": fold}
            rows.append(keys | {"n_train": len(train), "n_test": len(test)} | found)
            times.append(keys | spent)
        seconds.extend(times)
        return rows

    for label, method in methods.items():
        scores += attempt({"dataset": name, "method": label}, partial(measured, label, method))
    return sorted(scores, key=_fold), sorted(seconds, key=_fold)


def _fold(row: Mapping[str, Any]) -> int:
    return int(row.get("fold", 0))
