"""Accuracy by pass of EM, of any experiment that a paper has numbers for."""

from __future__ import annotations

from typing import Any

import pandas as pd

from skem import plots
from skem.repro.titles import with_settings

CURVES = {
    "test, all training rows": ("all", "test"),
    "test, without validation rows": ("part", "test"),
    "validation": (None, "validation"),
}
"""Curves of accuracy by pass: on which rows was trained, and on which accuracy is taken."""


def by_pass(history: pd.DataFrame) -> pd.DataFrame:
    """Accuracy after each pass of EM, of one method and setting.

    Parameters
    ----------
    history : DataFrame
        run, fold, rows, pass, n_test, test_accuracy, n_validation, validation_accuracy (fractions).

    Returns
    -------
    DataFrame
        curve (one of `CURVES`), pass, accuracy (%, mean over runs, folds weighted by their rows), low and high
        (the range over runs).
    """
    found = []
    for curve, (trained_on, part) in CURVES.items():
        own = history if trained_on is None else history[history["rows"] == trained_on]
        own = own[own[f"{part}_accuracy"].notna()]
        right = 100 * own[f"{part}_accuracy"] * own[f"n_{part}"]
        sums = own.assign(right=right).groupby(["run", "pass"])[["right", f"n_{part}"]].sum()
        passes = (sums["right"] / sums[f"n_{part}"]).groupby("pass").agg(["mean", "min", "max"])
        passes.columns = ["accuracy", "low", "high"]
        found.append(passes.reset_index().assign(curve=curve))
    return pd.concat(found, ignore_index=True)[["curve", "pass", "accuracy", "low", "high"]]


def draw(curves: pd.DataFrame, **size: Any) -> Any:
    """Accuracy by pass beside what the paper prints, a panel per data set.

    Parameters
    ----------
    curves : DataFrame
        As `by_pass` returns it, with dataset, setting (to be read) and paper (%).
    **size
        See `skem.plots`.
    """
    return plots.accuracy_by_pass(curves, level="paper", names=with_settings(curves["setting"]), **size)
