"""Tables of Sanderson and Curtin (2017): likelihoods and times beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.papers.measured import Tables, select, stated_value
from skem.repro.papers.sanderson2017.settings import METHODS, SYNTHETIC, TIMED, Settings
from skem.repro.render.format import number

COLUMNS = (
    *("dataset", "method", "n_components", "guard", "n_rows", "n_runs", "log_likelihood", "median"),
    *("per_row", "paper", "paper_per_row", "train", "test", "test_sd", "note"),
)
METHOD_OF_PAPER = {"gmm_diag": "armadillo_diag", "mlpack_gmm": "mlpack_full"}
"""Our counterparts of the claims' methods."""

IN_PAPER = {ours: theirs for theirs, ours in METHOD_OF_PAPER.items()}


def values(tables: Tables, *_: Any) -> Tables:
    """Return the tables of all jobs as they are."""
    return tables


def tables(tables: Tables, stated: pd.DataFrame, paper: Settings) -> dict[str, Any]:
    """Return Table 1 and the times, and what ``config/tables/sanderson2017.yaml`` lays out."""
    found, times = summary(tables, stated, paper), seconds(tables["timing"], stated, paper)
    titles = {name: entry["title"] for name, entry in paper.data_sets.items()}
    methods = {name: method.title for name, method in METHODS.items()}
    made = {
        name: table.assign(title=table["dataset"].map(titles), method_title=table["method"].map(methods))
        for name, table in {"cells": _cells(found, paper), "times": _times(times)}.items()
        if len(table)
    }
    names: dict[str, Any] = {"kmeans_iter": paper.kmeans_iter, "em_iter": paper.em_iter}
    names["missing"] = "" if len(times) else "not part of this run"
    return {"csv": found, "timing_csv": times, "names": names, "times": times, **made}


def printed(stated: pd.DataFrame, dataset: str, method: str, quantity: str, paper: Settings) -> float:
    """Return the number in the paper's Table 1, or NaN."""
    entry: Any = paper.data_sets.get(dataset, {})
    source = entry.get("source", dataset)
    where = {"dataset": source, "method": IN_PAPER.get(method, ""), "quantity": quantity}
    return stated_value(stated, paper="sanderson2017", **where)


def summary(tables: Tables, stated: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """Return one row per data set and method: totals of the training samples, the paper's, and the mean log p per sample over folds."""
    rows = []
    for dataset, entry in paper.data_sets.items():
        for method in paper.methods(dataset) if "not_available" not in entry else IN_PAPER:
            row: dict[str, Any] = {"dataset": dataset, "method": method}
            row["n_components"] = entry["n_components"]
            row["paper"] = printed(stated, dataset, method, "log_likelihood", paper)
            rows.append(row)
            if "not_available" in entry:
                row["note"] = f"not available: {entry['not_available']}"
                continue
            row["guard"] = METHODS[method].bound.format(floor=paper.floor)
            own = select(tables["fits"], dataset=dataset, method=method)
            if not len(own):
                row |= {"n_runs": 0, "note": _why_not_fitted(entry)}
                continue
            totals, n_rows = own["log_likelihood"].dropna(), int(own["n_rows"].iloc[0])
            row |= {"n_rows": n_rows, "n_runs": len(totals)}
            row["paper_per_row"] = row["paper"] / entry.get("drawn", n_rows)
            row |= {"log_likelihood": totals.max(), "median": totals.median()}
            row["per_row"] = row["log_likelihood"] / n_rows
            failed = own[own["log_likelihood"].isna()]
            if len(failed):
                row["note"] = f"{len(failed)} of {len(own)} {failed['note'].iloc[0]}"
            folds = select(tables["heldout"], dataset=dataset, method=method)
            if len(folds) and "test" in folds:
                row |= {"train": folds["train"].mean(), "test": folds["test"].mean()}
                row["test_sd"] = folds["test"].std(ddof=1)
    return pd.DataFrame(rows, columns=COLUMNS)


def seconds(timing: pd.DataFrame, stated: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """Return the mean seconds of whole fits by data set (or the samples of Figure 2), method and number of threads.

    ``ratio`` is to Armadillo on as many threads: the median over rounds.
    """
    rows = []
    if not len(timing):
        return pd.DataFrame()
    for (dataset, n_threads, method), own in timing.groupby(["dataset", "n_threads", "method"], sort=False):
        row = {"dataset": dataset, "method": method, "n_threads": n_threads, "rounds": len(own)}
        row |= {key: int(own[key].iloc[0]) for key in ("n_rows", "iterations_timed")}
        row |= {key: own[key].mean() for key in ("kmeans_seconds", "seconds_per_iteration", "seconds")}
        row["note"] = own["note"].iloc[0]
        first = select(timing, dataset=dataset, n_threads=n_threads, method="armadillo_diag")
        row["ratio"] = (own.set_index("round")["seconds"] / first.set_index("round")["seconds"]).median()
        if dataset == SYNTHETIC:
            threads = stated["setting"].str.contains(f"n_threads={n_threads};")
            row["paper"] = printed(stated[threads], str(dataset), str(method), "fit_seconds", paper)
        else:
            row["paper"] = printed(stated, str(dataset), str(method), "fit_seconds", paper)
        rows.append(row)
    return pd.DataFrame(rows)


def _why_not_fitted(entry: Mapping[str, Any]) -> str:
    return f"only timed: {entry['only_timed']}" if "only_timed" in entry else "not part of this run"


def _cells(found: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    found, totals = (
        found.assign(fitted=found["n_rows"].notna(), size="", text=""),
        ("paper", "log_likelihood", "median"),
    )
    found = found.assign(**{f"{name}_total": found[name].map(_total) for name in totals})
    for dataset, own in found.groupby("dataset"):
        entry, here = paper.data_sets[str(dataset)], found["dataset"] == dataset
        if own["fitted"].any():
            found.loc[here, "size"] = f", {own['n_rows'].max():.0f} samples"
        elif "not_available" in entry:
            numbers = [f"{METHODS[row.method].title} {row.paper_total}" for row in own.itertuples()]
            found.loc[here, "text"] = f"{own['note'].iloc[0]}. The paper has: {', '.join(numbers)}"
        else:
            found.loc[here, "text"] = _why_not_fitted(entry)
    return found


def _times(times: pd.DataFrame) -> pd.DataFrame:
    if not len(times):
        return times
    times = times[times["method"].isin(TIMED)]
    figure2 = times["dataset"] == SYNTHETIC
    return times.assign(
        of=np.where(figure2, "Figure 2", "Table 1"),
        whole=times["seconds"].map("{:.2f}".format).where(times["seconds"].notna(), times["note"]),
    )


def _total(value: float) -> str:
    """Format in thousands or millions, as the paper does."""
    return (
        number(value / 1e6) + "e6"
        if abs(value) >= 1e6
        else number(value / 1e3) + "e3"
        if value == value
        else "-"
    )
