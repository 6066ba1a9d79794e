"""Accuracies and times of a paper's main table, with ours under each protocol and the baselines beside."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.ledger.stated_claims import claim
from skem.repro.names import NAMES, configuration_title
from skem.repro.paired import Predictions, mcnemar_over_runs
from skem.repro.protocols import LABELS, PROTOCOLS, select, summarise
from skem.repro.render.format import interval, number
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
    """Columns of the other methods at the paper's configuration, by method; they differ in ``reg_covar``."""
    others = {name: entry["methods"][name]["params"]["reg_covar"] for name in paper_methods(entry)[1:]}
    return {name: f"test_selected_iteration_reg_covar_{value:g}" for name, value in others.items()}


def accuracy_table(
    experiment: Experiment,
    history: Mapping[str, pd.DataFrame],
    predictions: Callable[[str, str, str], Predictions],
    claims: pd.DataFrame,
) -> pd.DataFrame:
    """Collect the paper's accuracy, ours under each protocol, and the baselines', one row per data set.

    Histories are empty where data are unavailable. ``predictions`` maps data set, method and configuration to the stored
    predictions of its runs. Accuracies are in percent, with 95% intervals in ``_low`` and ``_high``; log-loss is in nats,
    expected calibration error (ece) a fraction.
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
    """Settings that the paper chose by test accuracy, with any covariance regularisation."""
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
    return {f"{column}{end}": 100 * found[name].iloc[0] for end, name in ends.items() if len(found)}


def _weighted(rows: pd.DataFrame, column: str) -> float:
    return float(np.average(rows[column], weights=rows["n_test"]))


def _baseline_rows(history: pd.DataFrame) -> pd.DataFrame:
    """Baselines with hyperparameters selected on validation samples."""
    return history[history["method"].isin(baselines.REPORTED) & (history["setting"] == "default")]


def _baselines(
    dataset: str,
    entry: Row,
    history: pd.DataFrame,
    summary: pd.DataFrame,
    predictions: Callable[[str, str, str], Predictions],
) -> dict[str, Any]:
    """The baseline that is best on validation samples, and the RBF SVM."""
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
    """Collect dataset, method, n_train and test accuracy in percent of every baseline, NaN for those that failed."""
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


def parts(
    experiment: Experiment, table: pd.DataFrame, baseline_table: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Format `accuracy_table` and `baselines_table` as tables of text by caption."""
    variants = {
        column: f"{LABELS['test_selected_iteration']}, reg_covar {entry['methods'][name]['params']['reg_covar']:g}"
        for entry in experiment["data_sets"].values()
        for name, column in _variants(entry).items()
        if column in table
    }
    ours: list[dict[str, str]] = []
    others: list[dict[str, str]] = []
    for row in table.to_dict("records"):
        title = {"data set": NAMES.get(row["dataset"], row["dataset"])}
        folds = number(row.get("n_folds"), 0)
        line = {
            **title,
            "R x m, K": configuration_title(row["configuration"]),
            "iterations": str(row["iterations"]),
            "N": number(row.get("n_train"), 0),
            "runs": number(row.get("n_runs"), 0) + ("" if folds in ("-", "1") else f" x {folds} folds"),
            "paper": number(row["paper_accuracy"]),
            LABELS["test_selected_iteration"]: _interval(row, "test_selected_iteration"),
            **{heading: _interval(row, column) for column, heading in variants.items()},
            LABELS["validation_selected_iteration"]: _interval(row, "validation_selected_iteration")
            + _fewer(row, "n_validation_runs"),
            "nested": _interval(row, "nested") + _fewer(row, "n_nested_runs"),
            "chosen on test": f"{row['nested_fits_chosen_on_test']:.0f} of {row['nested_fits']:.0f} fits"
            if row.get("nested_fits", 0) > 0
            else "-",
            "log-loss": number(row.get("log_loss"), 3),
            "ECE": number(row.get("ece"), 3),
        }
        other = {
            **title,
            "paper's best": f"{row['paper_best_accuracy']:.2f} ({row['paper_best_method']})",
            "our best": NAMES.get(row.get("best_method", ""), "-"),
            "accuracy": _interval(row, "best_accuracy"),
            "N": number(row.get("best_n_train"), 0),
            "RBF SVM": _interval(row, "svm_rbf"),
            "N of the SVM": number(row.get("svm_rbf_n_train"), 0),
            "McNemar p": number(row.get("mcnemar_p"), ".1g"),
            "best log-loss": number(row.get("best_log_loss"), 3),
            "its method": NAMES.get(row.get("best_log_loss_method", ""), "-"),
        }
        missing = "-" if row["available"] else "not available"
        for lines, cells in ((ours, line), (others, other)):
            lines.append({heading: missing if cell == "-" else cell for heading, cell in cells.items()})
    wide = pd.DataFrame()
    if len(baseline_table):
        most = baseline_table.groupby("dataset")["n_train"].transform("max")
        fewer = [
            f" ({n:.0f})" if n < full else "" for n, full in zip(baseline_table["n_train"], most, strict=True)
        ]
        accuracies = [number(x, 2, "failed") for x in baseline_table["accuracy"]]
        shown = baseline_table.assign(accuracy=np.char.add(accuracies, fewer))
        wide = shown.pivot(index="method", columns="dataset", values="accuracy")
        wide = wide.sort_index(key=lambda names: names.map(list(NAMES).index))
        wide = wide.reindex(columns=table.loc[table["available"], "dataset"])
        wide = wide.rename(index=NAMES, columns=NAMES).rename_axis(columns=None).reset_index()
    found = {
        "Accuracy in % and its 95% interval over runs and test samples": pd.DataFrame(ours),
        "Baselines on the same features": pd.DataFrame(others),
        "All baselines, accuracy in % (training samples, where a baseline has fewer than others)": wide,
    }
    return {caption: part for caption, part in found.items() if len(part)}


