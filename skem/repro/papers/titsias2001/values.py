"""What the claims are judged by: means over folds, small enough to be kept with the verdicts."""

from __future__ import annotations

import pandas as pd

KEYS = ("dataset", "method", "n_components", "run")
MEASURED = ("error", "own_group", "shared")


def values(errors: pd.DataFrame) -> pd.DataFrame:
    """Means over the folds of a repetition, from ``results/titsias2001/errors.csv``.

    Returns
    -------
    DataFrame
        dataset, method, n_components, run; error (%), own_group and shared.
    """
    return _means(errors, MEASURED)


def seconds(timing: pd.DataFrame) -> pd.DataFrame:
    """The same of the seconds, from ``results/titsias2001/errors_timing.csv``."""
    return _means(timing, ("seconds",))


def _means(table: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    there = [column for column in columns if column in table]
    return table.groupby(list(KEYS), sort=False)[there].mean().reset_index() if len(table) else table
