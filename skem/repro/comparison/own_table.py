"""A table of the user's own: every method that the registry has for tables, compared on it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skem import datasets
from skem.datasets import Table
from skem.repro import protocols
from skem.repro.comparison import tables
from skem.repro.comparison.pages import failures
from skem.repro.config.validation import suggestion
from skem.repro.render.format import document, interval
from skem.repro.training.histories import Histories

NAME = "own table"
"""Name of a file's data set in seeds, which a renamed file does not change."""


def read(table: str, label: str | int | None, n_folds: int) -> datasets.Table:
    """Read a file, or take a registered data set by its name; each class needs ``n_folds`` samples."""
    if table in datasets.names():
        data = datasets.load(table)
        y = np.array(data.target_names)[data.target]
        lines = np.arange(1, len(y) + 1)
        found = datasets.Table(table, "label", data.data, y, data.feature_names, lines)
    elif not Path(table).is_file():
        close = suggestion(table, datasets.names())
        raise ValueError(f"there is no such file, and no data set of this name; {close}")
    else:
        found = datasets.read_table(table, None if label is None else str(label))
    names, counts = np.unique(found.y, return_counts=True)
    if found.X.ndim > 2:
        raise ValueError(f"{table}: X is {found.X.dtype} {found.X.shape}; features (n, m) are needed")
    if len(names) < 2 or counts.min() < n_folds:
        raise ValueError(
            f"{table}, column {found.label!r}: {len(names)} classes, {str(names[counts.argmin()])!r} has {counts.min()} samples; "
            f"at least 2 classes with {n_folds} samples each are needed. Another column of labels is named with --config label=NAME"
        )
    return found


def compare(table: Table, jobs: Mapping[str, Mapping[str, Any]], root: int) -> pd.DataFrame:
    """Every method on every fold: one row per method and test sample, or one row with the ``error`` of a method that failed.

    Columns: method, fold, line (of the file), label, predicted, log_loss. ``jobs`` are as of `configuration.Comparison.job`.
    """
    classes, codes = np.unique(table.y, return_inverse=True)
    dataset = table.path if table.path in datasets.names() else NAME

    def fit(method: str, job: Mapping[str, Any]) -> Histories:
        rows = tables.drawn_rows(dataset, codes, job["max_rows"], root)
        y, keys = codes[rows], {"dataset": dataset, "method": method}
        found = tables.cross_validate(keys, job, (table.X[rows], y), root).predictions
        tested = np.concatenate([test for _, test in tables.folds(dataset, y, job["n_folds"], root)])
        columns = {"method": method, "fold": found["fold"], "line": table.lines[rows][tested]}
        columns |= {key: classes[found[key]] for key in ("label", "predicted")}
        return Histories(pd.DataFrame(columns | {"log_loss": found["log_loss"]}).to_dict("records"))

    compared = Histories()
    for name, job in jobs.items():
        compared.attempt({"method": name}, partial(fit, name, job))
    return pd.DataFrame(compared.history)


def summary(predictions: pd.DataFrame) -> pd.DataFrame:
    """Accuracy (%) and log-loss (nats) of each method, the best log-loss first, with 95% intervals over test samples."""
    rows = []
    for method, own in predictions.groupby("method", sort=False):
        row: dict[str, Any] = {"method": method}
        if "error" in own and own["error"].notna().any():
            rows.append(row | {"error": own["error"].dropna().iloc[0]})
            continue
        n, losses = len(own), own["log_loss"]
        accuracy = protocols.interval([(own["label"] == own["predicted"]).mean()], n)
        log_loss = protocols.interval([losses.mean()], n, sampling_sd=float(losses.std(ddof=0)))
        names = "accuracy", "low", "high", "log_loss", "log_loss_low", "log_loss_high"
        rows.append(row | dict(zip(names, (*np.multiply(100, accuracy), *log_loss), strict=True)))
    columns = ["method", "accuracy", "low", "high", "log_loss", "log_loss_low", "log_loss_high", "error"]
    table = pd.DataFrame(rows).reindex(columns=columns)
    return table.sort_values("log_loss", kind="stable", ignore_index=True)


def notes(table: Table, n_folds: int, max_rows: int) -> str:
    """The protocol in words."""
    n, n_features = table.X.shape
    drawn = f", of which {max_rows} are drawn in proportion to the classes" if max_rows < n else ""
    missing = int(np.isnan(table.X).sum())
    imputed = (
        f" {missing} values are missing: methods that do not accept missing values get the means of the training samples."
        if missing
        else ""
    )
    return (
        f"{n} samples{drawn}, {n_features} features, {len(np.unique(table.y))} classes. Protocol: nested, {n_folds}-fold "
        "cross-validation, stratified, with the same folds for every method. A method that chooses its configuration chooses "
        f"it on training samples only.{imputed} Each sample is tested once. Intervals are at 95%, over the test samples. "
        "Log-loss is in nats, with probabilities of at least 2.2e-16, as in scikit-learn."
    )


def markdown(table: pd.DataFrame, names: Mapping[str, str], title: str, notes: str) -> str:
    """The summary as Markdown; an interval cannot leave the range of its measure."""
    low, high = table["low"].clip(lower=0), table["high"].clip(upper=100)
    bounded = table.assign(low=low, high=high, log_loss_low=table["log_loss_low"].clip(lower=0))
    lines = []
    for row in bounded.to_dict("records"):
        missing = "failed" if pd.notna(row["error"]) else "-"
        accuracy = interval(row["accuracy"], row["low"], row["high"], 1, missing)
        log_loss = interval(row["log_loss"], row["log_loss_low"], row["log_loss_high"], 3, missing)
        lines.append({"method": names[row["method"]], "accuracy, %": accuracy, "log-loss": log_loss})
    return document(title, notes, pd.DataFrame(lines), *failures(table, names))
