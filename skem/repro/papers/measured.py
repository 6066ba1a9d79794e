"""Results that the jobs of a paper measured, in tables beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

Rows = list[dict[str, Any]]
Tables = Mapping[str, pd.DataFrame]


def select(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """Select the rows of a table, which may be empty, by the values of columns."""
    return (
        table[np.logical_and.reduce([table[key] == value for key, value in where.items()])]
        if len(table)
        else table
    )


def stated_value(stated: pd.DataFrame, **where: str) -> float:
    """Return the first number that the paper states with these values of columns, or NaN."""
    values = select(stated[["kind", "value", *where]], kind="number", **where)["value"]
    return float(values.iloc[0]) if len(values) else np.nan


def summary(
    runs: pd.DataFrame,
    cells: Iterable[tuple[str, str]],
    measures: Sequence[str],
    printed: Mapping[str, Callable[[str, str], float]],
) -> pd.DataFrame:
    """Average the runs of each cell (data set and method) of a table, beside the numbers that ``printed`` gives by measure and cell."""
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
