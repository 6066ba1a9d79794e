"""From scores and seconds to the tables that are read, and to ranks over many data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from skem.metrics import mcnemar
from skem.repro import protocols

MACHINE = "svm_rbf"
"""The method that others are held against."""


def beside_machine(
    scores: pd.DataFrame,
    predicted: Mapping[tuple[str, str], NDArray[np.int16]],
    y_test: Mapping[str, NDArray[Any]],
) -> pd.DataFrame:
    """The scores with two columns more: how many test rows a method alone has right, and how many `MACHINE` alone.

    Parameters
    ----------
    scores : DataFrame
        dataset, method, run.
    predicted : mapping
        By data set and method: positions in the classes, shape (n_runs, n_test).
    y_test : mapping
        By data set: labels from 0 on, shape (n_test,).

    Returns
    -------
    DataFrame
        With only_method and only_machine, in the first run of methods that stand beside a machine, else NaN.
    """
    counts = []
    for dataset, method, run in scores[["dataset", "method", "run"]].itertuples(index=False):
        machine, pair = predicted.get((dataset, MACHINE)), (np.nan, np.nan)
        if machine is not None and method != MACHINE and run == 0:
            only_machine, only_method, _ = mcnemar(y_test[dataset], predicted[dataset, method][0], machine[0])
            pair = only_method, only_machine
        counts.append(pair)
    return scores.assign(
        **dict(zip(("only_method", "only_machine"), np.reshape(counts, (-1, 2)).T, strict=True))
    )


def of_images(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per data set and method, in the order of the scores.

    Parameters
    ----------
    scores : DataFrame
        dataset, method, run, n_test, accuracy (%), log_loss, calibration_error (%), and the counts of `beside_machine`.

    Returns
    -------
    DataFrame
        dataset, method, n_runs; accuracy with its interval (low, high; test rows and runs together), log_loss,
        calibration_error (means); ``error`` instead of all of these if the method failed; gain over `MACHINE` (points) and the p of McNemar's exact test in the first run.
    """
    machines = scores[scores["method"] == MACHINE].set_index("dataset")["accuracy"]
    rows = []
    for (dataset, method), own in scores.groupby(["dataset", "method"], sort=False):
        if "error" in own and own["error"].notna().any():
            rows.append({"dataset": dataset, "method": method, "error": own["error"].dropna().iloc[0]})
            continue
        mean, low, high = protocols.interval(own["accuracy"] / 100, int(own["n_test"].iloc[0]))
        row = {"dataset": dataset, "method": method, "n_runs": len(own)}
        row |= {"accuracy": 100 * mean, "low": 100 * low, "high": 100 * high}
        row |= {name: own[name].mean() for name in ("log_loss", "calibration_error")}
        row |= {"gain": np.nan, "p": np.nan}
        counts = own[["only_method", "only_machine"]].iloc[0]
        if counts.notna().all():
            n = int(counts.sum())
            row["gain"] = 100 * mean - machines[dataset]
            row["p"] = stats.binomtest(int(counts["only_method"]), n).pvalue if n else 1.0
        rows.append(row)
    return pd.DataFrame(rows)


def of_seconds(seconds: pd.DataFrame) -> pd.DataFrame:
    """Medians over runs or folds of the seconds to fit and to predict, by data set and method."""
    return seconds.groupby(["dataset", "method"], sort=False)[["fit", "predict"]].median().reset_index()


def of_tables(scores: pd.DataFrame) -> pd.DataFrame:
    """Means over folds, by data set and method: accuracy (%), log_loss, calibration_error (%); and ``error`` if one failed."""
    measures = ["accuracy", "log_loss", "calibration_error"]
    if "error" in scores:
        means = scores.groupby(["dataset", "method"], sort=False)[measures].mean()
        return means.join(scores.groupby(["dataset", "method"])["error"].first()).reset_index()
    return scores.groupby(["dataset", "method"], sort=False)[measures].mean().reset_index()


