"""Images: from the paper's model to the best one, a step at a time, beside others on the same principal components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.repro.frontier import contestants
from skem.repro.training.splits import Arrays, seed


def fit(
    dataset: str, method: str, entry: Mapping[str, Any], features: Arrays, runs: int, root: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], NDArray[np.int16]]:
    """One method on all training images, so often as it draws at random.

    Parameters
    ----------
    dataset, method : str
    entry : mapping
        model and params, as for ``contestants.make``; n_features, the first so many, where it is not all; runs, where they are
        not those of the others.
    features : dict
        X_train, y_train, X_test, y_test.
    runs : int
    root : int

    Returns
    -------
    scores, seconds : list of dict
        One row per run.
    predicted : ndarray of int16, shape (n_runs, n_test)
    """
    columns = slice(entry.get("n_features"))
    train = features["X_train"][:, columns], features["y_train"]
    test = features["X_test"][:, columns], features["y_test"]
    scores, seconds, predicted = [], [], []
    for run in range(entry.get("runs", runs)):
        estimator = contestants.make(
            entry["model"], entry.get("params", {}), seed(root, dataset, run, "frontier")
        )
        found, spent, codes = contestants.measure(estimator, train, test)
        keys = {"dataset": dataset, "method": method, "run": run}
        scores.append(keys | {"n_train": len(train[1]), "n_test": len(test[1])} | found)
        seconds.append(keys | spent)
        predicted.append(codes)
    return scores, seconds, np.stack(predicted)
