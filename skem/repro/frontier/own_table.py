"""A table of the user's own: read from a CSV with errors by line and column, and every method compared on it."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skem.metrics import LOG_TINY
from skem.repro import protocols
from skem.repro.frontier import tabular
from skem.repro.training.baselines import stratified_rows
from skem.repro.training.classifiers import log_proba, make
from skem.repro.training.histories import attempt
from skem.repro.training.splits import seed

NAME = "own table"
"""The data set's name in seeds: not that of the file, which may be renamed."""

MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
"""Cells of features that are missing values, in lower case."""


def read(path: str | Path, label: str | None = None, n_folds: int = 2) -> tuple[pd.DataFrame, pd.Series]:
    """Features and labels of a CSV: a line of column names, then samples; commas, semicolons or tabs between cells.

    Parameters
    ----------
    path : path
    label : str, optional
        The column of class labels; by default the last one.
    n_folds : int, default=2
        Each class needs as many samples.

    Returns
    -------
    X : DataFrame of float64
        NaN where a cell is empty, NA, NaN, null, none or ?.
    y : Series of str

    Raises
    ------
    ValueError
        Names the line and the column at fault.
    """
    lines, header, cells = _cells(Path(path))
    if len(header) < 2:
        raise ValueError(f"{path}, line 1: {len(header)} column; features and a class label are needed")
    if all(map(_is_number, header)):
        raise ValueError(
            f"{path}, line 1: {', '.join(header[:5])} are no column names; write a line of names"
        )
    twice = [name for i, name in enumerate(header) if name in header[:i]]
    if twice:
        raise ValueError(f"{path}, line 1: two columns are called {twice[0]!r}; rename one of them")
    label = header[-1] if label is None else label
    if label not in header:
        raise ValueError(f"{path}: no column is called {label!r}; the columns are {', '.join(header)}")
    table = pd.DataFrame(cells, columns=header, index=lines)
    y = table.pop(label)
    unlabelled = y.str.lower().isin(MISSING)
    if unlabelled.any():
        raise ValueError(
            f"{path}, line {y.index[unlabelled][0]}, column {label!r}: no class label; "
            f"remove the {unlabelled.sum()} samples without one"
        )
    counts = y.value_counts()
    if len(counts) < 2 or counts.min() < n_folds:
        raise ValueError(
            f"{path}, column {label!r}: {len(counts)} classes, {counts.index[-1]!r} has {counts.min()} samples; at least 2 "
            f"classes with {n_folds} samples each are needed. Another column of labels is named with --config label=NAME"
        )
    return pd.DataFrame({name: _numbers(column, path) for name, column in table.items()}), y


