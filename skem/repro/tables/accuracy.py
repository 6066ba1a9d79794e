"""Accuracies and times of a paper's main table, with ours under each protocol and the baselines beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.ledger.stated_claims import claim
from skem.repro.names import NAMES, configuration_title
from skem.repro.paired import Predictions, mcnemar_over_runs
from skem.repro.protocols import LABELS, PROTOCOLS, select, summarise
from skem.repro.render.format import number
from skem.repro.training.classifiers import baselines
from skem.repro.training.settings import candidate_name

Experiment = Mapping[str, Any]
"""A checked experiment file."""
Row = Mapping[str, Any]


def paper_methods(entry: Row) -> list[str]:
    """Methods of a data set that are trained at the paper's configuration, the main one first."""
    return [
        name for name, how in entry["methods"].items() if entry["paper"]["setting"] in how.get("settings", {})
    ]


def _variants(entry: Row) -> dict[str, str]:
    others = {name: entry["methods"][name]["params"]["reg_covar"] for name in paper_methods(entry)[1:]}
    return {name: f"test_selected_iteration_reg_covar_{value:g}" for name, value in others.items()}


def accuracy_table(
    experiment: Experiment,
    history: Mapping[str, pd.DataFrame],
    predictions: Callable[[str, str, str], Predictions],
    claims: pd.DataFrame,
) -> pd.DataFrame:
    """Collect the paper's accuracy, ours under each protocol, and the baselines', one row per data set.

    ``predictions`` maps data set, method and configuration to the stored predictions of its runs. Accuracies are in percent, with 95%
    intervals; log-loss is in nats, expected calibration error (ece) a fraction.
    """
    rows = []
    for dataset, entry in experiment["data_sets"].items():
        if dataset not in history:
            continue
        paper, own = entry["paper"], history[dataset]
        row: dict[str, Any] = {
            "dataset": dataset,
            "configuration": paper["setting"],
            "iterations": entry["max_iter"],
            "paper_accuracy": claim(claims, paper["accuracy"]),
            "paper_best_method": paper["best_method"],
            "paper_best_accuracy": claim(claims, paper["best"]),
            # The data may be unavailable, or the paper's configuration may have failed.
            "available": len(own) > 0 and bool((own["setting"] == paper["setting"]).any()),
        }
        if row["available"]:
            summary = summarise(own)
            row |= _ours(entry, own, summary) | _baselines(dataset, entry, own, summary, predictions)
        rows.append(row)
    return pd.DataFrame(rows)


def _ours(entry: Row, history: pd.DataFrame, summary: pd.DataFrame) -> dict[str, Any]:
    method, configuration = paper_methods(entry)[0], entry["paper"]["setting"]
    own = history[history["method"] == method]
    at_paper = own[own["setting"] == configuration]
    row = {"method": method, "n_train": int(at_paper["n_train"].max())}
    row |= {f"n_{key}s": at_paper[key].nunique() for key in ("run", "fold")}
    for protocol in PROTOCOLS:
        row |= _accuracy(summary, protocol, protocol, method, None if protocol == "nested" else configuration)
    nested = select(own, "nested")
    if len(own["setting"].unique()) == 1:  # nothing to select from
        nested = nested.head(0)
        row |= {f"nested{end}": np.nan for end in ("", "_low", "_high")}
    selected = nested["setting"]
    row["nested_configuration"] = "; ".join(f"{name} ({n})" for name, n in selected.value_counts().items())
    row["nested_fits"] = len(selected)
    row["nested_fits_chosen_on_test"] = int(selected.isin(_chosen_on_test(entry, method)).sum())
    for other, column in _variants(entry).items():
        row |= _accuracy(summary, column, "test_selected_iteration", other, configuration)
    keys = ["dataset", "method", "setting", "run", "fold", "iteration"]
    chosen = select(at_paper, "validation_selected_iteration")[keys].merge(
        at_paper[at_paper["validation_accuracy"].notna()], on=keys
    )
    row |= {"n_validation_runs": chosen["run"].nunique(), "n_nested_runs": nested["run"].nunique()}
    return row | {"log_loss": _weighted(chosen, "test_log_loss"), "ece": _weighted(chosen, "test_ece")}


