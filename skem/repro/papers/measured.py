"""Results that the jobs of a paper measured: selection for evaluators, and tables beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from skem import datasets
from skem.repro.files import read_table
from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.interpretations import Interpretation

Rows = list[dict[str, Any]]
Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Results of a run, under an interpretation of the paper.

    Attributes
    ----------
    values : mapping of str to DataFrame
        Tables ``results/values/<paper>_<name>.csv`` by name.
    paper : Settings
    stated : DataFrame
        ``config/claims.csv``.
    interpretation : Interpretation
    groups : dict
        Rows of a table by the values of some columns, filled on demand and shared by all interpretations.
    """

    values: Tables
    paper: Any
    stated: pd.DataFrame
    interpretation: Interpretation = field(default_factory=Interpretation)
    groups: dict[tuple[str, ...], dict[Any, pd.DataFrame]] = field(default_factory=dict)

    target: ClassVar[str] = ""
    """Target of Snakemake that measures the values, if a default run does not."""

    @classmethod
    def read(cls, files: Mapping[str, Mapping[str, Any]], stated: pd.DataFrame, paper: Any) -> Self:
        """Read the files that the rules of the paper name."""
        return cls({name: read_table(path) for name, path in files["values"].items()}, paper, stated)

    def under(self, interpretation: Interpretation) -> Self:
        """Return the same results under another interpretation."""
        return replace(self, interpretation=interpretation)

    def rows(self, table: str, content: str, target: str = "", **where: Any) -> pd.DataFrame:
        """Select rows of a table by the values of columns; `NotRun` names the content and the target that measures it."""
        key = (table, *where)
        if key not in self.groups:
            rows = self.values.get(table, pd.DataFrame())
            known = len(rows) and {*where} <= {*rows}
            self.groups[key] = dict(list(rows.groupby(list(where), sort=False))) if known else {}
        if (*where.values(),) not in self.groups[key]:
            target = target or self.target
            advice = f": add the target {target}" if target else ""
            raise NotRun(f"{content} was not part of this run{advice}")
        return self.groups[key][*where.values(),]

    def model_rows(self, table: str, content: str, dataset: str, method: str, **where: Any) -> pd.DataFrame:
        """Select rows of the model that the interpretation uses for a data set and a method."""
        dataset, method = self.interpretation.where(dataset, method)
        return self.rows(table, content, dataset=dataset, method=method, **where)


def by_run(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return a column, indexed by run. `DataFrame.set_index` would copy all columns, for thousands of estimates."""
    return pd.Series(rows[column].to_numpy(), index=pd.Index(rows["run"]), name=column)


FINAL = "final_iteration"
"""Protocol of results after the final iteration."""


def final(runs: pd.Series, note: str = "") -> Estimate:
    """Estimate a result after the final iteration from its values by run."""
    return Estimate.of(runs, FINAL, note)


def exactly(value: float, note: str = "") -> Estimate:
    """Return a number that is counted in the data or the configuration."""
    return Estimate(float(value), protocol="data", note=note)


def data_set_property(source: str, quantity: str) -> Estimate:
    """Return a number of samples, features or classes of a data set of ``config/datasets.yaml``."""
    if source not in datasets.names():
        raise NotRun(f"{source} is not available")
    known = datasets.describe(source)
    (n_samples, side, *_), n_train = known["shape"], known["n_train"]
    properties = {"n_samples": n_samples, "n_features": side, "image_side": side}
    properties |= {"n_classes": known["n_classes"], "n_train": n_train, "n_test": n_samples - (n_train or 0)}
    return exactly(properties[quantity])


def resolution(evidence: Evidence, claim: Claim) -> float:
    """Return the range of the paper's numbers of a claim's quantity in its part of a table; the id is part, dot and cell."""
    stated, part = evidence.stated, claim["id"].rpartition(".")[0] + "."
    beside = stated["id"].str.startswith(part) & (stated["quantity"] == claim["quantity"])
    return float(np.ptp(stated.loc[beside, "value"].astype(float)))


def select(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """Select the rows of a table, which may be empty, by the values of columns."""
    for key, value in where.items():
        table = table[table[key] == value] if len(table) else table
    return table


def stated_value(stated: pd.DataFrame, **where: str) -> float:
    """Return the first number that the paper states with these values of columns, or NaN."""
    values = select(stated[stated["kind"] == "number"], **where)["value"]
    return float(values.iloc[0]) if len(values) else np.nan


def concatenated(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables; empty tables may lack columns."""
    found = [table for table in tables if len(table)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def without_times(tables: Tables, **timing: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Separate times, which differ in each run, from results.

    ``timing`` maps names of tables to the columns that identify their times, which are returned as "<name>_timing".
    """
    times = {
        f"{name}_timing": tables[name][[*keys, "seconds"]] if len(tables[name]) else tables[name]
        for name, keys in timing.items()
    }
    return {name: table.drop(columns="seconds", errors="ignore") for name, table in tables.items()} | times


def summary(
    runs: pd.DataFrame,
    cells: Iterable[tuple[str, str]],
    measures: Sequence[str],
    printed: Mapping[str, Callable[[str, str], float]],
) -> pd.DataFrame:
    """Average the runs of each cell (data set and method) of a table, beside the paper's numbers.

    ``printed`` maps measures to the paper's number of a cell. Columns: dataset, method, n_runs, the measures, and <measure>_sd and
    paper_<measure> of those in ``printed``.
    """
    rows = []
    for dataset, method in cells:
        own = select(runs, dataset=dataset, method=method)
        row: dict[str, Any] = {"dataset": dataset, "method": method, "n_runs": len(own)}
        row |= {measure: own[measure].mean() if measure in own else np.nan for measure in measures}
        for measure, of_paper in printed.items():
            row[f"{measure}_sd"] = own[measure].std(ddof=1) if measure in own else np.nan
            row[f"paper_{measure}"] = of_paper(dataset, method)
        rows.append(row)
    return pd.DataFrame(rows)
