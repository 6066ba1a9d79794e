"""What the claims are judged by: a row per setting and run, small enough to be kept with the verdicts."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from skem.repro.protocols import select
from skem.repro.training.settings import COLUMNS

KEYS = ("dataset", "method", "setting")
PASSES = ("best-pass", "last-pass", "validated")
AFTER_THE_LAST = ("condition", "kept", "shared_proportion", "validation_accuracy")


def values(histories: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Of all settings and runs, from the histories by data set.

    Returns
    -------
    DataFrame
        dataset, method, setting (after `COLUMNS` of it), run; n_train (of fits on all training rows) and n_test (rows,
        all folds); test accuracy under best-pass, last-pass, validated and nested, as a fraction; peak (the best pass on
        the test set, mean over folds); and, after the last pass, condition, kept, shared_proportion and
        validation_accuracy. ``nested`` stands in rows of its own, one per method, kind of folds and run.
    """
    tables = [_of(history) for history in histories.values() if len(history)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _of(history: pd.DataFrame) -> pd.DataFrame:
    keys = [*KEYS, "run"]
    history = history.assign(setting=history["setting"].fillna("").astype(str))
    described = [column for column in COLUMNS if column in history]
    table = history[[*keys, *described]].drop_duplicates(keys).set_index(keys)
    for protocol in PASSES:
        chosen = select(history, protocol)
        table[protocol] = _over_folds(chosen, keys)
        if protocol == "best-pass":
            folds = chosen.groupby(keys)
            table["peak"], table["n_test"] = folds["pass"].mean(), folds["n_test"].sum()
    trained = history[history["rows"] == "all"]
    last = trained[trained["pass"] == trained.groupby(list(KEYS))["pass"].transform("max")].groupby(keys)
    table["n_train"] = last["n_train"].max()
    for column in AFTER_THE_LAST:
        if column in history:
            table[column] = last[column].mean()
    rows = [table.reset_index()]
    if "folds" in history:
        for _, group in history.groupby(["dataset", "method", "folds"], sort=False, dropna=True):
            chosen = select(group, "nested")
            if len(chosen):
                nested = _over_folds(chosen, ["dataset", "method", "run"]).rename("nested").reset_index()
                rows.append(nested.assign(setting="nested", folds=group["folds"].iloc[0]))
    return pd.concat(rows, ignore_index=True)


def _over_folds(chosen: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Test accuracy by run, folds weighted by their rows."""
    right = (chosen["test_accuracy"] * chosen["n_test"]).groupby([chosen[key] for key in keys]).sum()
    return right / chosen.groupby(keys)["n_test"].sum()


def seconds(fits: Mapping[str, pd.DataFrame], timed: pd.DataFrame) -> pd.DataFrame:
    """What the claims about time are judged by.

    Parameters
    ----------
    fits : mapping
        By data set, the seconds of fits.
    timed : DataFrame
        Seconds of passes that ran alone: dataset, method, setting, pass, seconds.

    Returns
    -------
    DataFrame
        dataset, method, setting, and run or pass: seconds of whole fits on all training rows, as they ran beside other
        jobs, and of passes that ran alone.
    """
    tables = [timed[[*KEYS, "pass", "seconds"]]] if len(timed) else []
    for table in fits.values():
        if len(table):
            own = table[table["rows"] == "all"]
            tables.append(own.groupby([*KEYS, "run"], sort=False)["seconds"].sum().reset_index())
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
