"""Results of a run by cell: a metric of a data set, a method and whatever else identifies it, with a value per run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from skem import datasets
from skem.repro.config.validation import Strict, Text
from skem.repro.files import read_table
from skem.repro.ledger.estimates import Estimate, NotRun, Unknown, mean
from skem.repro.ledger.interpretations import Interpretation

FINAL = "final_iteration"
"""Protocol of results after the final iteration."""

ALL = "all"
"""Value of a cell's column: the mean over all values that the column has there, run by run."""

Tables = Mapping[str, pd.DataFrame]


class Metric(Strict):
    """A column of a table of values."""

    table: Text
    column: str = ""  # its own name by default
    by: Text = "run"  # column that numbers the runs
    factor: float = 1.0  # unit of the claims in units of the column
    measured_by: str = FINAL  # protocol
    # Column with the number of test samples: a method with one run has no random initialisation, see `Estimate.fixed`.
    deterministic: str = ""
    cell: dict[str, Any] = Field(default_factory=dict)  # columns of all its cells, unless they say otherwise
    also: list[Text] = Field(default_factory=list)  # further columns, which functions use
    target: str = ""  # target of Snakemake that measures it, if a default run does not


def text(value: Any) -> str:
    """Write the value of a column as in the name of a cell: 8 and 8.0 are "8"."""
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Results of a run, under an interpretation of the paper."""

    tables: Tables
    metrics: Mapping[str, Metric]
    functions: Mapping[str, Callable[..., Any]]  # computed metrics: from evidence and cell to an estimate
    paper: Any  # settings
    stated: pd.DataFrame  # config/claims.csv
    missing: Mapping[str, str] = field(default_factory=dict)  # reasons by table that cannot be read
    interpretation: Interpretation = field(default_factory=Interpretation)
    # Shared by all interpretations: rows by table and columns, estimates by metric and cell.
    _rows: dict[tuple[str, ...], dict[Any, Any]] = field(default_factory=dict)
    _estimates: dict[tuple[Any, ...], Estimate] = field(default_factory=dict)

    def estimate(self, metric: str, **cell: Any) -> Estimate:
        """Estimate a metric of a cell, or raise `NotRun`; a list or `ALL` for a column is the mean over its values, run by run."""
        if metric in self.functions:
            made = tuple(self.interpretation.choices.items())
            key = (metric, made, *((column, str(value)) for column, value in cell.items()))
            if key not in self._estimates:
                self._estimates[key] = self.functions[metric](self, **cell)
            return self._estimates[key]
        if metric not in self.metrics:
            raise Unknown.word("metric", metric, [*self.metrics, *self.functions])
        cell = {**self.metrics[metric].cell, **cell}
        for column, values in cell.items():
            if isinstance(values, list):
                return mean([self.estimate(metric, **cell | {column: value}) for value in values])
        return self._of_cell(*self._replaced(metric, cell))

    def _replaced(self, metric: str, cell: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
        known = self.metrics[metric]
        found = self.interpretation.replaced({**known.cell, **cell, "metric": metric, "table": known.table})
        return found.pop("metric"), found.pop("table"), found

    def _of_cell(self, metric: str, table: str, cell: Mapping[str, Any]) -> Estimate:
        key = (metric, table, *sorted((column, text(value)) for column, value in cell.items()))
        if key not in self._estimates:
            several = next((column for column, value in cell.items() if value == ALL), None)
            if several:
                values = self._select(metric, table, cell)[several].unique()
                found = mean([self._of_cell(metric, table, {**cell, several: value}) for value in values])
            else:
                found = self._of_runs(metric, table, cell)
            self._estimates[key] = found
        return self._estimates[key]

    def _of_runs(self, metric: str, table: str, cell: Mapping[str, Any]) -> Estimate:
        known, rows = self.metrics[metric], self._select(metric, table, cell)
        column = known.column or metric
        numbers = rows[column].to_numpy(dtype=float)
        there = ~np.isnan(numbers) & rows[known.by].notna().to_numpy()
        runs = pd.Series(known.factor * numbers[there], pd.Index(rows[known.by][there]), name=column)
        if not len(runs):
            raise NotRun(f"{_content(metric, cell)} has no number in this run")
        if not runs.index.is_unique:
            raise ValueError(f"{_content(metric, cell)} has several values per {known.by}")
        if known.deterministic and len(runs) == 1:
            return Estimate.fixed(
                float(runs.iloc[0]), int(rows[known.deterministic].iloc[0]), known.measured_by
            )
        return Estimate.of(runs, known.measured_by)

    def rows(self, metric: str, **cell: Any) -> pd.DataFrame:
        """Select rows of the table of a metric, by the columns of a cell, with the columns of the metric; `NotRun` if there are none."""
        return self._select(*self._replaced(metric, cell), self.metrics[metric].also)

    def _select(
        self, metric: str, table: str, cell: Mapping[str, Any], also: Sequence[str] = ()
    ) -> pd.DataFrame:
        known, rows = self.metrics[metric], self.tables.get(table, pd.DataFrame())
        needed = [*cell, known.by, *filter(None, [known.deterministic]), *also]
        if lacking := [column for column in needed if column not in rows and len(rows)]:
            raise NotRun(f"{_content(metric, cell)} was not measured: {table} has no column {lacking[0]}")
        columns = dict.fromkeys([*needed, known.column or metric])
        return rows.iloc[self._places(metric, table, cell)].reindex(columns=columns)

    def _places(self, metric: str, table: str, cell: Mapping[str, Any]) -> NDArray[np.intp]:
        columns = sorted(column for column, value in cell.items() if value != ALL)
        values = self.tables.get(table, pd.DataFrame())
        if not columns and len(values):
            return np.arange(len(values))
        key = (table, *columns)
        if key not in self._rows:
            there = len(values) and {*columns} <= {*values}
            by = [values[column].map(text) for column in columns] if there else []
            self._rows[key] = values.groupby(by, sort=False).indices if by else {}
        own = tuple(text(cell[column]) for column in columns)
        found = self._rows[key].get(own if len(own) > 1 else own[0])
        if found is None:
            target = self.metrics[metric].target
            advice = f": add the target {target}" if target else ""
            reason = self.missing.get(table) or f"was not part of this run{advice}"
            raise NotRun(f"{_content(metric, cell)} {reason}")
        return found


def _content(metric: str, cell: Mapping[str, Any]) -> str:
    parts = dict(cell)
    words = f"{metric} of {parts.pop('method')}" if "method" in parts else metric
    words += f" on {parts.pop('dataset')}" if "dataset" in parts else ""
    return ", ".join([words, *(f"{column} = {value}" for column, value in parts.items())])


def read(files: Mapping[str, Any]) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Read tables of values by name, and the reasons of those that cannot be read."""
    tables, missing = {}, {}
    for name, path in files.items():
        try:
            tables[name] = read_table(path)
        except (OSError, ValueError) as error:
            missing[name] = f"was not read: {error}"
    return tables, missing


def exactly(value: float, note: str = "") -> Estimate:
    """Return a number that is counted in the data."""
    return Estimate(float(value), protocol="data", note=note)


def data_set_property(evidence: Evidence, dataset: str, quantity: str) -> Estimate:
    """Return a number of samples, features or classes of a data set of ``config/datasets.yaml``."""
    if dataset not in datasets.names():
        raise NotRun(f"{dataset} is not available")
    known = datasets.describe(dataset)
    (n_samples, side, *_), n_train = known["shape"], known["n_train"]
    properties = {"n_samples": n_samples, "n_features": side, "image_side": side}
    properties |= {"n_classes": known["n_classes"], "n_train": n_train, "n_test": n_samples - (n_train or 0)}
    return exactly(properties[quantity])


FUNCTIONS: dict[str, Callable[..., Any]] = {"property": data_set_property}
"""Metrics that all papers have."""
