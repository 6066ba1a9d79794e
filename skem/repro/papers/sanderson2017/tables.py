"""Table 1 of Sanderson and Curtin (2017) to be read beside the paper's, and what was measured besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.papers.sanderson2017.evidence import SYNTHETIC
from skem.repro.papers.sanderson2017.settings import METHODS, TIMED, Settings

COLUMNS = (
    *("dataset", "method", "n_components", "guard", "n_rows", "n_runs", "log_likelihood", "median"),
    *("per_row", "paper", "paper_per_row", "train", "test", "test_sd", "note"),
)
PAPERS = {"armadillo_diag": "gmm_diag", "mlpack_full": "mlpack"}
"""Methods that the paper has, by its name in the ids of claims."""
Values = Mapping[str, pd.DataFrame]


def printed(stated: pd.DataFrame, dataset: str, method: str, quantity: str) -> float:
    """What Table 1 of the paper prints; NaN where it does not have it."""
    paper = dataset.partition("_")[0]  # ozone, whatever stands for what is missing
    found = stated.loc[stated["id"] == f"sanderson.table1.{paper}.{PAPERS.get(method)}_{quantity}", "value"]
    return float(found.iloc[0]) if len(found) else np.nan


def _of(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    for key, value in where.items():
        table = table[table[key] == value] if len(table) else table
    return table


def summary(fits: pd.DataFrame, heldout: pd.DataFrame, stated: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """One row per data set and method.

    Returns
    -------
    DataFrame
        dataset, method, n_components, guard, n_rows, n_runs; log_likelihood (best of the runs, total over n_rows),
        median, per_row; paper (its total), paper_per_row; train, test (mean log p per row over folds), test_sd; note.
    """
    rows = []
    for dataset, entry in paper.data_sets.items():
        if "not_available" in entry:
            for method in PAPERS:
                said = printed(stated, dataset, method, "log_likelihood")
                rows.append(
                    {"dataset": dataset, "method": method, "n_components": entry["n_components"]}
                    | {"paper": said, "note": f"not available: {entry['not_available']}"}
                )
            continue
        for method in paper.methods(dataset):
            own = _of(fits, dataset=dataset, method=method)
            row: dict[str, Any] = {
                "dataset": dataset,
                "method": method,
                "n_components": entry["n_components"],
            }
            row["guard"] = METHODS[method].guard.format(floor=paper.floor)
            row["paper"] = printed(stated, dataset, method, "log_likelihood")
            if not len(own):
                rows.append(row | {"n_runs": 0, "note": _why_not_fitted(entry)})
                continue
            there = own[own["log_likelihood"].notna()]
            n_rows = int(own["n_rows"].iloc[0])
            row |= {"n_rows": n_rows, "n_runs": len(there)}
            n_drawn = entry.get("drawn", n_rows)
            row["paper_per_row"] = row["paper"] / n_drawn
            if len(there):
                values = there["log_likelihood"]
                row |= {"log_likelihood": values.max(), "median": values.median()}
                row["per_row"] = values.max() / n_rows
            failed = own[own["log_likelihood"].isna()]
            if len(failed):
                row["note"] = f"{len(failed)} of {len(own)}: {failed['note'].iloc[0]}"
            folds = _of(heldout, dataset=dataset, method=method)
            if len(folds) and "test" in folds:
                row |= {"train": folds["train"].mean(), "test": folds["test"].mean()}
                row["test_sd"] = folds["test"].std(ddof=1)
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def seconds(timing: pd.DataFrame, stated: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """Seconds of whole fits, one row per data set (or the rows of Figure 2), method and number of threads.

    Returns
    -------
    DataFrame
        dataset, method, n_threads, n_rows, passes_timed, rounds, kmeans_seconds, seconds_per_pass, seconds, paper, ratio (to
        Armadillo, on as many threads: the median over rounds), note.
    """
    rows = []
    if not len(timing):
        return pd.DataFrame()
    for (dataset, n_threads, method), own in timing.groupby(["dataset", "n_threads", "method"], sort=False):
        row = {"dataset": dataset, "method": method, "n_threads": n_threads, "rounds": len(own)}
        row |= {key: int(own[key].iloc[0]) for key in ("n_rows", "passes_timed")}
        row |= {key: own[key].mean() for key in ("kmeans_seconds", "seconds_per_pass", "seconds")}
        row["note"] = own["note"].iloc[0]
        first = _of(timing, dataset=dataset, n_threads=n_threads, method="armadillo_diag")
        both = own.set_index("round")["seconds"] / first.set_index("round")["seconds"]
        row["ratio"] = both.median()
        row["paper"] = printed(stated, str(dataset), str(method), "fit_seconds")
        if dataset == SYNTHETIC and method == "armadillo_diag":
            name = f"sanderson.fig2.fit_seconds_{n_threads}thread" + ("s" if n_threads > 1 else "")
            found = stated.loc[stated["id"] == name, "value"]
            row["paper"] = float(found.iloc[0]) if len(found) else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _why_not_fitted(entry: Mapping[str, Any]) -> str:
    return f"only timed: {entry['only_timed']}" if "only_timed" in entry else "not part of this run"


def to_markdown(table: pd.DataFrame, found: Values, paper: Settings) -> str:
    """The likelihoods: Table 1, held-out rows, the ridge, advice and metrics."""
    text = ["# Table 1 of Sanderson and Curtin (2017)"]
    text.append(
        f"Log-likelihood, total over the training rows, best of several starts; {paper.kmeans_iter} iterations of k-means, then "
        f"{paper.em_iter} passes of EM. *gmm_diag* of the paper is Armadillo here, with Mahalanobis distances and a random subset as "
        "seeds, and MLPACK is mlpack's Python package. The likelihood is a function of what keeps covariances from turning singular, so "
        "it stands beside each. Per row, *held out* is the mean over folds. mlpack's package takes no account of a seed: rows "
        "come to it in an order drawn by the run's, each fit in a process of its own."
    )
    for dataset, entry in paper.data_sets.items():
        own = table[table["dataset"] == dataset]
        size = f", {_whole(own['n_rows'].max())} rows" if own["n_rows"].notna().any() else ""
        text.append(f"**{entry['title']}**, K = {entry['n_components']}{size}")
        if "not_available" in entry:
            said = ", ".join(f"{METHODS[row.method].title} {_total(row.paper)}" for row in own.itertuples())
            text.append(f"not available: {entry['not_available']}. The paper has: {said}")
            continue
        if not size:
            text.append(_why_not_fitted(entry))
            continue
        lines = [
            {
                "method": METHODS[row["method"]].title,
                "held by": row["guard"],
                "the paper": _total(row["paper"]),
                "here": _total(row["log_likelihood"]),
                "median": _total(row["median"]),
                "of": _whole(row["n_runs"]),
                "per row": _cell(row["per_row"]),
                "the paper, per row": _cell(row["paper_per_row"]),
                "held out": _cell(row["test"], row["test_sd"]),
                "remark": row["note"] if isinstance(row["note"], str) else "",
            }
            for row in own[own["n_rows"].notna()].to_dict("records")
        ]
        text.append(_markdown(lines))
    text += _ridges(found["ridges"]) + _starts(found["starts"]) + _advice(found["advice"], paper)
    return "\n\n".join(text) + "\n"


def _ridges(ridges: pd.DataFrame) -> list[str]:
    if not len(ridges):
        return []
    lines = []
    for (dataset, method), own in ridges.groupby(["dataset", "method"], sort=False):
        values = own.groupby("ridge")["log_likelihood"].max()
        line = {
            "data set": dataset,
            "method": METHODS[str(method)].title,
            "rows": _whole(own["n_rows"].iloc[0]),
        }
        lines.append(line | {f"ridge {ridge:g}": _total(value) for ridge, value in values.items()})
    return ["## The likelihood against the ridge", _markdown(lines)]


def _starts(starts: pd.DataFrame) -> list[str]:
    if not len(starts):
        return []
    mean = starts.groupby(["passes", "metric"])["train"].agg(["mean", "max"])
    lines = [
        {
            "passes of EM": str(passes),
            "metric of k-means": metric,
            "mean": _total(row["mean"]),
            "best": _total(row["max"]),
        }
        for (passes, metric), row in mean.iterrows()
    ]
    return [
        "## Mahalanobis against Euclidean starts",
        "Total log-likelihood of a diagonal mixture.",
        _markdown(lines),
    ]


ABOUT = {
    "kmeans_iter": "Iterations of k-means, then ten of EM",
    "em_iter": "Passes of EM",
    "rows_per_component": "Training rows per Gaussian",
}


def _advice(advice: pd.DataFrame, paper: Settings) -> list[str]:
    if not len(advice):
        return []
    text = [
        "## What the paper advises",
        f"Mean log p per held-out row, features standardised, ridge {paper.advice['ridge']:g}, {paper.advice['runs']} "
        f"repetitions. *Enough*: no larger number gains {paper.advice['gain']:g} nats or more.",
    ]
    for about, title in ABOUT.items():
        lines = []
        for (dataset, covariance), own in _of(advice, about=about).groupby(
            ["dataset", "covariance"], sort=False
        ):
            curve = own.groupby("value")["test"].mean()
            ahead = curve[::-1].cummax()[::-1] - curve
            line = {"data set": dataset, "covariances": covariance}
            line |= {str(value): _cell(mean, digits=3) for value, mean in curve.items()}
            enough = ahead.index[ahead < paper.advice["gain"]][0]
            lines.append(line | {"enough": f"{enough}{' or more' if enough == curve.index[-1] else ''}"})
        columns = [str(value) for value in paper.advice[about]]  # type: ignore[literal-required]
        table = (
            pd.DataFrame(lines).fillna("").reindex(columns=["data set", "covariances", *columns, "enough"])
        )
        text += [f"**{title}**", table.fillna("").to_markdown(index=False, disable_numparse=True)]
    return text


def timing_to_markdown(table: pd.DataFrame, found: Values, paper: Settings) -> str:
    """The seconds: Table 1, Figure 2 and k-means."""
    text = ["# Times of Sanderson and Curtin (2017)"]
    if not len(table):
        return text[0] + "\n\nnot part of this run\n"
    text.append(
        "Seconds of a whole fit; the paper does not say on what machine, and on how many threads, those of its Table 1 were "
        "taken. Where fewer passes were timed, or fewer rows, those of a whole fit follow from them. Ratio: to Armadillo on as many threads."
    )
    for name, own in (
        ("Table 1", table[table["dataset"] != SYNTHETIC]),
        ("Figure 2", table[table["dataset"] == SYNTHETIC]),
    ):
        lines = [
            {
                "data set": row["dataset"],
                "rows": _whole(row["n_rows"]),
                "threads": str(row["n_threads"]),
                "method": METHODS[row["method"]].title,
                "the paper": _cell(row["paper"]),
                "k-means": _cell(row["kmeans_seconds"]),
                "a pass": _cell(row["seconds_per_pass"], digits=4),
                "passes timed": str(row["passes_timed"]),
                "whole": _cell(row["seconds"]) or row["note"],
                "ratio": _cell(row["ratio"]),
            }
            for row in own.to_dict("records")
            if row["method"] in TIMED
        ]
        text += [f"## {name}", _markdown(lines)]
    others = found["timing_others"]
    kmeans = _of(others, about="kmeans")
    if len(kmeans):
        lines = []
        for n_threads, part in kmeans.groupby("n_threads"):
            first = part[part["engine"] == "scikit-learn"].set_index("round")
            for engine, own in part.groupby("engine", sort=False):
                by_round = own.set_index("round")
                apart = (by_round["inertia"] / first["inertia"] - 1).abs().max()
                lines.append(
                    {
                        "threads": f"{n_threads:.0f}",
                        "engine": engine,
                        "seconds": _cell(own["seconds"].median()),
                    }
                    | {"ratio to scikit-learn": _cell((by_round["seconds"] / first["seconds"]).median())}
                    | {"inertia apart": "not installed" if np.isnan(apart) else f"{apart:.1e}"}
                )
        size = kmeans.iloc[0]
        text += [
            f"## k-means, {size['n_iter']:.0f} iterations from the same rows, {size['n_rows']:.0f} rows, K = {size['n_clusters']:.0f}",
            _markdown(lines),
        ]
    return "\n\n".join(text) + "\n"


def _markdown(lines: list[dict[str, Any]]) -> str:
    return pd.DataFrame(lines).fillna("").to_markdown(index=False, disable_numparse=True)


def _whole(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.0f}"


def _total(value: float) -> str:
    """In thousands or millions, as the paper prints them."""
    if np.isnan(value):
        return ""
    return f"{value / 1e6:.2f}e6" if abs(value) >= 1e6 else f"{value / 1e3:.2f}e3"


def _cell(mean: float, sd: float = float("nan"), digits: int = 2) -> str:
    if np.isnan(mean):
        return ""
    return f"{mean:.{digits}f}" + ("" if np.isnan(sd) else f" ± {sd:.{digits}f}")
