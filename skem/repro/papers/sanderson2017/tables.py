"""Tables of Sanderson and Curtin (2017): Table 1 beside the paper's numbers, and our measurements of its advice and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from skem.repro.ledger.estimates import Estimate
from skem.repro.papers.measured import Tables, select, stated_value
from skem.repro.papers.sanderson2017.enough import enough
from skem.repro.papers.sanderson2017.settings import METHODS, SYNTHETIC, TIMED, Settings
from skem.repro.render.format import document, number, spread

COLUMNS = (
    *("dataset", "method", "n_components", "guard", "n_rows", "n_runs", "log_likelihood", "median"),
    *("per_row", "paper", "paper_per_row", "train", "test", "test_sd", "note"),
)
METHOD_OF_PAPER = {"gmm_diag": "armadillo_diag", "mlpack_gmm": "mlpack_full"}
"""Our counterparts of the claims' methods."""

IN_PAPER = {ours: theirs for theirs, ours in METHOD_OF_PAPER.items()}
ABOUT = {
    "kmeans_iter": "Iterations of k-means, then ten of EM",
    "em_iter": "Iterations of EM",
    "rows_per_component": "Training samples per Gaussian",
}
NOTE = """\
Log-likelihood, total over the training samples, best of several initialisations; {kmeans_iter} iterations of k-means, then
{em_iter} of EM. The paper's *gmm_diag* is Armadillo, with Mahalanobis distances and a random subset as seeds, and its MLPACK is
mlpack's Python package. The likelihood depends on the *bound* that keeps covariances regular. Per sample, *held out*
is the mean over folds. mlpack's package ignores seeds, so the seed of a run shuffles the samples; each fit has a process
of its own."""
TIMES_NOTE = """\
Seconds of a whole fit, extrapolated if fewer iterations or samples were timed. The paper states neither machine nor threads for its
Table 1. *ratio*: seconds divided by those of Armadillo on as many threads."""


def values(tables: Tables, *_: Any) -> Tables:
    """Return the tables of all jobs as they are."""
    return tables


def tables(tables: Tables, stated: pd.DataFrame, paper: Settings) -> dict[str, Any]:
    """Return Table 1 and, as Markdown, the advice too; and the times."""
    found, times = summary(tables, stated, paper), seconds(tables["timing"], stated, paper)
    return {
        "csv": found,
        "md": to_markdown(found, tables, paper),
        "timing_csv": times,
        "timing_md": times_to_markdown(times, tables["timing_others"]),
    }


def printed(stated: pd.DataFrame, dataset: str, method: str, quantity: str, paper: Settings) -> float:
    """Return the number in the paper's Table 1, or NaN."""
    entry: Any = paper.data_sets.get(dataset, {})
    source = entry.get("source", dataset)
    where = {"dataset": source, "method": IN_PAPER.get(method, ""), "quantity": quantity}
    return stated_value(stated, paper="sanderson2017", **where)


