"""Recognition of a class that no training sample has: each class of a table in turn."""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from skem import datasets
from skem.repro.comparison.measurement import SEED
from skem.repro.comparison.outliers import SCORES, auroc
from skem.repro.comparison.tables import drawn_rows
from skem.repro.files import read_json
from skem.repro.training.classifiers import make
from skem.repro.training.histories import Histories
from skem.repro.training.splits import seed


def fit(dataset: str, method: str, job: Mapping[str, Any], path: str, root: int) -> Histories:
    """Leave out each class of a registered data set in turn, unless its record at ``path`` says that it is unavailable.

    One row per class and score: dataset, method, score, left_out (the class), n_train, n_features, auroc.
    """
    found = Histories()
    if not read_json(path)["available"]:
        return found
    data, random_state = datasets.load(dataset), seed(root, dataset, f"{SEED} left out")
    rows = drawn_rows(dataset, data.target, job["max_rows"], root)
    X, y = data.data[rows].astype(np.float64), data.target[rows]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=job["test_fraction"], stratify=y, random_state=random_state
    )
    for code in np.unique(y):
        known, outside = y_train != code, y_test == code
        begun = process_time()
        model = make(job["model"], random_state=random_state, **job.get("params", {}))
        model.fit(X_train[known], y_train[known])
        trained = process_time()
        keys = {"dataset": dataset, "method": method}
        left_out = {
            "left_out": data.target_names[code],
            "n_train": int(known.sum()),
            "n_features": X.shape[1],
        }
        for score in job["scores"]:
            values = SCORES[score](model, X_test)
            area = auroc(values[~outside], values[outside])
            found.history.append(keys | {"score": score} | left_out | {"auroc": area})
        seconds = {"fit": trained - begun, "predict": process_time() - trained}
        found.seconds.append(keys | {"left_out": data.target_names[code]} | seconds)
    return found