def _cells(path: Path) -> tuple[list[int], list[str], list[list[str]]]:
    """Numbers of lines, names of columns and the cells below them, without blanks around them; decimal commas are points."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        try:
            first = file.readline()
            file.seek(0)
            unquoted = re.sub('"[^"]*"', "", first)
            separator = next((mark for mark in "\t;" if mark in unquoted), ",")
            reader = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=True)
            rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(row)]
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not a text in UTF-8; save it as CSV in UTF-8") from error
    if len(rows) < 2:
        raise ValueError(f"{path}: {len(rows)} lines; a line of column names and samples are needed")
    header = rows[0][1]
    for line, row in rows:
        if len(row) != len(header):
            hint = (
                "; decimal commas need semicolons between cells"
                if separator == "," and len(row) > len(header)
                else ""
            )
            raise ValueError(
                f"{path}, line {line}: {len(row)} cells, the line of names has {len(header)}{hint}"
            )
    cells = [row for _, row in rows[1:]]
    if separator != ",":
        cells = [[_with_point(cell) for cell in row] for row in cells]
    return [line for line, _ in rows[1:]], header, cells


def _with_point(cell: str) -> str:
    changed = cell.replace(",", ".", 1)
    return changed if _is_number(changed) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(column: pd.Series, path: str | Path) -> pd.Series:
    missing = column.str.lower().isin(MISSING)
    numbers = pd.to_numeric(column.mask(missing), errors="coerce")
    wrong = ~missing & ~np.isfinite(numbers)
    if wrong.any():
        line, cell = column.index[wrong][0], column[wrong].iloc[0]
        advice = "write a decimal point" if "," in cell else "encode the column as numbers, or remove it"
        raise ValueError(
            f"{path}, line {line}, column {column.name!r}: {cell[:60]!r} is no finite number, "
            f"the first of {wrong.sum()} such cells; {advice}"
        )
    return numbers.astype(float)


def compare(
    X: pd.DataFrame,
    y: pd.Series,
    methods: Mapping[str, Mapping[str, Any]],
    setup: Mapping[str, Any],
    root: int,
) -> pd.DataFrame:
    """Every method on every fold.

    Parameters
    ----------
    X, y
        As `read` returns them.
    methods, setup, root
        As for ``tabular.fit``.

    Returns
    -------
    DataFrame
        A row per method and test sample: method, fold, line (of the file), label, predicted, log_loss. A method that failed
        has one row instead, with ``error``.
    """
    classes, codes = np.unique(y.to_numpy(dtype=str), return_inverse=True)
    kept = stratified_rows(codes, setup["max_rows"], seed(root, NAME, "frontier rows"))
    values, codes, lines = X.to_numpy()[kept], codes[kept], X.index.to_numpy()[kept]
    splits = list(tabular.folds(NAME, codes, setup["n_folds"], root))

    def fit(method: Mapping[str, Any]) -> list[dict[str, Any]]:
        found = []
        for fold, (train, test) in enumerate(splits):
            random_state = seed(root, NAME, fold, "frontier")
            estimator = make(method["model"], random_state=random_state, **method.get("params", {}))
            if np.isnan(values).any() and not get_tags(estimator).input_tags.allow_nan:
                estimator = make_pipeline(SimpleImputer(keep_empty_features=True), estimator)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an iteration limit is part of a method
                estimator.fit(values[train], codes[train])
                predicted, posterior = estimator.predict(values[test]), log_proba(estimator, values[test])
            true = np.full(len(test), np.nan)
            if posterior is not None:
                true = np.maximum(posterior[np.arange(len(test)), codes[test]], LOG_TINY)
            table = {"fold": fold, "line": lines[test], "label": classes[codes[test]]}
            table |= {"predicted": classes[predicted], "log_loss": -true}
            found += pd.DataFrame(table).to_dict("records")
        return found

    return pd.DataFrame(
        {"method": name} | row
        for name, how in methods.items()
        for row in attempt({"method": name}, partial(fit, how))
    )


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy (%) and log-loss (nats) of each method, the best log-loss first, with 95% intervals over test samples."""
    rows = []
    for method, own in table.groupby("method", sort=False):
        row: dict[str, Any] = {"method": method}
        if "error" in own and own["error"].notna().any():
            rows.append(row | {"error": own["error"].dropna().iloc[0]})
            continue
        n = len(own)
        right = own["label"] == own["predicted"]
        row |= dict(
            zip(
                ("accuracy", "low", "high"),
                np.multiply(100, protocols.interval([right.mean()], n)),
                strict=True,
            )
        )
        losses = own["log_loss"]
        spread = float(losses.std(ddof=0))
        found = protocols.interval([losses.mean()], n, sampling_sd=spread)
        rows.append(row | dict(zip(("log_loss", "log_loss_low", "log_loss_high"), found, strict=True)))
    columns = ["method", "accuracy", "low", "high", "log_loss", "log_loss_low", "log_loss_high", "error"]
    return (
        pd.DataFrame(rows).reindex(columns=columns).sort_values("log_loss", kind="stable", ignore_index=True)
    )


def notes(X: pd.DataFrame, y: pd.Series, setup: Mapping[str, Any]) -> str:
    """The protocol in words."""
    used = min(len(X), setup["max_rows"])
    drawn = f", of which {used} are drawn in proportion to the classes" if used < len(X) else ""
    missing = int(X.isna().to_numpy().sum())
    imputed = (
        f" {missing} values are missing: methods that do not accept missing values get the means of the training samples."
        if missing
        else ""
    )
    return (
        f"{len(X)} samples{drawn}, {X.shape[1]} features, {y.nunique()} classes. Protocol: nested, {setup['n_folds']}-fold "
        "cross-validation, stratified, with the same folds for every method. A method that chooses its configuration chooses "
        f"it on training samples only.{imputed} Each sample is tested once. Intervals are at 95%, over the test samples. "
        "Log-loss is in nats."
    )


def markdown(table: pd.DataFrame, names: Mapping[str, str], title: str, notes: str) -> str:
    """The summary as Markdown."""
    lines = [
        {
            "method": names[row["method"]],
            "accuracy, %": _shown(row, ("accuracy", "low", "high"), 1, 100),
            "log-loss": _shown(row, ("log_loss", "log_loss_low", "log_loss_high"), 3, np.inf),
        }
        for row in table.to_dict("records")
    ]
    shown = pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True)
    return "\n\n".join([f"# {title}", notes, shown, *_failures(table, names)]) + "\n"


def _failures(table: pd.DataFrame, names: Mapping[str, str]) -> Iterator[str]:
    for row in table[table["error"].notna()].to_dict("records"):
        yield f"{names[row['method']]} failed: {row['error']}"


def _shown(row: Mapping[str, Any], columns: tuple[str, str, str], digits: int, most: float) -> str:
    value, low, high = (row[name] for name in columns)
    if pd.notna(row["error"]):
        return "failed"
    return (
        "-"
        if np.isnan(value)
        else f"{value:.{digits}f} [{max(low, 0):.{digits}f}, {min(high, most):.{digits}f}]"
    )
