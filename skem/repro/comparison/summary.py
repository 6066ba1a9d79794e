"""From measurements to tables, and to ranks over data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from skem.metrics import mcnemar
from skem.repro import protocols
from skem.repro.comparison.configuration import SCORES, Comparison
from skem.repro.files import read_arrays, read_table
from skem.repro.paired import paired_test
from skem.repro.render.format import document, interval, number

SVM = "svm_rbf_search"
"""Method that others are compared with on images."""

KEYS = ["dataset", "method"]
MEASURES = ["accuracy", "log_loss", "calibration_error"]
SIZES = ["n_train", "n_features"]
SIZE_TITLES = {"n_train": "training samples", "n_features": "features"}
DIGITS = {"accuracy": 1, "log_loss": 3}
"""Decimals of measures on tables. Ranks are of the rounded values, so that no digit that is not shown decides a tie."""


def beside_svm(
    scores: pd.DataFrame, predictions: Mapping[tuple[str, str], Mapping[str, NDArray[Any]]]
) -> pd.DataFrame:
    """Add only_method and only_svm: test samples of each run that one classifies correctly, and the other does not.

    Both are NaN beside no `SVM`, which has one run. ``predictions`` are arrays run, label and predicted, by data set and method.
    """
    counts = []
    for dataset, method, run in scores[[*KEYS, "run"]].itertuples(index=False):
        svm, pair = predictions.get((dataset, SVM)), (np.nan, np.nan)
        if svm and method != SVM and pd.notna(run):
            ours = predictions[dataset, method]
            predicted = ours["predicted"][ours["run"] == run]
            only_svm, only_method, _ = mcnemar(svm["label"], predicted, svm["predicted"])
            pair = only_method, only_svm
        counts.append(pair)
    both = np.reshape(counts, (-1, 2)).T
    return scores.assign(only_method=both[0], only_svm=both[1])


def joined(paths: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Measurements of all jobs by name, from their files "{part}/{dataset}/{method}": images, images_timing, and so on."""
    tables: dict[str, list[pd.DataFrame]] = {}
    predictions = {}
    for path in map(Path, paths):
        part, dataset = path.parts[-3:-1]
        if path.suffix == ".npz":
            if part == "images" and (arrays := read_arrays(path)):
                predictions[dataset, path.stem] = arrays
        elif len(table := read_table(path)):
            name = f"{part}_timing" if path.name.endswith(".seconds.csv") else part
            tables.setdefault(name, []).append(table)
    found = {
        name: pd.concat(tables[name], ignore_index=True) if name in tables else pd.DataFrame()
        for name in ("images", "images_timing", "tables", "tables_timing", "outliers")
    }
    for name in ("tables", "tables_timing"):
        if len(
            found[name]
        ):  # data set by data set, fold by fold: means of another order differ in the last digit
            groups = found[name].groupby("dataset", sort=False)
            found[name] = pd.concat([own.sort_values("fold", kind="stable") for _, own in groups])
    if len(found["images"]):
        found["images"] = beside_svm(found["images"], predictions)
    return found


