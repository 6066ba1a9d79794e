"""Tables 1 and 2 and appendix B of Hayashi and Uchida (2021), beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.papers.hayashi2021.settings import METHODS, NETWORKS, Settings
from skem.repro.papers.measured import Tables, select, stated_value

MEASURES = ("error", "log_loss", "calibration_error", "weights", "n_components")


def values(tables: Tables, *_: Any) -> dict[str, pd.DataFrame]:
    """Return results without times, which differ in each run."""
    return {name: table.drop(columns="seconds", errors="ignore") for name, table in tables.items()}


def table1(tables: Tables, stated: pd.DataFrame, paper: Settings) -> dict[str, Any]:
    """Return Table 1, and what ``config/tables/hayashi2021.yaml`` lays out."""

    def printed(quantity: str) -> Callable[[str, str], float]:
        return lambda dataset, method: stated_value(
            stated,
            paper="hayashi2021",
            dataset=dataset,
            method=method.removesuffix("_files"),
            quantity=quantity,
        )

    cells = [(name, method) for name in paper.data_sets for method in METHODS]
    of_paper = {"error": printed("error_pct"), "weights": printed("n_nonzero_weights")}
    found = _summary(tables["errors"], cells, MEASURES, of_paper)
    most = found["n_runs"].max()
    fewer = [f" ({n} splits)" if 0 < n < most else "" for n in found["n_runs"]]
    curves = {
        "Features as generated": by_components(tables["components_raw"]),
        "Features divided by sqrt(D) standard deviations": by_components(tables["components"]),
    }
    names = {"splits": most, "n_train": paper.synthetic["n_train"]}
    return {
        "csv": found,
        "names": names,
        "cells": _titled(found, paper.data_sets, METHODS).assign(fewer=fewer),
        "curves": pd.concat([curve.assign(features=features) for features, curve in curves.items()]),
    }


def _summary(
    runs: pd.DataFrame,
    cells: Iterable[tuple[str, str]],
    measures: Sequence[str],
    printed: Mapping[str, Callable[[str, str], float]],
) -> pd.DataFrame:
    """Average the runs of each cell (data set and method) of a table, beside the numbers that ``printed`` gives by measure and cell."""
    rows = []
    for dataset, method in cells:
        own = select(runs, dataset=dataset, method=method)
        row: dict[str, Any] = {"dataset": dataset, "method": method, "n_runs": len(own)}
        row |= {measure: own[measure].mean() if measure in own else np.nan for measure in measures}
        for measure, of_paper in printed.items():
            row[f"{measure}_sd"] = own[measure].std(ddof=1) if measure in own else np.nan
            row[f"paper_{measure}"] = of_paper(dataset, method)
        rows.append(row)
    return pd.DataFrame(rows)


def by_components(components: pd.DataFrame) -> pd.DataFrame:
    """Return means and standard deviations over repetitions, by the initial number of components."""
    runs = components.assign(reduction=100 * (1 - components["weights"] / components["initial_weights"]))
    measures = ["error", "train_error", "n_components", "weights", "reduction"]
    grouped = runs.groupby("n_components_init")[measures]
    found = grouped.mean().join(grouped.std(ddof=1).add_suffix("_sd"))
    return found.assign(n_runs=grouped.size()).reset_index()


def _titled(found: pd.DataFrame, entries: Mapping[str, Any], methods: Mapping[str, str]) -> pd.DataFrame:
    measured = found.groupby("dataset")["n_runs"].transform("sum") > 0
    return found.assign(
        title=found["dataset"].map({name: entry["title"] for name, entry in entries.items()}),
        method_title=found["method"].map(methods),
        measured=measured,
        text=measured.map({True: "", False: "not available"}),
    )


def table2(tables: Tables, stated: pd.DataFrame, paper: Settings) -> dict[str, Any]:
    """Return Table 2 and the chosen hyperparameters, and what ``config/tables/hayashi2021.yaml`` lays out."""
    images: Any = paper.images
    columns, network, choice = images["data_sets"], images["network"], images["choice"]
    found = _summary(
        tables["images"],
        [(name, method) for name in columns for method in NETWORKS],
        (*MEASURES[:4], "initial_weights", "n_components"),
        {"error": lambda column, method: stated_value(stated, id=f"hayashi.table2.{column}.{method}")},
    )
    chosen = tables["images_choice"]
    return {
        "csv": found,
        "names": {
            "widths": ", ".join(map(str, network["widths"])),
            "epochs": network["epochs"],
            "n_components": network["n_components"],
            "n_validation": choice["n_validation"],
            "choice_epochs": choice["epochs"],
            "left_out": "; ".join(f"{name}, {reason}" for name, reason in images["left_out"].items()),
        },
        "cells": _titled(found, columns, NETWORKS),
        "choice": _titled(chosen.assign(n_runs=1), columns, NETWORKS) if len(chosen) else chosen,
    }
