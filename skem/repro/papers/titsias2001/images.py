"""Job of the images of Titsias and Likas (2001): accuracy of PSKEM against lambda."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skem import PSKEMClassifier
from skem.repro.papers.measured import Rows
from skem.repro.training import feature_store, splits


def sharing(
    dataset: str, setup: Mapping[str, Any], spec: dict[str, Any], paths: Sequence[str], seed: int
) -> Rows:
    """Measure PSKEM at every lambda, and with the initialisation of Pulford (2022), which ignores classes.

    Rows have dataset, setting, run, sharing (NaN: initialisation of Pulford), pass (the final iteration), accuracy (%); without
    data there is a row for a panel that says so.
    """
    runs, params, columns = list(range(setup["runs"])), setup["params"], slice(setup["n_features"])
    blocks, K = params["n_blocks"], params["n_components"]
    keys = {"dataset": dataset, "setting": f"{blocks}x{setup['n_features'] // blocks}-K{K}"}
    features = feature_store.read(paths, spec, ["all"], runs)
    if not features:
        return [keys | dict.fromkeys(("sharing", "iteration", "accuracy"), np.nan)]
    rows = []
    for trial in splits.trials(dataset, spec, features, ["all"], runs, seed):
        start = splits.seed(seed, dataset, trial.run, trial.fold, "start")
        for value in (*setup["sharings"], None):
            init = "uniform" if value is None else "class"
            model = PSKEMClassifier(
                options={"sharing": value}, init_params=init, random_state=start, **params
            )
            model.fit(trial.X_train[:, columns], trial.y_train)
            accuracy = np.mean(model.predict(trial.X_test[:, columns]) == trial.y_test)
            row = {
                "run": trial.run,
                "sharing": np.nan if value is None else value,
                "iteration": model.n_iter_,
            }
            rows.append(keys | row | {"accuracy": 100 * float(accuracy)})
    return rows