def tables(values: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables by name, from `joined` measurements."""
    means = of_tables(values["tables"])
    both = [ranks(means, "accuracy", larger_is_better=True), ranks(means, "log_loss", larger_is_better=False)]
    return {
        "images": of_images(values["images"]),
        "images_timing": of_seconds(values["images_timing"]),
        "tables": means,
        "ranks": pd.concat(both, ignore_index=True),
        "outliers": values["outliers"],
    }


def of_images(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per data set and method, in the order of the scores; a method that failed has ``error`` alone.

    Columns: n_train, n_features, n_runs; accuracy (%) with its interval over test samples and runs; means of log_loss and
    calibration_error; gain over `SVM` (points) and its p, by `paired_test` over all runs.
    """
    svm = scores[scores["method"] == SVM].set_index("dataset")["accuracy"]
    rows = []
    for keys, own in scores.groupby(KEYS, sort=False):
        row = dict(zip(KEYS, keys, strict=True))
        if "error" in own and own["error"].notna().any():
            rows.append(row | {"error": own["error"].dropna().iloc[0]})
            continue
        n_test = int(own["n_test"].iloc[0])
        ends = protocols.interval(own["accuracy"] / 100, n_test)
        row |= {name: int(own[name].iloc[0]) for name in SIZES} | {"n_runs": len(own)}
        row |= dict(zip(("accuracy", "low", "high"), np.multiply(100, ends), strict=True))
        row |= {name: own[name].mean() for name in MEASURES[1:]} | {"gain": np.nan, "p": np.nan}
        if row["method"] != SVM and row["dataset"] in svm:
            gains = (own["accuracy"] - svm[row["dataset"]]) / 100
            gain, row["p"] = paired_test(gains, own["only_method"] + own["only_svm"], n_test)
            row["gain"] = 100 * gain
        rows.append(row)
    return pd.DataFrame(rows)


def of_seconds(seconds: pd.DataFrame) -> pd.DataFrame:
    """Medians over runs of the seconds to fit and to predict, by data set and method."""
    return seconds.groupby(KEYS, sort=False)[["fit", "predict"]].median().reset_index()


def of_tables(scores: pd.DataFrame) -> pd.DataFrame:
    """`SIZES` of the first fold and means over folds of `MEASURES`, by data set and method; ``error`` if a method failed."""
    groups = scores.groupby(KEYS, sort=False)
    means = groups[SIZES].first().join(groups[MEASURES].mean())
    return (means.join(groups["error"].first()) if "error" in scores else means).reset_index()


def ranks(table: pd.DataFrame, measure: str, larger_is_better: bool) -> pd.DataFrame:
    """Average ranks over data sets (Demsar 2006) by values rounded to `DIGITS`: 1 is best, ties share their places.

    Methods without the measure on any data set do not take part. The critical difference is Nemenyi's, at 5%; p is that of
    Friedman's test that all are alike.
    """
    wide = table.pivot_table(index="dataset", columns="method", values=measure, sort=False).dropna(axis=1)
    wide = wide.round(DIGITS[measure])
    n, k = wide.shape
    placed = (-wide if larger_is_better else wide).rank(axis=1)
    critical = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
    p = stats.friedmanchisquare(*(wide[name] for name in wide)).pvalue if k > 2 and n > 1 else np.nan
    found = placed.mean().sort_values(kind="stable").rename_axis("method").reset_index(name="rank")
    return found.assign(n_datasets=n, critical_difference=critical, p=p, measure=measure)


def markdown(tables: Mapping[str, pd.DataFrame], settings: Comparison) -> dict[str, str]:
    """The tables as Markdown, by name; the ranks stand above those of the tables."""
    names = settings.titles()
    titles, outside = (
        {name: entry["title"] for name, entry in part["data_sets"].items()}
        for part in (settings.images, settings.outliers)
    )

    def by_dataset(name: str, text: Callable[..., pd.DataFrame]) -> dict[str, pd.DataFrame]:
        groups = tables[name].groupby("dataset", sort=False)
        return {titles[str(dataset)]: text(own, names) for dataset, own in groups}

    images = [settings.images["notes"], by_dataset("images", _images)]
    seconds = [settings.images["timing_notes"], by_dataset("images_timing", _seconds)]
    ranked = [settings.tables["notes"], *_ranks(tables["tables"], tables["ranks"], names)]
    outliers = [settings.outliers["notes"], _outliers(tables["outliers"], names, outside)]
    return {
        "images": document("Classifier comparison: images", *images),
        "images_timing": document("Classifier comparison: seconds", *seconds),
        "tables": document("Classifier comparison: tables", *ranked, *failures(tables["tables"], names)),
        "outliers": document(
            "Classifier comparison: outliers", *outliers, *failures(tables["outliers"], names, outside)
        ),
    }


def _ranks(means: pd.DataFrame, ranked: pd.DataFrame, names: Mapping[str, str]) -> list[Any]:
    parts: list[Any] = []
    sizes = means.groupby("dataset", sort=False)[SIZES].first()
    for measure, label in (("accuracy", "accuracy, %"), ("log_loss", "log-loss")):
        own = ranked[ranked["measure"] == measure]
        first = own.iloc[0]
        lines = pd.DataFrame({"method": own["method"].map(names), "average rank": own["rank"]})
        wide = means.pivot_table(index="dataset", columns="method", values=measure, sort=False)
        digits = dict.fromkeys(SIZES, 0) | dict.fromkeys(wide, DIGITS[measure])
        parts += [
            f"**Average rank by {label}**, {first['n_datasets']} data sets; ranks that differ by less than the critical "
            f"difference of {first['critical_difference']:.2f} (Nemenyi, 5%) are not significantly different",
            _rounded(lines, {"average rank": 2}),
            {f"By data set, {label}": _rounded(sizes.join(wide), digits, SIZE_TITLES | dict(names))},
        ]
    return parts


def _seconds(own: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    lines = own.assign(method=own["method"].map(names))[["method", "fit", "predict"]]
    return _rounded(lines, {"fit": 1, "predict": 2})


def failures(
    table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str] | None = None
) -> list[str]:
    """A line for each method that failed."""
    failed = table[table["error"].notna()].to_dict("records") if "error" in table else []
    return [
        f"{names[row['method']]} failed"
        + (f" on {(titles or {}).get(row['dataset'], row['dataset'])}" if "dataset" in row else "")
        + f": {row['error']}"
        for row in failed
    ]


def _images(own: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    lines = [
        {
            "method": names[row["method"]],
            **{title: row[size] for size, title in SIZE_TITLES.items()},
            "accuracy, %": f"failed: {row['error']}"
            if isinstance(row.get("error"), str)
            else interval(row["accuracy"], row["low"], row["high"]),
            "against the SVM": number(row["gain"], "+.2f", "")
            + ("" if np.isnan(row["p"]) else f" (p = {row['p']:.2g})"),
            "log-loss": row["log_loss"],
            "calibration error, %": row["calibration_error"],
            "runs": row["n_runs"],
        }
        for row in own.to_dict("records")
    ]
    digits = dict.fromkeys(SIZE_TITLES.values(), 0) | {"log-loss": 3, "calibration error, %": 1, "runs": 0}
    return _rounded(pd.DataFrame(lines), digits)


def _outliers(table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str]) -> pd.DataFrame | str:
    if not len(table):
        return "Not available."
    by = ["method", *SIZES, "score"]
    wide = table.pivot_table(index=by, columns="dataset", values="auroc", sort=False)
    wide = wide.rename(index=names, level="method").rename(index=SCORES, level="score")
    return _rounded(wide, dict.fromkeys(wide, 3), SIZE_TITLES | dict(titles))


def _rounded(
    table: pd.DataFrame, digits: Mapping[str, int], titles: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """A table with so many digits in each column, and its index as columns."""
    cells = {name: [number(value, n, "") for value in table[name]] for name, n in digits.items()}
    shown = table.assign(**cells)
    return (shown.reset_index() if titles else shown).rename(columns=titles or {})
