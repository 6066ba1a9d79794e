"""Values that the claims are evaluated on: a row per configuration and run, small enough to be committed."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from skem.repro.files import concatenated
from skem.repro.protocols import select
from skem.repro.training.settings import COLUMNS

KEYS = ["dataset", "method", "setting"]
PROTOCOLS = ("test_selected_iteration", "final_iteration", "validation_selected_iteration")
FINAL = ("condition", "kept", "shared_proportion", "validation_accuracy")
"""Columns of the final iteration."""


def values(histories: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Reduce histories to a row per configuration and run; ``nested`` has rows of its own, one per method, kind of folds and run.

    Accuracies are fractions on all test folds; ``peak`` is the best iteration on the test set, ``rise`` the gain of the mean log-likelihood in it.
    """
    return concatenated(_reduced(history) for history in histories.values() if len(history))


def _reduced(history: pd.DataFrame) -> pd.DataFrame:
    keys = [*KEYS, "run"]
    history = history.assign(setting=history["setting"].fillna("").astype(str))
    described = [column for column in COLUMNS if column in history]
    table = history[[*keys, *described]].drop_duplicates(keys).set_index(keys)
    for protocol in PROTOCOLS:
        chosen = select(history, protocol)
        table[protocol] = _over_folds(chosen, keys)
        if protocol == "test_selected_iteration":
            folds = chosen.groupby(keys)
            table["peak"], table["n_test"] = folds["iteration"].mean(), folds["n_test"].sum()
            table["rise"] = _rise(history, chosen).groupby(keys)["rise"].mean()
    trained = history[history["rows"] == "all"]
    last = trained[trained["iteration"] == trained.groupby(KEYS)["iteration"].transform("max")].groupby(keys)
    table["n_train"] = last["n_train"].max()
    for column in FINAL:
        if column in history:
            table[column] = last[column].mean()
    rows = [table.reset_index()]
    if "folds" in history:
        for (_, _, folds), group in history.groupby(["dataset", "method", "folds"], sort=False):
            chosen = select(group, "nested")
            if len(chosen):
                nested = _over_folds(chosen, ["dataset", "method", "run"]).rename("nested").reset_index()
                rows.append(nested.assign(setting="nested", folds=folds))
    return pd.concat(rows, ignore_index=True)


def _rise(history: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Add the increase of the log-likelihood over the iteration before to chosen iterations."""
    fit = [*KEYS, "run", "fold"]
    fits = history[history["rows"] == "all"].sort_values([*fit, "iteration"], kind="stable")
    fits = fits.assign(rise=fits.groupby(fit)["log_likelihood"].diff())
    return chosen.merge(fits[[*fit, "iteration", "rise"]], on=[*fit, "iteration"])


def _over_folds(chosen: pd.DataFrame, keys: list[str]) -> pd.Series:
    right = (chosen["test_accuracy"] * chosen["n_test"]).groupby([chosen[key] for key in keys]).sum()
    return right / chosen.groupby(keys)["n_test"].sum()


def seconds(fits: Mapping[str, pd.DataFrame], timed: pd.DataFrame) -> pd.DataFrame:
    """Reduce seconds of fits on all training samples by run, and take those of iterations that ran alone as they are."""
    tables = [timed[[*KEYS, "iteration", "seconds"]]] if len(timed) else []
    for table in fits.values():
        if len(table):
            own = table[table["rows"] == "all"]
            tables.append(own.groupby([*KEYS, "run"], sort=False)["seconds"].sum().reset_index())
    return concatenated(tables)
