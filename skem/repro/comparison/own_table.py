"""A table of the user's own: every method that the registry has for tables, compared on it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from skem.datasets import _tables
from skem.repro import protocols
from skem.repro.comparison.jobs import drawn_rows, folds, in_folds
from skem.repro.comparison.measurement import measure
from skem.repro.comparison.pages import failures
from skem.repro.config.validation import suggestion
from skem.repro.render.format import document, interval
from skem.repro.training.histories import Histories

NAME = "own table"
"""Name of a file's data set in seeds, which a renamed file does not change."""

RARE = 10
"""Fewest training samples of a level of a category; levels of fewer share one feature."""

MOST_LEVELS = 20
"""Most features of a category."""

IDENTIFIER = 0.9
"""Share of samples with a level of their own above which a column of text is an identifier."""

FEWEST = 3
"""Fewest samples of a class."""


@dataclass(frozen=True, eq=False)
class OwnTable:
    """Samples to compare classifiers on; ``categorical`` features are codes, and ``remarks`` say what was left out."""

    path: str
    X: NDArray[np.float64] = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    lines: NDArray[np.intp] = field(repr=False)  # of the file
    n_folds: int
    categorical: list[int] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def encoder(self) -> ColumnTransformer | None:
        """One-hot encoding of the categorical features, which each fold learns from its training samples; None without them."""
        if not self.categorical:
            return None
        one_hot = OneHotEncoder(
            min_frequency=RARE,
            max_categories=MOST_LEVELS,
            handle_unknown="infrequent_if_exist",
            sparse_output=False,
        )
        return ColumnTransformer([("categories", one_hot, self.categorical)], remainder="passthrough")


def raise_if_unsafe(path: str, page: str) -> None:
    """Refuse a file that a run would delete, or whose results would replace those of another; ``page`` is the page of results."""
    place = Path(path).resolve()
    if place.is_relative_to(Path("results").resolve()):
        raise ValueError("it lies in results/, where a run replaces files; move it elsewhere")
    written = Path(page).read_text(encoding="utf-8") if Path(page).is_file() else ""
    if (of := re.search(r"^Table: `(.*)`\.$", written, re.M)) and Path(of[1]).resolve() != place:
        raise ValueError(f"{page} has the results of {of[1]}; rename this file, or move those results")
    # Results would be older than the file, and Snakemake deletes such results.
    if Path(path).is_file() and (ahead := Path(path).stat().st_mtime - time.time()) > 1:
        raise ValueError(
            f"the file is dated {ahead / 3600:.1f} hours ahead of this machine's clock; touch {path!r}, or set the clock"
        )


def read(table: str, label: str | int | None, n_folds: int, drop: Sequence[str] = ()) -> OwnTable:
    """Read a CSV or ARFF file without the columns in ``drop`` and classes of one or two samples.

    There are at most as many folds as a class has samples.
    """
    if not Path(table).is_file():
        raise ValueError("it is a folder" if Path(table).is_dir() else "there is no such file")
    name, lines, columns = _tables.read_columns(Path(table), None if label is None else str(label))
    labels = np.array(columns.pop(name))
    for column in drop:
        if column not in columns:
            raise ValueError(f"no column {column!r} to drop; {suggestion(column, list(columns))}")
        del columns[column]
    remarks = [f"Left out by drop: {', '.join(drop)}."] if drop else []
    X, categorical = _features(table, columns, lines, remarks)
    names, counts = np.unique(labels, return_counts=True)
    rare = names[counts < FEWEST]
    kept = ~np.isin(labels, rare)
    if len(names) - len(rare) < 2 or kept.sum() < 0.9 * len(labels):
        raise ValueError(
            f"{table}, column {name!r}: {len(names)} classes, {len(rare)} of which have fewer than {FEWEST} samples; "
            "at least 2 classes with more are needed. Another column of labels is named with --config label=NAME"
        )
    if len(rare):
        remarks.append(f"Classes of fewer than {FEWEST} samples, left out: {', '.join(map(str, rare))}.")
    fewest = int(counts[counts >= FEWEST].min())
    if fewest < n_folds:
        remarks.append(
            f"{fewest} folds, not {n_folds}, as class {names[counts == fewest][0]} has {fewest} samples."
        )
    places = np.array(lines)[kept]
    return OwnTable(table, X[kept], labels[kept], places, min(n_folds, fewest), categorical, remarks)