def ranks(table: pd.DataFrame, measure: str, larger_is_better: bool) -> pd.DataFrame:
    """Average ranks over data sets (Demsar 2006): 1 is best, ties share their places.

    Parameters
    ----------
    table : DataFrame
        As `of_tables` returns it. Methods without the measure on any data set do not take part.
    measure : str
    larger_is_better : bool

    Returns
    -------
    DataFrame
        method, rank, n_datasets, critical_difference (Nemenyi, at 5%), p (Friedman's test that all are alike).
    """
    wide = table.pivot_table(index="dataset", columns="method", values=measure, sort=False).dropna(axis=1)
    n, k = wide.shape
    placed = (-wide if larger_is_better else wide).rank(axis=1)
    apart = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
    p = stats.friedmanchisquare(*(wide[name] for name in wide)).pvalue if k > 2 and n > 1 else np.nan
    mean = placed.mean().sort_values(kind="stable")
    return pd.DataFrame(
        {"method": mean.index, "rank": mean.to_numpy(), "n_datasets": n, "critical_difference": apart, "p": p}
    )


def images_markdown(
    table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str], notes: str
) -> str:
    """The table of images, a part per data set."""
    text = ["# Is it worth choosing? Images", notes]
    for dataset, own in table.groupby("dataset", sort=False):
        lines = [
            {
                "method": names[row["method"]],
                "accuracy, %": f"failed: {row['error']}"
                if isinstance(row.get("error"), str)
                else f"{row['accuracy']:.2f} [{row['low']:.2f}, {row['high']:.2f}]",
                "against the SVM": ""
                if np.isnan(row["gain"])
                else f"{row['gain']:+.2f} (p = {row['p']:.2g})",
                "log-loss": _shown(row["log_loss"], 3),
                "calibration error, %": _shown(row["calibration_error"], 1),
                "runs": _shown(row["n_runs"], 0),
            }
            for row in own.to_dict("records")
        ]
        text += [
            f"**{titles[dataset]}**",
            pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True),
        ]
    return "\n\n".join(text) + "\n"


def seconds_markdown(
    table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str], notes: str
) -> str:
    """The seconds, with a heading of their own that the report leaves out."""
    text = ["# Is it worth choosing? Seconds", notes]
    for dataset, own in table.groupby("dataset", sort=False):
        lines = [
            {
                "method": names[row["method"]],
                "fit": _shown(row["fit"], 1),
                "predict": _shown(row["predict"], 2),
            }
            for row in own.to_dict("records")
        ]
        text += [
            f"**{titles[dataset]}**",
            pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True),
        ]
    return "\n\n".join(text) + "\n"


def tables_markdown(
    table: pd.DataFrame, placed: Mapping[str, pd.DataFrame], names: Mapping[str, str], notes: str
) -> str:
    """Average ranks, then accuracy and log-loss by data set."""
    text = ["# Is it worth choosing? Tables", notes]
    for measure, label, digits in (("accuracy", "accuracy, %", 1), ("log_loss", "log-loss", 3)):
        own = placed[measure]
        first = own.iloc[0]
        lines = [
            {"method": names[row["method"]], "average rank": f"{row['rank']:.2f}"}
            for row in own.to_dict("records")
        ]
        text += [
            f"**Average rank by {label}**, {first['n_datasets']} data sets; ranks that are less than "
            f"{first['critical_difference']:.2f} apart cannot be told from each other",
            pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True),
        ]
        wide = table.pivot_table(index="dataset", columns="method", values=measure, sort=False)
        shown = wide.map(lambda value, digits=digits: _shown(value, digits)).rename(columns=names)
        text += [
            f"**By data set, {label}**",
            shown.reset_index().to_markdown(index=False, disable_numparse=True),
        ]
    if "error" in table:
        text += [
            f"{names[row['method']]} failed on {row['dataset']}: {row['error']}"
            for row in table[table["error"].notna()].to_dict("records")
        ]
    return "\n\n".join(text) + "\n"


def _shown(value: float, digits: int) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}f}"