def _interval(row: Row, column: str) -> str:
    # An interval cannot leave 0 to 100%.
    low, high = np.clip([row.get(f"{column}{end}", np.nan) for end in ("_low", "_high")], 0, 100)
    return interval(row.get(column), low, high)


def _fewer(row: Row, column: str) -> str:
    """Number of runs of a protocol if it has fewer than the data set."""
    return f" (n = {row[column]:.0f})" if row["available"] and 0 < row[column] < row["n_runs"] else ""


def failures_sentence(failures: pd.DataFrame) -> str:
    """Name the configurations that failed, or nothing."""
    failed = [
        f"{NAMES.get(row['method'], row['method'])} ({row['setting']}) on "
        f"{NAMES.get(row['dataset'], row['dataset'])}: {row['error'].rstrip('.')}"
        for row in failures.to_dict("records")
    ]
    return f"Failed, and left out: {'; '.join(failed)}." if failed else ""


NOTES = """\
*paper*: value of the paper, at the best iteration on the test set. *test-selected iteration*: ours by the same
protocol. *validation-selected iteration*: iteration selected on held-out training samples. *nested*: covariance
regularisation, configuration and iteration selected on them in each fold, the value to rely on; without further
configurations there is none. *n*: runs of a value, if fewer than those of the data set. *chosen on test*: fits in
which nested selected a configuration that the paper had chosen by test accuracy; this choice is not independent of
the test samples. All other columns have the paper's configuration with one covariance regularisation for all data
sets. It was chosen on validation samples that are, under cross-validation, test samples of other folds. Intervals:
over runs and over the sampling of the samples tested, which under cross-validation are those of all folds. A single
run has no spread over runs, so its interval is too narrow. N: training samples; the validation-selected and the
nested models have a tenth fewer, except on MNIST. Log-loss (nats) and expected calibration error (ECE) belong to the
validation-selected iteration: a product over dependent feature blocks is overconfident. Baselines select their
hyperparameters on the same held-out samples and are trained on N samples; the best baseline is the best on the
held-out samples. McNemar p: difference between the best baseline and the validation-selected model, counts averaged
over runs and the spread over runs added."""


def timing_table(
    experiment: Experiment, seconds: Mapping[str, pd.DataFrame], claims: pd.DataFrame
) -> pd.DataFrame:
    """Collect the paper's seconds per EM iteration and ours at its configuration, one row per data set."""
    rows = []
    for dataset, timed in seconds.items():
        paper = experiment["data_sets"][dataset]["paper"]
        printed = claim(claims, paper["seconds_per_pass"])
        row: dict[str, Any] = {"dataset": dataset, "configuration": paper["setting"]}
        row |= {"paper_seconds_per_iteration": printed, "available": len(timed) > 0}
        if len(timed):
            mean = float(timed["seconds"].mean())
            row |= {"seconds_per_iteration": mean, "iterations_timed": len(timed), "speed_up": printed / mean}
        rows.append(row)
    return pd.DataFrame(rows)


def timing_parts(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Format `timing_table` as a table of text by caption."""
    shown = [
        {
            "data set": NAMES.get(row["dataset"], row["dataset"]),
            "paper, s per iteration": number(row["paper_seconds_per_iteration"], "g"),
            "ours": number(row.get("seconds_per_iteration"), 4),
            "ratio": number(row.get("speed_up"), 0),
        }
        for row in table.to_dict("records")
    ]
    return {"Seconds per EM iteration, on one core": pd.DataFrame(shown)}


TIMING_NOTES = """\
Seconds per iteration: mean of the iterations after the first, alone on the machine, without evaluation; in float32 if
that is exact enough, else in float64."""


def to_latex(title: str, parts: Mapping[str, pd.DataFrame]) -> str:
    """Render tables by caption in LaTeX, as wide as the text; the packages booktabs and graphicx are required."""
    text = ""
    for caption, part in parts.items():
        caption = re.sub(r"([&%$#_{}])", r"\\\1", f"{title}. {caption}.")
        text += part.to_latex(index=False, escape=True, na_rep="-", caption=caption, position="tbp") + "\n"
    text = text.replace(r"\begin{tabular}", r"\resizebox{\textwidth}{!}{\begin{tabular}")
    return text.replace(r"\end{tabular}", r"\end{tabular}}").removesuffix("\n")