def _chosen_on_test(entry: Row, method: str) -> list[str]:
    values = entry["methods"][method].get("candidates", {"reg_covar": ()})["reg_covar"]
    names = entry["paper"]["chosen_on_test"]
    return [*names, *(candidate_name(name, value) for name in names for value in values)]


def _accuracy(
    summary: pd.DataFrame, column: str, protocol: str, method: str, configuration: str | None = None
) -> dict[str, Any]:
    found = summary.query("protocol == @protocol and method == @method and metric == 'accuracy'")
    if configuration is not None:
        found = found[found["setting"] == configuration]
    ends = {"": "mean", "_low": "low", "_high": "high"}
    # An interval cannot leave 0 to 100%.
    return {
        f"{column}{end}": np.clip(100 * found[name].iloc[0], 0, 100)
        for end, name in ends.items()
        if len(found)
    }


def _weighted(rows: pd.DataFrame, column: str) -> float:
    return float(np.average(rows[column], weights=rows["n_test"]))


def _baseline_rows(history: pd.DataFrame) -> pd.DataFrame:
    return history[history["method"].isin(baselines.REPORTED) & (history["setting"] == "default")]


def _baselines(
    dataset: str,
    entry: Row,
    history: pd.DataFrame,
    summary: pd.DataFrame,
    predictions: Callable[[str, str, str], Predictions],
) -> dict[str, Any]:
    own = _baseline_rows(history)
    if not len(own):
        return {}
    by_method = own.groupby("method", sort=False)
    best = by_method["validation_accuracy"].mean().idxmax()
    n_train = by_method["n_train"].max()
    row: dict[str, Any] = {"best_method": best} | _accuracy(
        summary, "best_accuracy", "validation_selected_iteration", best
    )
    row["best_n_train"] = int(n_train[best])
    if "svm_rbf" in n_train:
        row |= _accuracy(summary, "svm_rbf", "validation_selected_iteration", "svm_rbf")
        row["svm_rbf_n_train"] = int(n_train["svm_rbf"])
    with_log_loss = own[own["test_log_loss"].notna()]
    if len(with_log_loss):
        calibrated = with_log_loss.groupby("method", sort=False)["validation_log_loss"].mean().idxmin()
        row["best_log_loss_method"] = calibrated
        row["best_log_loss"] = _weighted(own[own["method"] == calibrated], "test_log_loss")
    ours = predictions(dataset, paper_methods(entry)[0], entry["paper"]["setting"])
    other = predictions(dataset, best, "default")
    return row | mcnemar_over_runs(ours, other, is_fixed=bool((own["fold"] == 0).all()))


def baselines_table(history: Mapping[str, pd.DataFrame], failures: pd.DataFrame) -> pd.DataFrame:
    """Collect the test accuracy in percent of every baseline, NaN for those that failed."""
    own = [_baseline_rows(table) for table in history.values() if len(table)]
    keys = ["dataset", "method"]
    rows = [
        summarise(table, ["validation_selected_iteration"])
        .query("metric == 'accuracy'")
        .merge(table.groupby(keys)["n_train"].max().reset_index(), on=keys)
        for table in own
        if len(table)
    ]
    failed = failures[failures["method"].isin(baselines.ENTRIES) & (failures["setting"] == "default")]
    table = pd.concat([*rows, failed.drop_duplicates(keys)], ignore_index=True)
    table = table.reindex(columns=[*keys, "n_train", "mean"])
    return table.assign(accuracy=lambda t: 100 * t.pop("mean"))


SHOWN = (
    *("n_train", "n_runs", "n_folds", "nested_fits", "nested_fits_chosen_on_test", "log_loss", "ece"),
    *("best_method", "best_n_train", "mcnemar_p", "best_log_loss_method", "best_log_loss", "svm_rbf_n_train"),
    *(f"{name}{end}" for name in ("best_accuracy", "svm_rbf") for end in ("", "_low", "_high")),
)
"""Columns of the page, some of which a table without data sets or baselines lacks."""


