"""Accuracy by EM iteration."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from skem.plots._panels import NARROW, add_legend, check, grid, inches, name_cut

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def accuracy_by_iteration(
    curves: pd.DataFrame,
    *,
    level: str | None = None,
    names: Mapping[str, str] | None = None,
    ax: Axes | None = None,
    columns: int | None = None,
    width: float | None = None,
) -> Any:
    """Accuracy after each EM iteration, on the test set and on validation samples, a panel for each data set.

    Parameters
    ----------
    curves : DataFrame
        With columns curve, iteration, accuracy, low and high (%), one row per iteration; and, for several panels, dataset or
        setting or both. A data set without accuracies leaves a panel that says so.
    level : str, optional
        A column with an accuracy (%) to compare with, the same in all rows of a panel: a dotted line, called like
        the column.
    names : mapping of str to str, optional
        How data sets and settings are called in titles, if not as in the table.
    ax : Axes, optional
        Axes to draw a single panel into.
    columns, width
        See `skem.plots`.

    Returns
    -------
    Axes, or array of Axes
        An array without ``ax``. The band is from low to high.

    Raises
    ------
    ValueError
        If the table is empty or lacks a column, or if ``ax`` is given and there are several panels.
    """
    numbers = ["iteration", "accuracy", "low", "high", *([level] if level else [])]
    check(curves, "accuracy_by_iteration", labels=("curve",), numbers=numbers)
    names = names or {}
    keys = [key for key in ("dataset", "setting") if key in curves]
    parts = list(curves.groupby(keys, sort=False)) if keys else [((), curves)]
    if ax is not None:
        if len(parts) != 1:
            raise ValueError(f"ax is one panel, and the table has {len(parts)} data sets")
        _curves(ax, curves, list(curves["curve"].unique()), level)
        return ax
    width = inches(columns, width, 3.6 * min(3, len(parts)))
    across = min(3, len(parts), max(1, int(width // NARROW)))
    lines = -(-len(parts) // across)
    roomy = width / across > 2.8
    axes = grid(lines, across, width, 0.85 if roomy else 1.15, legend=0.5)
    labels = list(curves.dropna(subset="accuracy")["curve"].unique())
    for panel, (key, part) in zip(axes.flat, parts, strict=False):
        _curves(panel, part, labels, level)
        panel.set_title(
            (", " if roomy else "\n").join(str(names.get(name, name)) for name in key), fontsize="medium"
        )
    for panel in axes.flat[len(parts) :]:
        panel.set_axis_off()
    for panel in axes.flat:
        if panel.get_subplotspec().colspan.start:
            panel.set_ylabel("")
    add_legend(axes[0, 0].figure, width, last=[level] if level else [])
    return axes


def _curves(ax: Axes, curves: pd.DataFrame, labels: list[str], level: str | None) -> None:
    """Curves that look alike in every panel, whichever of them it has."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    drawn = curves.dropna(subset="accuracy")
    if not len(drawn):
        ax.text(0.5, 0.5, "data not available", ha="center", va="center", transform=ax.transAxes)
        ax.set_axis_off()
        return
    for i, (label, dash) in enumerate(zip(labels, cycle(("-", "-.", "--")), strict=False)):
        own = drawn[drawn["curve"] == label]
        if len(own):
            ax.plot(own["iteration"], own["accuracy"], dash, color=f"C{i}", label=label)
            ax.fill_between(own["iteration"], own["low"], own["high"], color=f"C{i}", alpha=0.15, linewidth=0)
    if level and drawn[level].notna().any():
        ax.axhline(drawn[level].iloc[0], color=plt.rcParams["text.color"], linestyle=":", label=level)
    ax.set_xlabel("EM iteration")
    ax.set_ylabel("accuracy (%)")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    _zoom(ax)
    name_cut(ax)


def _zoom(ax: Axes) -> None:
    """Show the range the curves end in; the first iterations start from chance and would flatten the rest."""
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()]
    values = np.concatenate(curves)
    ends = [np.median(curve) for curve in curves if len(curve) > 2]
    if ends:
        top = values.max()
        depth = max(4.0, 2.5 * (top - min(ends)))
        ax.set_ylim(max(values.min() - 0.5, top - depth), top + 0.1 * min(depth, top - values.min() + 0.5))
