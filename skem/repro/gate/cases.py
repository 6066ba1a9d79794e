"""Fits of ``config/experiments/regress.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from skem.repro import protocols
from skem.repro.gate.comparison import Record
from skem.repro.training import feature_store, iterations
from skem.repro.training.features import prepare
from skem.repro.training.settings import Setting

SERIES = ["dataset", "method", "setting"]
SEED = 0


def measure(dataset: str, work: Mapping[str, Any]) -> Record:
    """Fit all configurations of a data set.

    ``work`` has the configurations (``settings``), the recipe of the features (``spec``) and ``runs``. Cases are
    "dataset/method/setting", under the protocol ``nested`` "dataset/method".
    """
    spec = work["spec"]
    settings = [Setting(**setting) for setting in work["settings"]]
    kinds = [kind for setting in settings for kind in setting.rows]
    names = dict.fromkeys(feature_store.names(spec, kinds, list(range(work["runs"]))))
    features = prepare(dataset, spec, list(names), SEED)
    fits = [iterations.fit_setting(setting, features, setting.runs, SEED, keep=False) for setting in settings]
    history = pd.DataFrame([row for fit in fits for row in fit.history])
    return _quantities(history)


def _quantities(history: pd.DataFrame) -> Record:
    """Accuracy under every protocol, and objective, log-loss and number of the final iteration."""
    record: Record = {}
    configurations = history.groupby("method")["setting"].nunique()
    for protocol in protocols.PROTOCOLS:
        runs = protocols.per_run(protocols.select(history, protocol))
        for key, group in runs.groupby(SERIES[:2] if protocol == "nested" else SERIES, sort=False):
            # A method with one configuration has the same accuracies under "validation_selected_iteration".
            if protocol != "nested" or configurations[key[1]] > 1:
                record.setdefault("/".join(key), {})[protocol] = group["test_accuracy"].tolist()
    final = history[history["rows"] == "all"].sort_values("iteration")
    final = final.drop_duplicates([*SERIES, "run", "fold"], keep="last")
    for key, group in final.groupby(SERIES, sort=False):
        means = group.groupby("run")[["log_likelihood", "objective", "test_log_loss", "iteration"]].mean()
        means = means.rename(columns={"iteration": "iterations", "test_log_loss": "log_loss"})
        record["/".join(key)] |= means.to_dict("list")
    return record
