"""The papers' tables, beside what was measured: tidy rows first, then Markdown and LaTeX of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skem.metrics import mcnemar
from skem.repro.ledger.stated_claims import claim
from skem.repro.names import NAMES
from skem.repro.protocols import select, summarise
from skem.repro.training.classifiers import baselines

Predictions = Mapping[str, np.ndarray]


def accuracy_table(
    experiment: Mapping[str, Any],
    history: Mapping[str, pd.DataFrame],
    predictions: Callable[[str, str, str], Predictions],
    claims: pd.DataFrame,
) -> pd.DataFrame:
    """One row per data set: the paper's accuracy, ours under each protocol, and the rivals'.

    Parameters
    ----------
    experiment : mapping
        A checked experiment file.
    history : mapping
        From data set to its history; an empty one where the data could not be had.
    predictions : callable
        From data set, method and setting to the predictions kept of its runs.
    claims : DataFrame
        ``config/claims.csv``, read as strings.

    Returns
    -------
    DataFrame
        Accuracies in percent, ``_low`` and ``_high`` their 95% intervals; log-loss in nats, expected
        calibration error (ece) as a fraction.
    """
    rows = []
    for dataset, entry in experiment["data_sets"].items():
        if dataset not in history:
            continue
        paper = entry["paper"]
        row: dict[str, Any] = {
            "dataset": dataset,
            "setting": paper["setting"],
            "passes": entry["max_iter"],
            "paper_accuracy": claim(claims, paper["accuracy"]),
            "paper_best_method": paper["best_method"],
            "paper_best_accuracy": claim(claims, paper["best"]),
            "available": _was_trained(history[dataset], paper["setting"]),
        }
        if row["available"]:
            row |= _measured(dataset, entry, history[dataset], predictions)
        rows.append(row)
    return pd.DataFrame(rows)


def _was_trained(history: pd.DataFrame, setting: str) -> bool:
    """False where the data are unavailable, or where the paper's setting failed."""
    return len(history) > 0 and bool((history["setting"] == setting).any())


def timing_table(
    experiment: Mapping[str, Any], seconds: Mapping[str, pd.DataFrame], claims: pd.DataFrame
) -> pd.DataFrame:
    """One row per data set: the paper's seconds per pass beside ours; apart, as times are never the same twice.

    Parameters
    ----------
    experiment, claims
        As for `accuracy_table`.
    seconds : mapping
        From data set to the seconds of passes at the paper's setting; an empty table where the data could not be had.
    """
    rows = []
    for dataset, entry in experiment["data_sets"].items():
        if dataset not in seconds:
            continue
        paper, timed = entry["paper"], seconds[dataset]
        row: dict[str, Any] = {
            "dataset": dataset,
            "setting": paper["setting"],
            "paper_seconds_per_pass": claim(claims, paper["seconds_per_pass"]),
            "available": len(timed) > 0,
        }
        if row["available"]:
            row["seconds_per_pass"] = float(timed["seconds"].mean())
            row["passes_timed"] = len(timed)
            row["speed_up"] = row["paper_seconds_per_pass"] / row["seconds_per_pass"]
        rows.append(row)
    return pd.DataFrame(rows)


def _measured(
    dataset: str,
    entry: Mapping[str, Any],
    history: pd.DataFrame,
    predictions: Callable[[str, str, str], Predictions],
) -> dict[str, Any]:
    setting = entry["paper"]["setting"]
    ours = [name for name, how in entry["methods"].items() if setting in how.get("settings", {})]
    method = ours[0]
    summary = summarise(history)
    own = history[(history["method"] == method) & (history["setting"] == setting)]
    row: dict[str, Any] = {
        "method": method,
        "n_train": int(own["n_train"].max()),
        "n_runs": own["run"].nunique(),
    }
    row |= {"n_folds": own["fold"].nunique()}
    for protocol in ("best-pass", "best-fold", "last-pass", "validated"):
        row |= _accuracy(summary, protocol, protocol, method, setting)
    row |= _accuracy(summary, "nested", "nested", method)
    chosen = select(history, "nested").query("method == @method")["setting"].value_counts()
    row["nested_setting"] = "; ".join(
        f"{name} ({n})" for name, n in sorted(chosen.items(), key=lambda c: -c[1])
    )
    for other in ours[1:]:
        label = "best-pass_" + other.removeprefix(f"{method}-")
        row |= _accuracy(summary, label, "best-pass", other, setting)
    row |= _probabilities(history, method, setting)
    row |= _rivals(dataset, history, summary, predictions, method, setting)
    return row


