"""From measurements to tables, and to ranks over data sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from skem.metrics import mcnemar
from skem.repro import protocols
from skem.repro.comparison.configuration import Part
from skem.repro.files import concatenated, read_arrays, read_table
from skem.repro.paired import paired_test

SVM = "svm_rbf_search"
"""Method that others are compared with on images."""

OURS = "discriminative_pskem_cv"
"""Method beside the baselines, fixed before the test tables were run."""

COMPARED = {"svm": SVM, "lightgbm": "lightgbm_search", "search": OURS}
"""Methods that others are compared with on tables, data set by data set."""

KEYS = ["dataset", "method"]
MEASURES = ["accuracy", "log_loss", "calibration_error"]
SIZES = ["n_train", "n_features"]
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


def joined(part: Part, paths: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Measurements and seconds of the jobs of a part, from their files "{part}/{method}"."""
    tables: dict[str, list[pd.DataFrame]] = {part: [], f"{part}_timing": []}
    predictions: dict[tuple[str, str], dict[str, NDArray[Any]]] = {}
    for path in map(Path, paths):
        if path.suffix != ".npz":
            tables[f"{part}_timing" if path.name.endswith(".seconds.csv") else part].append(read_table(path))
        elif part == "images":
            for key, array in read_arrays(path).items():
                dataset, name = key.split("-")
                predictions.setdefault((dataset, path.stem), {})[name] = array
    found = {name: concatenated(several) for name, several in tables.items()}
    for name, table in found.items():
        if len(table):
            # Data set by data set, fold by fold: means of another order differ in the last digit.
            groups = [own for _, own in table.groupby("dataset", sort=False)]
            by_fold = [own.sort_values("fold", kind="stable") if "fold" in own else own for own in groups]
            found[name] = pd.concat(by_fold)
    if part == "images" and len(found["images"]):
        found["images"] = beside_svm(found["images"], predictions)
    return found


def tables(part: Part, values: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables of a part by name, from `joined` measurements; without measurements they are empty."""
    measured = values[part]
    if part == "images":
        seconds = values["images_timing"].groupby(KEYS, sort=False)[["fit", "predict"]].median()
        return {"images": of_images(measured), "images_timing": seconds.reset_index()}
    if part == "outliers":
        return {"outliers": measured}
    if part == "left_out":
        return {"left_out": of_left_out(measured)}
    if not len(measured):
        return {part: measured, ranks_of(part): pd.DataFrame(columns=["method", "rank", "measure"])}
    means = of_tables(measured)
    both = [ranks(means, "accuracy", larger_is_better=True), ranks(means, "log_loss", larger_is_better=False)]
    return {part: means, ranks_of(part): pd.concat(both, ignore_index=True)}


def ranks_of(part: Part) -> str:
    """Name of the table of ranks of a part."""
    return "ranks" if part == "tables" else f"{part}_ranks"


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


def of_tables(scores: pd.DataFrame) -> pd.DataFrame:
    """`SIZES` of the first fold and means over folds of `MEASURES`, by data set and method; ``error`` if a method failed."""
    groups = scores.groupby(KEYS, sort=False)
    return _with_errors(groups[SIZES].first().join(groups[MEASURES].mean()), groups)


def of_left_out(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean auroc over the classes left out, by data set, method and score, and n_classes; ``error`` if a method failed."""
    if "score" not in scores:  # every method failed, or none was measured
        return scores
    groups = scores.groupby([*KEYS, "score"], sort=False, dropna=False)
    means = groups["auroc"].agg(["size", "mean"]).set_axis(["n_classes", "auroc"], axis=1)
    return _with_errors(means, groups)


def _with_errors(means: pd.DataFrame, groups: Any) -> pd.DataFrame:
    return (means.join(groups["error"].first()) if "error" in groups.obj else means).reset_index()


def ranks(table: pd.DataFrame, measure: str, larger_is_better: bool) -> pd.DataFrame:
    """Average ranks over data sets (Demsar 2006) by values rounded to `DIGITS`: 1 is best, ties share their places.

    Methods without the measure on a data set have no rank, and stand last. The critical difference is Nemenyi's, at 5%; p is that
    of Friedman's test that all are alike. Columns such as svm_wins, svm_ties and svm_losses count the data sets, of the n_datasets
    of a method, on which it is better than, as good as, or worse than one of `COMPARED`.
    """
    every = table.pivot_table(index="dataset", columns="method", values=measure, sort=False)
    every = every.round(DIGITS[measure]) * (1 if larger_is_better else -1)
    wide = every.dropna(axis=1)
    n, k = wide.shape
    placed = (-wide).rank(axis=1)
    critical = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
    p = stats.friedmanchisquare(*(wide[name] for name in wide)).pvalue if k > 2 and n > 1 else np.nan
    means = placed.mean().reindex(every.columns).sort_values(kind="stable")
    found = means.rename_axis("method").reset_index(name="rank")
    counts = found["method"].map(every.count())
    found = found.assign(n_datasets=counts, critical_difference=critical, p=p, measure=measure)
    for name, baseline in COMPARED.items():
        if baseline in wide:
            gains = every.drop(columns=baseline).sub(every[baseline], axis=0)
            for outcome, counted in (("wins", gains > 0), ("ties", gains == 0), ("losses", gains < 0)):
                found[f"{name}_{outcome}"] = found["method"].map(counted.sum())
    return found