def _features(
    path: str, columns: Mapping[str, tuple[str, ...]], lines: list[int], remarks: list[str]
) -> tuple[NDArray[np.float64], list[int]]:
    """Numbers and codes of categories, the positions of the latter, and remarks about columns."""
    arrays: list[NDArray[np.float64]] = []
    categorical: list[str] = []
    kept: list[str] = []
    constant, sparse, identifiers, suspects, faults = [], [], [], [], []
    for name, cells in columns.items():
        here: list[str] = []
        array = _tables.numbers(Path(path), name, cells, lines, here)
        given = [cell for cell in cells if cell.lower() not in _tables.MISSING]
        n_levels = len(set(given))
        if n_levels < 2:
            constant.append(name)
            continue
        if len(given) < min(RARE, len(cells) / 2):  # training samples of a split may have none
            sparse.append(name)
            continue
        if here and np.isfinite(array).sum() * 2 > len(given):  # numbers with some misprints
            faults += here
            continue
        if here:
            if n_levels > IDENTIFIER * len(given):
                identifiers.append(name)
                continue
            categorical.append(name)
            levels = np.unique(given)
            codes = np.searchsorted(levels, cells).astype(np.float64)
            array = np.where([cell.lower() in _tables.MISSING for cell in cells], np.nan, codes)
        elif n_levels == len(cells) > 20 and not (array % 1).any():
            if not name:  # as pandas writes an index
                identifiers.append("the column without a name")
                continue
            suspects.append(name)
        kept.append(name)
        arrays.append(array)
    if faults:
        raise ValueError("\n       ".join(faults))
    if not kept:
        raise ValueError(f"{path}: no feature is left; each column is constant, or an identifier")
    said = {
        "Constant, and left out": constant,
        f"Fewer than {RARE} values, and left out": sparse,
        "Different in almost each sample, as identifiers are, and left out": identifiers,
        f"Categories, encoded as one feature per level, levels of fewer than {RARE} training samples together": categorical,
    }
    remarks += [f"{words}: {', '.join(names)}." for words, names in said.items() if names]
    for name in suspects:
        quoted = name if re.fullmatch(r"[\w -]+", name) else json.dumps(name, ensure_ascii=False)
        remarks.append(
            f"Warning: {name} has another whole number in each sample; leave it out by --config 'drop=[{quoted}]' "
            "if it is an identifier."
        )
    return np.column_stack(arrays), [kept.index(name) for name in categorical]


def compare(table: OwnTable, jobs: Mapping[str, Mapping[str, Any]], root: int) -> pd.DataFrame:
    """Every method on every fold: one row per method and test sample, or one row with the ``error`` of a method that failed.

    Columns: method, fold, line (of the file), label, predicted, log_loss. ``jobs`` are as of `configuration.Comparison.parameters`.
    """
    classes, codes = np.unique(table.y, return_inverse=True)

    def fit(method: str, job: Mapping[str, Any]) -> Histories:
        rows = drawn_rows(NAME, codes, job["max_rows"], root)
        y, keys = codes[rows], {"dataset": NAME, "method": method}
        job = {**job, "n_folds": table.n_folds}
        samples = table.X[rows], y
        cases = in_folds(NAME, job, samples, root, table.encoder())
        found = measure(keys, cases).predictions
        tested = np.concatenate([test for _, test in folds(NAME, y, table.n_folds, root)])
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
        right = binomtest(int((own["label"] == own["predicted"]).sum()), n)
        low, high = right.proportion_ci(method="wilson")  # has a width at 100%
        accuracy = right.statistic, low, high
        log_loss = protocols.interval([losses.mean()], n, sampling_sd=float(losses.std(ddof=0)))
        names = "accuracy", "low", "high", "log_loss", "log_loss_low", "log_loss_high"
        rows.append(row | dict(zip(names, (*np.multiply(100, accuracy), *log_loss), strict=True)))
    columns = ["method", "accuracy", "low", "high", "log_loss", "log_loss_low", "log_loss_high", "error"]
    table = pd.DataFrame(rows).reindex(columns=columns)
    return table.sort_values("log_loss", kind="stable", ignore_index=True)


def notes(table: OwnTable, max_rows: int) -> str:
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
        f"Table: `{table.path}`.\n\n{n} samples{drawn}, {n_features} features, {len(np.unique(table.y))} classes. Protocol: nested, {table.n_folds}-fold "
        "cross-validation, stratified, with the same folds for every method. A method that chooses its configuration chooses "
        f"it on training samples only.{imputed} Each sample is tested once. Intervals are at 95%, over the test samples. "
        "Log-loss is in nats, with probabilities of at least 2.2e-16, as in scikit-learn."
        + "".join(f"\n\n{remark}" for remark in table.remarks)
    )


def markdown(table: pd.DataFrame, names: Mapping[str, str], title: str, notes: str) -> str:
    """The summary as Markdown; an interval cannot leave the range of its measure."""
    bounded = table.assign(log_loss_low=table["log_loss_low"].clip(lower=0))
    lines = []
    for row in bounded.to_dict("records"):
        missing = "failed" if pd.notna(row["error"]) else "-"
        accuracy = interval(row["accuracy"], row["low"], row["high"], 1, missing)
        log_loss = interval(row["log_loss"], row["log_loss_low"], row["log_loss_high"], 3, missing)
        lines.append({"method": names[row["method"]], "accuracy, %": accuracy, "log-loss": log_loss})
    return document(title, notes, pd.DataFrame(lines), *failures(table, names))
