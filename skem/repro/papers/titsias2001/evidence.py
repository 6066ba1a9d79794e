"""What a run of Titsias and Likas (2001) left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from skem.repro.ledger.estimates import Estimate, NotRun, mean
from skem.repro.papers.titsias2001.settings import Settings

AGAIN = "was not part of this run: snakemake titsias"


@dataclass(frozen=True)
class Evidence:
    """What a run left behind.

    Attributes
    ----------
    errors : DataFrame
        Errors and seconds of every method, as ``results/titsias2001/errors.csv`` and ``errors_timing.csv`` have them.
    examples : DataFrame
        ``results/titsias2001/examples.csv``.
    records : mapping of str to dict
        From source to its record in ``results/data``.
    printed : DataFrame
        The cells of the paper's tables.
    paper : Settings
    """

    errors: pd.DataFrame
    examples: pd.DataFrame
    records: Mapping[str, dict[str, Any]]
    printed: pd.DataFrame
    paper: Settings

    def need(self, dataset: str) -> None:
        """Refuse a data set that cannot be had."""
        entry = self.paper.tables.get(dataset, {})
        if "not_available" in entry:
            raise NotRun(f"{dataset} is not available: {entry['not_available']}")

    @cached_property
    def _by_run(self) -> dict[tuple[str, str, int], pd.DataFrame]:
        """Means over folds, by repetition."""
        if not len(self.errors):
            return {}
        keys = ["dataset", "method", "n_components"]
        means = self.errors.groupby([*keys, "run"], sort=False).mean(numeric_only=True).reset_index()
        return {
            (str(dataset), str(method), int(m)): runs.set_index("run")
            for (dataset, method, m), runs in means.groupby(keys, sort=False)
        }

    @cached_property
    def cells(self) -> dict[str, tuple[str, str, int]]:
        """Data set, method and kernels of the paper's cells, by id of the claim."""
        rows = self.printed[["id", "dataset", "method", "n_components"]].itertuples(index=False)
        return {str(name): (str(dataset), str(method), int(m)) for name, dataset, method, m in rows}

    @cached_property
    def measured(self) -> dict[str, tuple[str, str, int]]:
        """Of these, those of this run, in its order."""
        ids = {cell: name for name, cell in self.cells.items()}
        return {ids[cell]: cell for cell in self._by_run if cell in ids and cell[0] in self.paper.judged}

    def column(self, dataset: str, method: str, m: int, column: str = "error") -> Estimate:
        """A column of a cell, mean over folds by repetition."""
        self.need(dataset)
        runs = self._by_run.get((dataset, method, m))
        if runs is None:
            raise NotRun(f"{method} with {m} kernels on {dataset} {AGAIN}")
        return Estimate.of(runs[column], "last-pass")

    def sizes(self, dataset: str) -> list[int]:
        """Numbers of kernels of a table."""
        return list(self.paper.tables[dataset]["n_components"])

    def by_table(self, dataset: str, method: str, column: str = "error") -> Estimate:
        """The mean over the columns of a table."""
        return mean([self.column(dataset, method, m, column) for m in self.sizes(dataset)])

    def example(self, figure: str, model: str, column: str) -> Estimate:
        """A column of the synthetic examples, by run."""
        if not len(self.examples):
            raise NotRun("the examples were not part of this run: snakemake titsias")
        rows = self.examples[(self.examples["figure"] == figure) & (self.examples["model"] == model)]
        return Estimate.of(rows.set_index("run")[column], "fresh rows")
