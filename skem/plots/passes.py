"""Accuracy by pass of EM."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

from skem.plots._panels import _NARROW, _grid, _legend, _title, _width


def accuracy_by_pass(
    curves: pd.DataFrame,
    *,
    ax: Axes | None = None,
    columns: int | None = None,
    width: float | None = None,
) -> Any:
    """Accuracy after each pass of EM, on the test set and on validation rows, a panel for each data set.

    Parameters
    ----------
    curves : DataFrame
        curve, pass, accuracy, low, high (%), as `skem.repro.papers.pulford2022.tables.by_pass` returns them; for several panels
        dataset and setting; and, for a line at what a paper prints, paper (%). A data set without accuracies
        leaves a panel that says so.
    ax : Axes, optional
        For a single panel.
    columns, width
        See `skem.plots`.

    Returns
    -------
    Axes, or array of Axes
        An array without ``ax``. The band is the range over runs.
    """
    keys = [key for key in ("dataset", "setting") if key in curves]
    parts = list(curves.groupby(keys, sort=False)) if keys else [((), curves)]
    if ax is not None:
        if len(parts) != 1:
            raise ValueError(f"ax is one panel, and the table has {len(parts)} data sets")
        _passes(ax, curves, list(curves["curve"].unique()))
        return ax
    width = _width(columns, width, 3.6 * min(3, len(parts)))
    across = min(3, len(parts), max(1, int(width // _NARROW)))
    lines = -(-len(parts) // across)
    roomy = width / across > 2.8
    axes = _grid(lines, across, width, 0.85 if roomy else 1.15, legend=0.5)
    labels = list(curves.dropna(subset="accuracy")["curve"].unique())
    for panel, (key, part) in zip(axes.flat, parts, strict=False):
        _passes(panel, part, labels)
        panel.set_title((", " if roomy else "\n").join(_title(name) for name in key), fontsize="medium")
    for panel in axes.flat[len(parts) :]:
        panel.set_axis_off()
    for panel in axes.flat:
        if panel.get_subplotspec().colspan.start:
            panel.set_ylabel("")
    _legend(axes[0, 0].figure, width)
    return axes


def _passes(ax: Axes, curves: pd.DataFrame, labels: list[str]) -> None:
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
            ax.plot(own["pass"], own["accuracy"], dash, color=f"C{i}", label=label)
            ax.fill_between(own["pass"], own["low"], own["high"], color=f"C{i}", alpha=0.15, linewidth=0)
    if "paper" in drawn and drawn["paper"].notna().any():
        ax.axhline(drawn["paper"].iloc[0], color=plt.rcParams["text.color"], linestyle=":", label="paper")
    ax.set_xlabel("pass of EM")
    ax.set_ylabel("accuracy (%)")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    _zoom(ax)


def _zoom(ax: Axes) -> None:
    """Show the range the curves end in; the first passes start from chance and would flatten the rest."""
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()]
    values = np.concatenate(curves)
    ends = [np.median(curve) for curve in curves if len(curve) > 2]
    if ends:
        top = values.max()
        depth = max(4.0, 2.5 * (top - min(ends)))
        ax.set_ylim(max(values.min() - 0.5, top - depth), top + 0.1 * min(depth, top - values.min() + 0.5))
