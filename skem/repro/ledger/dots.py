"""Every accuracy of the papers against ours, as a figure: how far apart, with the interval that the verdict was read from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skem.repro.ledger.sentences import Words
from skem.repro.ledger.summary import distinct

PERCENT = {"accuracy_pct": 1.0, "accuracy_fraction": 100.0, "error_pct": -1.0}
"""What makes percent of accuracy of a difference."""

LOOKS = {
    "reproduced": ("o", "C0", "reproduced"),
    "worse": ("v", "C2", "worse"),
    "better": ("^", "C1", "better"),
}
OTHERWISE = ("o", "none", "too few runs, or open")
"""Marker, its fill, and name; what is neither is hollow."""

PER_ROW, PER_PANEL, WIDTH = 0.22, 0.75, 8.0
"""Inches."""


def rows(table: pd.DataFrame, words: Words) -> pd.DataFrame:
    """The accuracies that were measured, each once.

    Parameters
    ----------
    table : DataFrame
        The ledger.
    words : Words
        Names of methods and data sets.

    Returns
    -------
    DataFrame
        id, paper, dataset, method, paper_value, measured; better, better_low, better_high (by how much ours is, in percent of
        accuracy, with the ends of the interval); verdict.
    """
    own = distinct(table)
    own = own[own["quantity"].isin(PERCENT) & (own["kind"] == "number") & own["measured"].notna()]
    sign = own["quantity"].map(PERCENT).astype(float)
    value = own["value"].astype(float)
    ends = pd.DataFrame({"low": (own["low"] - value) * sign, "high": (own["high"] - value) * sign})
    found = own.rename(columns={"value": "paper_value"}).assign(
        better=(own["measured"] - value) * sign, better_low=ends.min(axis=1), better_high=ends.max(axis=1)
    )
    sharing = own["setting"].str.extract(r"lambda=([\d.]+)")[0]
    method = own["method"].replace(words.methods).mask(sharing.notna(), "λ = " + sharing.fillna(""))
    found = found.assign(dataset=own["dataset"].replace(words.data_sets), method=method)
    columns = ["id", "paper", "dataset", "method", "paper_value", "measured"]
    return found[[*columns, "better", "better_low", "better_high", "verdict"]].reset_index(drop=True)


def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Any:
    """One panel per paper, a row per data set and method: to the right of zero ours is better.

    Returns
    -------
    ndarray of Axes
    """
    if not len(table):
        _, ax = plt.subplots(figsize=(WIDTH, PER_PANEL), layout="constrained")
        ax.text(0.5, 0.5, "No accuracy was measured.", ha="center", va="center")
        ax.set_axis_off()
        return np.array([ax])
    panels = list(table.groupby("paper", sort=False))
    labels = [list(dict.fromkeys(zip(own["dataset"], own["method"], strict=True))) for _, own in panels]
    heights = [PER_PANEL + PER_ROW * len(label) for label in labels]
    figure, axes = plt.subplots(
        len(panels),
        figsize=(WIDTH, sum(heights) + 0.4),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    for ax, (paper, own), label in zip(axes[:, 0], panels, labels, strict=True):
        for place, key in enumerate(label):
            mine = own[(own["dataset"] == key[0]) & (own["method"] == key[1])]
            for i, row in enumerate(mine.to_dict("records")):
                # Side by side within their row.
                y = place + 0.6 * ((i + 0.5) / len(mine) - 0.5)
                marker, fill, _ = LOOKS.get(row["verdict"], OTHERWISE)
                line = "C4" if fill == "none" else fill
                ax.plot([row["better_low"], row["better_high"]], [y, y], color=line, linewidth=0.7)
                ax.plot(row["better"], y, marker, color=line, mfc=fill, markersize=4)
        ax.axvline(0.0, color="black", linestyle="--", linewidth=1)
        ax.set_yticks(range(len(label)), [": ".join(key) for key in label], fontsize=7)
        ax.set_ylim(len(label) - 0.4, -0.6)
        ax.set_title(titles.get(str(paper), str(paper)), fontsize=9, loc="left")
        ax.tick_params(axis="x", labelsize=8)
        ax.grid(axis="x", linewidth=0.3)
    axes[-1, 0].set_xlabel("Accuracy here minus the paper's (%)")
    handles = [
        plt.Line2D(
            [], [], marker=m, color="C4" if fill == "none" else fill, mfc=fill, linestyle="", label=name
        )
        for m, fill, name in (*LOOKS.values(), OTHERWISE)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    return axes[:, 0]
