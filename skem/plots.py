"""Figures from tidy tables: one call each, returning the Axes, in the user's own style."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def accuracy_by_pass(
    history: pd.DataFrame, *, paper: float | None = None, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Accuracy after each pass of EM, on the test set and on validation rows.

    Parameters
    ----------
    history : DataFrame
        One method and setting: columns run, fold, rows, pass, n_test, test_accuracy, n_validation,
        validation_accuracy (fractions).
    paper : float, optional
        The accuracy the paper prints, in percent: a line.
    title : str, optional
    ax : Axes, optional
        By default the current one.

    Returns
    -------
    Axes
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    ax = plt.gca() if ax is None else ax
    curves = {
        "test, all training rows": (history[history["rows"] == "all"], "test", "-"),
        "test, without validation rows": (history[history["rows"] == "part"], "test", "-."),
        "validation": (history[history["validation_accuracy"].notna()], "validation", "--"),
    }
    # Told apart by dashes and by lightness, so that they stay apart in grey.
    for (label, (rows, part, style)), colour in zip(
        curves.items(), ("#08306b", "#d95f0e", "#3690c0"), strict=True
    ):
        if not len(rows):
            continue
        runs = _per_run(rows, part)
        by_pass = runs.groupby("pass")["accuracy"]
        mean, low, high = by_pass.mean(), by_pass.min(), by_pass.max()
        ax.plot(mean.index, mean, style, color=colour, label=label)
        ax.fill_between(mean.index, low, high, color=colour, alpha=0.15, linewidth=0)
    if paper is not None:
        ax.axhline(paper, color="black", linestyle=":", label=f"paper: {paper:g}%")
    ax.set_xlabel("pass of EM")
    ax.set_ylabel("accuracy (%)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if title:
        ax.set_title(title)
    _zoom(ax)
    return ax


def _per_run(rows: pd.DataFrame, part: str) -> pd.DataFrame:
    """Accuracy in percent of each run and pass, folds weighted by their rows."""
    right = rows[f"{part}_accuracy"] * rows[f"n_{part}"]
    sums = rows.assign(right=right).groupby(["run", "pass"])[["right", f"n_{part}"]].sum()
    return (100 * sums["right"] / sums[f"n_{part}"]).rename("accuracy").reset_index()


def _zoom(ax: Axes) -> None:
    """Show the range the curves end in; the first passes start from chance and would flatten the rest."""
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()]
    values = np.concatenate(curves)
    ends = [np.median(curve) for curve in curves if len(curve) > 2]
    if ends:
        top = values.max()
        depth = max(4.0, 2.5 * (top - min(ends)))
        ax.set_ylim(max(values.min() - 0.5, top - depth), top + 0.1 * min(depth, top - values.min() + 0.5))


def engine_scaling(scaling: pd.DataFrame, exponents: pd.DataFrame) -> Figure:
    """Seconds per pass of EM against N, m and K, with the exponents fitted to them.

    Parameters
    ----------
    scaling, exponents : DataFrame
        As in ``results/peers.csv``.

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
    for ax, axis in zip(axes, ("N", "m", "K"), strict=True):
        own = scaling[scaling["size"] == axis].dropna(subset="seconds_per_pass")
        name = "H" if axis == "m" else axis
        for marker, (engine, table) in zip("os^Dv", own.groupby("engine", sort=False), strict=False):
            found = exponents[(exponents["size"] == name) & (exponents["engine"] == engine)]["exponent"]
            power = f", ~{name}^{found.iloc[0]:.2f}" if len(found) else ""
            ax.loglog(table[axis], table["seconds_per_pass"], marker=marker, label=f"{engine}{power}")
        others = own[["N", "m", "K"]].drop(columns=axis).iloc[0] if len(own) else {}
        ax.set_title(", ".join(f"{key} = {value}" for key, value in dict(others).items()), fontsize=10)
        ax.set_xlabel({"N": "rows N", "m": "features m", "K": "components K"}[axis])
        if axis != "N":
            values = sorted(own[axis].unique())
            ax.set_xticks(values, [str(value) for value in values])
            ax.set_xticks([], minor=True)
        ax.legend(fontsize=8)
    axes[0].set_ylabel("seconds per pass")
    return figure
