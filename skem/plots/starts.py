"""Accuracy by initialisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from skem.plots._panels import check, inches

if TYPE_CHECKING:
    import pandas as pd


def advantage(
    curves: pd.DataFrame,
    *,
    names: Mapping[str, str] | None = None,
    columns: int | None = None,
    width: float | None = None,
) -> Any:
    """Divide the advantage of a partition into the parts of the partition, the initialisation and the sharing.

    Parameters
    ----------
    curves : DataFrame
        With columns dataset, method (an initialisation), partition, n_blocks, block_size, n_components, accuracy, low and high
        (%), and shared_proportion, one row each. A panel for each data set and number of components.
    names : mapping of str to str, optional
        How data sets and methods are called, if not as in the table; methods stand in this order, others after them.
    columns, width
        See `skem.plots`.

    Returns
    -------
    array of Axes
        Above, the accuracy of the unpartitioned model and of the best partition for every initialisation, with bars from low to
        high; below, the proportion of components that more than one class uses.
    """
    import matplotlib.pyplot as plt

    check(
        curves,
        "advantage",
        labels=("dataset", "method", "partition"),
        numbers=(
            "n_blocks",
            "block_size",
            "n_components",
            "accuracy",
            "low",
            "high",
            "shared_proportion",
        ),
    )
    names = names or {}

    panels = list(curves.groupby(["dataset", "n_components"], sort=False))
    width = inches(columns, width, 4.3 * len(panels))
    across = len(panels) if width / len(panels) > 2.2 else 1
    lines = len(panels) // across
    height = min(1.25 * width / across, 5.0) * lines + 0.4
    figure = plt.figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(
        2 * lines, across, squeeze=False, gridspec_kw={"height_ratios": [2, 1] * lines}
    )  # fmt: skip
    tops, bottoms = axes[::2].ravel(), axes[1::2].ravel()
    # Filled and hollow, in the colours of the user's text and page.
    ink, page = plt.rcParams["text.color"], plt.rcParams["axes.facecolor"]
    for top, bottom, ((dataset, k), own) in zip(tops, bottoms, panels, strict=True):
        # Methods in the order of `names`, then those without a name in their own.
        there = own["method"].unique()
        starts = [*(name for name in names if name in there), *(name for name in there if name not in names)]
        for x, start in enumerate(starts):
            mine = own[(own["method"] == start) & own["accuracy"].notna()]
            whole, split = mine[mine["n_blocks"] == 1], mine[mine["n_blocks"] != 1]
            if not len(whole) or not len(split):
                continue
            one, best = whole.iloc[0], split.loc[split["accuracy"].idxmax()]
            for place, row, face in ((x - 0.15, one, page), (x + 0.15, best, ink)):
                error = [[row["accuracy"] - row["low"]], [row["high"] - row["accuracy"]]]
                top.errorbar(place, row["accuracy"], yerr=error, fmt="o", color=ink, mfc=face, capsize=3)
                bottom.bar(place, row["shared_proportion"], 0.3, color=face, edgecolor=ink)
            top.annotate(
                f"{best['accuracy'] - one['accuracy']:+.1f}\n{best['partition']}",
                (x, np.nanmax([best["high"], one["high"], best["accuracy"], one["accuracy"]])),
                xytext=(0, 6), textcoords="offset points", ha="center", fontsize="x-small",
            )  # fmt: skip
        features = int(own["n_blocks"].iloc[0] * own["block_size"].iloc[0])
        top.set_title(f"{features} features of\n{names.get(dataset, dataset)}, K = {k}", fontsize="medium")
        top.margins(y=0.3)
        top.grid(axis="y", alpha=0.25)
        top.set_xticks(range(len(starts)), [])
        top.set_xlim(-0.6, len(starts) - 0.4)
        bottom.set_xlim(top.get_xlim())
        bottom.set_ylim(0, 1.05)
        words = [names.get(start, start) for start in starts]
        bottom.set_xticks(range(len(starts)), words, fontsize="small", rotation=90)
    for top, bottom in zip(axes[::2, 0], axes[1::2, 0], strict=True):
        top.set_ylabel("test accuracy (%)")
        bottom.set_ylabel("shared")
    axes[-1, 0].set_xlabel("initialisation")
    handles = [
        plt.Line2D([], [], marker="o", color=ink, mfc=page, linestyle="", label="one block (SKEM)"),
        plt.Line2D([], [], marker="o", color=ink, linestyle="", label="best partition (PSKEM)"),
    ]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=2 if width > 3 else 1, fontsize="small", frameon=False
    )  # fmt: skip
    return axes
