"""What a run of Titsias and Likas (2001) left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from skem.repro.ledger.estimates import Estimate, NotRun, mean
from skem.repro.ledger.readings import Reading
from skem.repro.papers.titsias2001.settings import Settings

AGAIN = "was not part of this run: add the target titsias"


@dataclass(frozen=True)
class Evidence:
    """What a run left behind.

    Attributes
    ----------
    values, seconds : DataFrame
        What the functions of these names in `skem.repro.papers.titsias2001.values` return.
    examples : DataFrame
        ``results/titsias2001/examples.csv``.
    records : mapping of str to dict
        From source to its record in ``results/data``.
    printed : DataFrame
        The cells of the paper's tables.
    paper : Settings
    reading : Reading
    """

    values: pd.DataFrame
    seconds: pd.DataFrame
    examples: pd.DataFrame
    records: Mapping[str, dict[str, Any]]
    printed: pd.DataFrame
    paper: Settings
    reading: Reading = field(default_factory=Reading)

    def under(self, reading: Reading) -> Evidence:
        """The same under a reading of the paper."""
        return replace(self, reading=reading)

    def need(self, dataset: str) -> None:
        """Refuse a data set that cannot be had."""
        entry: Any = self.paper.tables.get(dataset, {})
        if "not_available" in entry:
            raise NotRun(f"{dataset} is not available: {entry['not_available']}")

    @cached_property
    def _by_run(self) -> dict[tuple[str, str, int], pd.DataFrame]:
        """Means over folds, by repetition."""
        if not len(self.values):
            return {}
        keys = ["dataset", "method", "n_components"]
        table = self.values
        if len(self.seconds):
            table = table.merge(self.seconds, on=[*keys, "run"], how="left")
        return {
            (str(dataset), str(method), int(m)): runs.set_index("run")
            for (dataset, method, m), runs in table.groupby(keys, sort=False)
        }

    @cached_property
    def cells(self) -> dict[str, tuple[str, str, int]]:
        """Data set, method and kernels of the paper's cells, by id of the claim."""
        rows = self.printed[["id", "dataset", "method", "n_components"]].itertuples(index=False)
        return {str(name): (str(dataset), str(method), int(m)) for name, dataset, method, m in rows}

    @cached_property
    def measured(self) -> dict[str, tuple[str, str, int]]:
        """Of these, those that this run has under the reading."""
        return {
            name: (dataset, method, m)
            for name, (dataset, method, m) in self.cells.items()
            if dataset in self.paper.judged and (*self.reading.where(dataset, method), m) in self._by_run
        }

    def column(self, dataset: str, method: str, m: int, column: str = "error") -> Estimate:
        """A column of a cell, mean over folds by repetition."""
        self.need(dataset)
        runs = self._by_run.get((*self.reading.where(dataset, method), m))
        if runs is None:
            raise NotRun(f"{method} with {m} kernels on {dataset} {AGAIN}")
        if column not in runs or runs[column].isna().any():
            raise NotRun(f"{column} of {method} with {m} kernels on {dataset} {AGAIN}")
        return Estimate.of(runs[column], "last-pass")

    def table(self, dataset: str) -> dict[tuple[str, int], Estimate]:
        """Errors of a whole table, by method and number of kernels."""
        return {
            (method, m): self.column(dataset, method, m)
            for method in self.paper.methods
            for m in self.sizes(dataset)
        }

    def sizes(self, dataset: str) -> list[int]:
        """Numbers of kernels of a table."""
        return list(self.paper.tables[dataset]["n_components"])

    def by_table(self, dataset: str, method: str, column: str = "error") -> Estimate:
        """The mean over the columns of a table."""
        return mean([self.column(dataset, method, m, column) for m in self.sizes(dataset)])

    def example(self, figure: str, model: str, column: str) -> Estimate:
        """A column of the synthetic examples, by run."""
        if not len(self.examples):
            raise NotRun("the examples were not part of this run: add the target titsias")
        rows = self.examples[(self.examples["figure"] == figure) & (self.examples["model"] == model)]
        return Estimate.of(rows.set_index("run")[column], "fresh rows")
