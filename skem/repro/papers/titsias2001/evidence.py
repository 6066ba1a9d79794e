"""What a run of Titsias and Likas (2001) left behind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from skem.repro.files import read_table
from skem.repro.ledger.estimates import Estimate, NotRun, mean

TABLES = ("ionosphere", "pima", "phoneme", "satimage")
"""Those there is data for, of the settings that come nearest to the paper's."""


@dataclass(frozen=True)
class Found:
    """What a run left behind.

    Attributes
    ----------
    errors : DataFrame
        ``results/titsias/errors.csv``, with the column of errors_timing.csv.
    examples : DataFrame
        ``results/titsias/examples.csv``.
    records : mapping of str to dict
        From source to its record in ``results/data``.
    tables : mapping of str to dict
        ``tables`` of ``config/titsias.yaml``.
    """

    errors: pd.DataFrame
    examples: pd.DataFrame
    records: Mapping[str, dict[str, Any]]
    tables: Mapping[str, dict[str, Any]]

    def need(self, dataset: str) -> None:
        """Refuse a data set that cannot be had."""
        entry = self.tables.get(dataset, {})
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
            (str(dataset), str(method), int(m)): own.set_index("run")
            for (dataset, method, m), own in means.groupby(keys, sort=False)
        }

    @cached_property
    def cells(self) -> list[str]:
        """Ids of the cells that were measured."""
        number = {"ionosphere": 2, "pima": 3, "phoneme": 4, "satimage": 5}
        return [
            f"titsias.table{number[dataset]}.{dataset}.{method}.m{m}"
            for dataset, method, m in self._by_run
            if dataset in TABLES
        ]

    def column(self, dataset: str, method: str, m: int, column: str = "error") -> Estimate:
        """A column of a cell, mean over folds by repetition."""
        self.need(dataset)
        own = self._by_run.get((dataset, method, m))
        if own is None:
            what = f"{method} with {m} kernels on {dataset}"
            raise NotRun(f"{what} was not part of this run: snakemake titsias")
        return Estimate.of(own[column], "last-pass")

    def sizes(self, dataset: str) -> list[int]:
        """Numbers of kernels of a table."""
        return list(self.tables[dataset]["n_components"])

    def by_table(self, dataset: str, method: str, column: str = "error") -> Estimate:
        """The mean over the columns of a table."""
        return mean([self.column(dataset, method, m, column) for m in self.sizes(dataset)])

    def example(self, figure: str, model: str, column: str) -> Estimate:
        """A column of the synthetic examples, by run."""
        own = self.examples
        if not len(own):
            raise NotRun("the examples were not part of this run: snakemake titsias")
        own = own[(own["figure"] == figure) & (own["model"] == model)]
        return Estimate.of(own.set_index("run")[column], "fresh rows")


def found_in(
    paths: Sequence[str | Path], records: Sequence[str | Path], tables: Mapping[str, dict[str, Any]]
) -> Found:
    """What the files of a run say; without files, nothing.

    Parameters
    ----------
    paths : sequence of path
        errors, seconds and examples in ``results/titsias``, or none.
    records : sequence of path
        Files of ``results/data``.
    tables : mapping
        ``tables`` of ``config/titsias.yaml``.
    """
    errors, seconds, examples = map(read_table, paths) if paths else [pd.DataFrame()] * 3
    known = {Path(path).stem: json.loads(Path(path).read_text(encoding="utf-8")) for path in records}
    return Found(errors.merge(seconds) if len(errors) else errors, examples, known, tables)