def summary(tables: Tables, stated: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """Return one row per data set and method.

    Columns: log_likelihood (best of the runs, total over n_rows), median, per_row; paper (its total), paper_per_row; train, test
    (mean log p per sample over folds), test_sd; note.
    """
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


def to_markdown(found: pd.DataFrame, tables: Tables, paper: Settings) -> str:
    """Render Table 1, and the likelihoods against regularisation, metrics and advice."""
    blocks: list[Any] = []
    for dataset, entry in paper.data_sets.items():
        own = found[found["dataset"] == dataset]
        fitted = own[own["n_rows"].notna()]
        size = f", {fitted['n_rows'].max():.0f} samples" if len(fitted) else ""
        blocks.append(f"**{entry['title']}**, K = {entry['n_components']}{size}")
        if "not_available" in entry:
            numbers = (f"{METHODS[row.method].title} {_total(row.paper)}" for row in own.itertuples())
            blocks.append(f"{own['note'].iloc[0]}. The paper has: {', '.join(numbers)}")
        elif not size:
            blocks.append(_why_not_fitted(entry))
        else:
            blocks.append(pd.DataFrame(map(_line, fitted.to_dict("records"))))
    blocks += [*_regularisation(tables["regularisation"]), *_starts(tables["starts"])]
    blocks += [*_advice(tables["advice"], paper), *_floors(tables["floors"])]
    note = NOTE.format(kmeans_iter=paper.kmeans_iter, em_iter=paper.em_iter)
    return document(
        "Table 1 of Sanderson and Curtin (2017)", note, *(_titled(block, paper) for block in blocks)
    )


def _titled(block: Any, paper: Settings) -> Any:
    """Replace names of data sets and of types of covariances in a table by titles."""
    if isinstance(block, dict):
        return {caption: _titled(table, paper) for caption, table in block.items()}
    if not isinstance(block, pd.DataFrame):
        return block
    titles = {name: entry["title"] for name, entry in paper.data_sets.items()}
    return block.replace({"data set": titles, "covariances": {"diag": "diagonal"}})


def _line(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        "method": METHODS[row["method"]].title,
        "bound": row["guard"],
        "paper": _total(row["paper"]),
        "ours, best": _total(row["log_likelihood"]),
        "median": _total(row["median"]),
        "runs": number(row["n_runs"], 0),
        "per sample": number(row["per_row"]),
        "paper, per sample": number(row["paper_per_row"]),
        "held out": spread(row["test"], row["test_sd"]),
        "remark": row["note"] if isinstance(row["note"], str) else "",
    }


def _regularisation(table: pd.DataFrame) -> Iterable[Any]:
    if not len(table):
        return
    best = table.pivot_table(
        index=["dataset", "method", "n_rows"],
        columns="reg_covar",
        values="log_likelihood",
        aggfunc="max",
        sort=False,
    )
    best = best.map(_total).rename(columns=lambda value: f"reg_covar {value:g}").reset_index()
    best["method"] = best["method"].map(lambda method: METHODS[method].title)
    yield "## The likelihood against the covariance regularisation"
    yield best.rename(columns={"dataset": "data set", "n_rows": "samples"})


def _starts(table: pd.DataFrame) -> Iterable[Any]:
    if not len(table):
        return
    found = table.groupby(["em_iter", "metric"])["train"].agg(["mean", "max"]).map(_total).reset_index()
    yield "## Mahalanobis against Euclidean initialisations"
    yield "Total log-likelihood of a diagonal mixture."
    yield found.set_axis(["iterations of EM", "metric of k-means", "mean", "best"], axis=1)


def _advice(table: pd.DataFrame, paper: Settings) -> Iterable[Any]:
    if not len(table):
        return
    setup = paper.advice
    yield "## The paper's advice"
    yield (
        f"Mean log p per held-out sample, features standardised, reg_covar {setup['reg_covar']:g}, {setup['runs']} initialisations. "
        "*Enough*: the smallest number such that no larger number gains more than the standard deviation between "
        "initialisations; its 95% interval in brackets."
    )
    for about, title in ABOUT.items():
        own = select(table, about=about)
        lines = _by_value(own, "test", "mean", 3)
        if about != "rows_per_component":
            curves = (part.groupby("value")["test"] for _, part in own.groupby("dataset", sort=False))
            lines["enough"] = [
                str(enough({int(n): Estimate.of(runs.reset_index(drop=True)) for n, runs in curve}))
                for curve in curves
            ]
        yield {title: lines}
    few = select(table, about="rows_per_component")
    yield {
        f"{ABOUT['rows_per_component']}: median number of iterations until the gain is below {setup['tol']:g} nats per sample": _by_value(
            few, "n_iter", "median", 0
        )
    }
    share = f"{ABOUT['rows_per_component']}: share of fits that converge"
    yield {share: _by_value(few, "converged", "mean", 2)}


def _by_value(table: pd.DataFrame, column: str, aggregate: str, digits: int) -> pd.DataFrame:
    """Return a line per data set and type of covariances, a column per number."""
    index = ["dataset", "covariance"]
    found = table.pivot_table(index=index, columns="value", values=column, aggfunc=aggregate, sort=False)
    found = found.reindex(columns=sorted(found)).map(lambda value: number(value, digits)).rename(columns=str)
    return found.reset_index().rename(columns={"dataset": "data set", "covariance": "covariances"})


def _floors(table: pd.DataFrame) -> Iterable[Any]:
    if not len(table) or "train" not in table:
        return
    found = table.pivot_table(index="dataset", columns="floor", values="train", aggfunc="median", sort=False)
    found = found.map("{:.4g}".format).rename(columns=lambda floor: f"floor {floor:g}").reset_index()
    yield "## The likelihood against the variance floor"
    yield "Armadillo, mean log p per training sample, median over initialisations."
    yield found.rename(columns={"dataset": "data set"})


def times_to_markdown(table: pd.DataFrame, others: pd.DataFrame) -> str:
    """Render the seconds of Table 1, Figure 2 and k-means."""
    title = "Times of Sanderson and Curtin (2017)"
    if not len(table):
        return document(title, "not part of this run")
    lines = pd.DataFrame(
        {
            "data set": row["dataset"],
            "samples": number(row["n_rows"], 0),
            "threads": str(row["n_threads"]),
            "method": METHODS[row["method"]].title,
            "paper": number(row["paper"]),
            "k-means": number(row["kmeans_seconds"]),
            "per iteration": number(row["seconds_per_iteration"], 4),
            "iterations timed": str(row["iterations_timed"]),
            "whole fit": number(row["seconds"], missing=str(row["note"])),
            "ratio": number(row["ratio"]),
        }
        for row in table.to_dict("records")
        if row["method"] in TIMED
    )
    synthetic = lines["data set"] == SYNTHETIC
    kmeans = select(others, about="kmeans")
    return document(
        title,
        TIMES_NOTE,
        "## Table 1",
        lines[~synthetic],
        "## Figure 2",
        lines[synthetic],
        *(_kmeans(kmeans) if len(kmeans) else ()),
    )


def _kmeans(table: pd.DataFrame) -> Iterable[Any]:
    size, lines = table.iloc[0], []
    for n_threads, part in table.groupby("n_threads"):
        first = part[part["engine"] == "scikit-learn"].set_index("round")
        for engine, own in part.groupby("engine", sort=False):
            by_round = own.set_index("round")
            difference = (by_round["inertia"] / first["inertia"] - 1).abs().max()
            lines.append(
                {
                    "threads": number(n_threads, 0),
                    "engine": engine,
                    "seconds": number(own["seconds"].median()),
                    "ratio to scikit-learn": number((by_round["seconds"] / first["seconds"]).median()),
                    "difference of inertia": number(difference, ".1e", missing="not installed"),
                }
            )
    yield (
        f"## k-means, {size['n_iter']:.0f} iterations from the same centres, {size['n_rows']:.0f} samples, "
        f"K = {size['n_clusters']:.0f}"
    )
    yield pd.DataFrame(lines)


def _total(value: float) -> str:
    """Format in thousands or millions, as the paper does."""
    return (
        number(value / 1e6) + "e6"
        if abs(value) >= 1e6
        else number(value / 1e3) + "e3"
        if value == value
        else "-"
    )