def _accuracy(
    summary: pd.DataFrame, label: str, protocol: str, method: str, setting: str | None = None
) -> dict[str, Any]:
    found = summary.query("protocol == @protocol and method == @method and metric == 'accuracy'")
    if setting is not None:
        found = found[found["setting"] == setting]
    if not len(found):
        return {}
    return {
        label: 100 * found["mean"].iloc[0],
        f"{label}_low": 100 * found["low"].iloc[0],
        f"{label}_high": 100 * found["high"].iloc[0],
    }


def _probabilities(history: pd.DataFrame, method: str, setting: str) -> dict[str, Any]:
    """Log-loss and calibration at the validated pass."""
    chosen = select(history, "validated").query("method == @method and setting == @setting")
    keys = ["dataset", "method", "setting", "run", "fold", "pass"]
    passes = history[history["validation_accuracy"].notna()]
    found = chosen[keys].merge(passes, on=keys)
    return {"log_loss": _weighted(found, "test_log_loss"), "ece": _weighted(found, "test_ece")}


def _weighted(rows: pd.DataFrame, column: str) -> float:
    return float(np.average(rows[column], weights=rows["n_test"]))


def _rivals(
    dataset: str,
    history: pd.DataFrame,
    summary: pd.DataFrame,
    predictions: Callable[[str, str, str], Predictions],
    method: str,
    setting: str,
) -> dict[str, Any]:
    """The conventional method that is best on validation rows, and the RBF SVM."""
    rivals = _rival_rows(history)
    if not len(rivals):
        return {}
    by_validation = rivals.groupby("method", sort=False)["validation_accuracy"].mean()
    best = by_validation.idxmax()
    row: dict[str, Any] = {"best_method": best} | _accuracy(summary, "best_accuracy", "validated", best)
    trained = rivals.groupby("method")["n_train"].max()
    row["best_n_train"] = int(trained[best])
    if "svm_rbf" in trained.index:
        row |= _accuracy(summary, "svm_rbf", "validated", "svm_rbf") | {
            "svm_rbf_n_train": int(trained["svm_rbf"])
        }
    with_log_loss = rivals[rivals["test_log_loss"].notna()]
    if len(with_log_loss):
        calibrated = with_log_loss.groupby("method", sort=False)["validation_log_loss"].mean().idxmin()
        row["best_log_loss_method"] = calibrated
        row["best_log_loss"] = _weighted(rivals[rivals["method"] == calibrated], "test_log_loss")
    y, mine, other = _paired(predictions(dataset, method, setting), predictions(dataset, best, "default"))
    row["mcnemar_ours_wrong"], row["mcnemar_best_wrong"], row["mcnemar_p"] = mcnemar(y, mine, other)
    return row


