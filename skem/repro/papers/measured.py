"""Results that the jobs of a paper measured, in tables beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping
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