def layout(
    experiment: Experiment, table: pd.DataFrame, baseline_table: pd.DataFrame, remarks: str = ""
) -> dict[str, Any]:
    """Return what ``config/tables/experiments.yaml`` lays out, from `accuracy_table` and `baselines_table`."""
    shown = table.reindex(columns=list(dict.fromkeys([*table, *SHOWN])))
    shown = shown.assign(
        data=shown["dataset"].replace(NAMES) + np.where(shown["available"], "", ", not available"),
        size=shown["configuration"].map(configuration_title),
        **{name: shown[name].replace(NAMES) for name in ("best_method", "best_log_loss_method")},
    )
    variants = {
        column: f"{LABELS['test_selected_iteration']}, reg_covar {entry['methods'][name]['params']['reg_covar']:g}"
        for entry in experiment["data_sets"].values()
        for name, column in _variants(entry).items()
        if column in table
    }
    first, validated = "test_selected_iteration", "validation_selected_iteration"
    columns = {"paper_accuracy": "paper", first: LABELS[first], **variants}
    columns |= {validated: LABELS[validated], "nested": "nested"}
    accuracies = [
        {**row, "label": label, "accuracy": row.get(column, np.nan), "fewer": _fewer(row, column)}
        | {end: row.get(f"{column}_{end}", np.nan) for end in ("low", "high")}
        for row in shown.to_dict("records")
        for column, label in columns.items()
    ]
    return {
        "names": {"title": experiment["title"], "remarks": remarks},
        "accuracies": pd.DataFrame(accuracies),
        "data_sets": shown,
        "baselines": _baseline_cells(baseline_table),
    }


def _fewer(row: Row, column: str) -> str:
    runs = {"validation_selected_iteration": "n_validation_runs", "nested": "n_nested_runs"}
    n = row.get(runs.get(column, ""))
    return f" (n = {n:.0f})" if row["available"] and n and n < row["n_runs"] else ""


def _baseline_cells(table: pd.DataFrame) -> pd.DataFrame:
    if not len(table):
        return table
    most = table.groupby("dataset")["n_train"].transform("max")
    fewer = [f" ({n:.0f})" if n < full else "" for n, full in zip(table["n_train"], most, strict=True)]
    table = table.assign(
        accuracy=[number(x, 2, "failed") + n for x, n in zip(table["accuracy"], fewer, strict=True)],
        data=table["dataset"].replace(NAMES),
    )
    in_order = table.sort_values("method", key=lambda names: names.map(list(NAMES).index), kind="stable")
    return in_order.assign(method=in_order["method"].replace(NAMES))


def remarks(fitted: Iterable[str], failures: pd.DataFrame) -> str:
    """Name the baselines that were not fitted, and the configurations that failed."""
    left_out = ", ".join(NAMES[name] for name in sorted({*baselines.ENTRIES} - {*fitted}))
    failed = [
        f"{NAMES.get(row['method'], row['method'])} ({row['setting']}) on "
        f"{NAMES.get(row['dataset'], row['dataset'])}: {row['error'].rstrip('.')}"
        for row in failures.to_dict("records")
    ]
    parts = {
        f"Left out to save time: {left_out}; config/paper.yaml has them.": left_out,
        f"Failed, and left out: {'; '.join(failed)}.": failed,
    }
    return "\n\n".join(text for text, names in parts.items() if names)


def times(
    data_sets: Iterable[str], seconds: pd.DataFrame, claims: pd.DataFrame, experiment: Experiment
) -> dict[str, Any]:
    """Collect the paper's seconds per EM iteration and ours at its configuration, one row per data set, for ``config/tables/experiments.yaml``."""
    rows = []
    for dataset in data_sets:
        timed = seconds[seconds["dataset"] == dataset] if len(seconds) else seconds
        paper = experiment["data_sets"][dataset]["paper"]
        printed = claim(claims, paper["seconds_per_pass"])
        row: dict[str, Any] = {"dataset": dataset, "configuration": paper["setting"]}
        row |= {"paper_seconds_per_iteration": printed, "available": len(timed) > 0}
        mean = float(timed["seconds"].mean()) if len(timed) else np.nan
        row |= {"seconds_per_iteration": mean, "iterations_timed": len(timed), "speed_up": printed / mean}
        rows.append(row)
    table = pd.DataFrame(rows)
    shown = table.assign(data=table["dataset"].replace(NAMES))
    return {"csv": table, "names": {"title": experiment["title"]}, "times": shown}