def _paired(mine: Predictions, other: Predictions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True classes and both predictions on the same test rows: all folds of the first run."""
    folds = [fold for fold in range(len(other)) if f"y-0-{fold}" in other]
    kind = "part" if all(f"part-0-{fold}" in mine for fold in folds) else "all"
    return (
        np.concatenate([other[f"y-0-{fold}"] for fold in folds]),
        np.concatenate([mine[f"{kind}-0-{fold}"] for fold in folds]),
        np.concatenate(
            [
                other[f"part-0-{fold}"] if f"part-0-{fold}" in other else other[f"all-0-{fold}"]
                for fold in folds
            ]
        ),
    )


def _rival_rows(history: pd.DataFrame) -> pd.DataFrame:
    """The conventional methods with hyper-parameters chosen on validation rows."""
    return history[history["method"].isin(baselines.REPORTED) & (history["setting"] == "default")]


def failures_in_words(failures: pd.DataFrame) -> str:
    """A sentence for the settings that failed, empty if none did."""
    told = [
        f"{NAMES.get(row['method'], row['method'])} ({row['setting']}) on "
        f"{NAMES.get(row['dataset'], row['dataset'])}: {row['error'].rstrip('.')}"
        for row in failures.to_dict("records")
    ]
    return f"Failed, and left out: {'; '.join(told)}." if told else ""


def rivals_table(history: Mapping[str, pd.DataFrame], failures: pd.DataFrame | None = None) -> pd.DataFrame:
    """Test accuracy in percent, with its interval, of every conventional method on every data set, tidy.

    A method that failed has no accuracy.
    """
    rows = []
    for dataset, table in history.items():
        if not len(table):
            continue
        rivals = _rival_rows(table)
        if not len(rivals):
            continue
        summary = summarise(rivals, ["validated"])
        for method in rivals["method"].unique():
            own = rivals[rivals["method"] == method]
            row = {"dataset": dataset, "method": method} | _accuracy(summary, "accuracy", "validated", method)
            rows.append(
                row | {"log_loss": _weighted(own, "test_log_loss"), "n_train": int(own["n_train"].max())}
            )
    rows += [
        {"dataset": row["dataset"], "method": row["method"], "accuracy": np.nan}
        for row in ([] if failures is None else failures.to_dict("records"))
        if row["method"] in baselines.ENTRIES and row["setting"] == "default"
    ]
    return pd.DataFrame(rows)


MISSING = "not available"


def parts(table: pd.DataFrame, rivals: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What a reader sees: strings, by caption."""
    records = table.to_dict("records")
    ridges = [
        c.removeprefix("best-pass_")
        for c in table
        if c.startswith("best-pass_") and not c.endswith(("_low", "_high"))
    ]
    accuracy, others = [], []
    for row in records:
        name = NAMES.get(row["dataset"], row["dataset"])
        shown = row["available"]
        line = {"data set": name, "R x m, K": row["setting"].replace("-K", ", K = "), "passes": row["passes"]}
        line |= {
            "N": _count(row.get("n_train")) if shown else MISSING,
            "runs": _runs(row) if shown else MISSING,
        }
        line |= {"paper": f"{row['paper_accuracy']:.2f}", "best-pass": _interval(row, "best-pass")}
        line |= {
            f"best-pass, {ridge.replace('ridge-', 'ridge ')}": _interval(row, f"best-pass_{ridge}")
            for ridge in ridges
        }
        line |= {"validated": _interval(row, "validated"), "nested": _interval(row, "nested")}
        line |= {"log-loss": _number(row, "log_loss", ".3f"), "ECE": _number(row, "ece", ".3f")}
        accuracy.append(line)
        method = _name(row, "best_method")
        other = {
            "data set": name,
            "paper's best": f"{row['paper_best_accuracy']:.2f} ({row['paper_best_method']})",
        }
        other |= {
            "best here": method,
            "accuracy": _interval(row, "best_accuracy"),
            "N": _count(row.get("best_n_train")),
        }
        other |= {"RBF SVM": _interval(row, "svm_rbf"), "its N": _count(row.get("svm_rbf_n_train"))}
        other |= {
            "McNemar p": _number(row, "mcnemar_p", ".1g"),
            "best log-loss": _number(row, "best_log_loss", ".3f"),
        }
        other["of"] = _name(row, "best_log_loss_method")
        others.append(other)
    wide = pd.DataFrame()
    if len(rivals):
        shown = {
            (row["method"], row["dataset"]): "failed"
            if np.isnan(row["accuracy"])
            else f"{row['accuracy']:.2f}"
            for row in rivals.to_dict("records")
        }
        columns = [row["dataset"] for row in records if row["available"]]
        wide = pd.DataFrame(
            [
                {"method": NAMES.get(method, method)}
                | {NAMES.get(dataset, dataset): shown.get((method, dataset), "-") for dataset in columns}
                for method in rivals["method"].unique()
            ]
        )
    found = {
        "Accuracy in % and its 95% interval": pd.DataFrame(accuracy),
        "Conventional methods on the same features": pd.DataFrame(others),
        "All of them, accuracy in %": wide,
    }
    return {caption: part for caption, part in found.items() if len(part)}


def timing_parts(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The same of the times."""
    shown = [
        {
            "data set": NAMES.get(row["dataset"], row["dataset"]),
            "paper, s per pass": f"{row['paper_seconds_per_pass']:g}",
            "here": _number(row, "seconds_per_pass", ".4f"),
            "ratio": _number(row, "speed_up", ".0f"),
        }
        for row in table.to_dict("records")
    ]
    return {"Seconds per pass, on one core": pd.DataFrame(shown)} if shown else {}


def _interval(row: Mapping[str, Any], label: str) -> str:
    if not row["available"]:
        return MISSING
    value = row.get(label, np.nan)
    if value is None or np.isnan(value):
        return "-"
    low, high = row[f"{label}_low"], row[f"{label}_high"]
    return f"{value:.2f}" if np.isnan(low) else f"{value:.2f} [{max(low, 0):.2f}, {min(high, 100):.2f}]"


def _name(row: Mapping[str, Any], label: str) -> str:
    if not row["available"]:
        return MISSING
    value = row.get(label)
    return NAMES.get(value, value) if isinstance(value, str) else "-"


def _number(row: Mapping[str, Any], label: str, form: str) -> str:
    value = row.get(label, np.nan)
    return "-" if not row["available"] or value is None or np.isnan(value) else format(value, form)


def _count(value: Any) -> str:
    return "-" if value is None or np.isnan(value) else f"{int(value)}"


def _runs(row: Mapping[str, Any]) -> str:
    runs, folds = int(row["n_runs"]), int(row["n_folds"])
    return f"{runs}" if folds == 1 else f"{runs} x {folds} folds"


NOTES = """\
*paper*: as printed; the best pass on the test set. *best-pass*: the same here. *validated*: the pass chosen on
held-out training rows. *nested*: setting and pass chosen there, the honest figure. Intervals: over runs, and for a
fixed test set over the sampling of its rows too; for cross-validation over fold assignments. log-loss (nats) and
expected calibration error (ECE) are of the validated pass: a product over dependent blocks is overconfident.
Conventional methods choose hyper-parameters on the same held-out rows, and are trained on N rows; the best one is
the best on those rows. McNemar p: of the difference between it and the validated model, first run."""

TIMING_NOTES = """\
Seconds per pass: mean of the passes after the first, alone on the machine, without evaluation, in float32
where that is exact enough and else in float64."""


def to_markdown(title: str, parts: Mapping[str, pd.DataFrame], *notes: str) -> str:
    """Tables by caption as GitHub's Markdown."""
    text = [f"## {title}"]
    for caption, part in parts.items():
        text += [f"**{caption}**", part.to_markdown(index=False, disable_numparse=True)]
    return "\n\n".join([*text, *filter(None, notes)]) + "\n"


def to_latex(title: str, parts: Mapping[str, pd.DataFrame]) -> str:
    """Tables by caption for LaTeX, as wide as the text; needs the packages booktabs and graphicx."""
    text = "\n".join(
        part.to_latex(
            index=False, escape=True, caption=f"{title}. {caption}.".translate(_LATEX), position="tbp"
        )
        for caption, part in parts.items()
    )
    text = text.replace(r"\begin{tabular}", r"\resizebox{\textwidth}{!}{\begin{tabular}")
    return text.replace(r"\end{tabular}", r"\end{tabular}}")


_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)
