"""Accuracy by EM iteration of an experiment that a paper has accuracies for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from skem import plots
from skem.repro.drawing import Figure, Tables
from skem.repro.ledger.stated_claims import claim
from skem.repro.names import with_configurations
from skem.repro.tables.accuracy import paper_methods

CURVES = {
    "test, all training samples": ("all", "test"),
    "test, without validation samples": ("part", "test"),
    "validation": (None, "validation"),
}
"""Curves, with the samples trained on (``rows`` of a history) and the part that the accuracy is of."""


def by_iteration(history: pd.DataFrame) -> pd.DataFrame:
    """Accuracy after each EM iteration of one method and configuration, by curve (one of `CURVES`).

    Accuracy is the mean over runs in percent, folds weighted by their samples; low and high are the range over runs.
    """
    found = []
    for curve, (trained_on, part) in CURVES.items():
        own = history if trained_on is None else history[history["rows"] == trained_on]
        own = own[own[f"{part}_accuracy"].notna()]
        right = 100 * own[f"{part}_accuracy"] * own[f"n_{part}"]
        sums = own.assign(right=right).groupby(["run", "iteration"])[["right", f"n_{part}"]].sum()
        by_run = (sums["right"] / sums[f"n_{part}"]).groupby("iteration")
        table = by_run.agg(accuracy="mean", low="min", high="max").rename_axis("iteration")
        found.append(table.reset_index().assign(curve=curve))
    return pd.concat(found, ignore_index=True)[["curve", "iteration", "accuracy", "low", "high"]]


def rows(tables: Tables, experiment: Mapping[str, Any]) -> pd.DataFrame:
    """Curves of every data set at the paper's configuration, with the paper's accuracy (%)."""
    parts = []
    for dataset, entry in experiment["data_sets"].items():
        if dataset not in tables:
            continue
        history, configuration = tables[dataset], entry["paper"]["setting"]
        if len(history):
            at_paper = (history["method"] == paper_methods(entry)[0]) & (history["setting"] == configuration)
            history = history[at_paper]
        # Unavailable data and failed configurations leave an empty panel.
        empty = pd.DataFrame([{"curve": ""}], columns=["curve", "iteration", "accuracy", "low", "high"])
        curves = by_iteration(history) if len(history) else empty
        paper = claim(tables["claims"], entry["paper"]["accuracy"])
        parts.append(curves.assign(dataset=dataset, setting=configuration, paper=paper))
    return pd.concat(parts, ignore_index=True)


def draw(curves: pd.DataFrame, experiment: object = None, **size: Any) -> Any:
    """Draw the curves beside the paper's accuracy, a panel per data set, in the sizes of `skem.plots`."""
    return plots.accuracy_by_iteration(
        curves, level="paper", names=with_configurations(curves["setting"]), **size
    )


FIGURE = Figure(rows, draw)
