"""The accuracies of Table 1 under every reading of what the paper leaves open: a specification curve per data set."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from skem.repro.names import NAMES
from skem.repro.papers.pulford2022.settings import Settings

PER_READING, PER_PANEL, WIDTH = 0.19, 0.75, 8.0
"""Inches."""


def rows(readings: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """Readings of the headline accuracies, sorted within a data set.

    Parameters
    ----------
    readings : DataFrame
        As of `skem.repro.ledger.summary.ledger`.
    paper : Settings

    Returns
    -------
    DataFrame
        dataset, paper_value, reading, default, measured, low, high (of the prediction interval), n_runs, verdict.
    """
    columns = ["dataset", "paper_value", "reading", "default", "measured", "low", "high", "n_runs", "verdict"]
    found = [
        readings[readings["id"] == model.accuracy].assign(dataset=dataset)[columns]
        for dataset, model in paper.headlines.items()
    ]
    table = pd.concat(found, ignore_index=True)
    return table.sort_values(
        ["dataset", "measured"],
        key=lambda c: c if c.name == "measured" else c.map(list(paper.headlines).index),
    ).reset_index(drop=True)


def draw(table: pd.DataFrame) -> Any:
    """One panel per data set: the paper's value across, a point and its prediction interval per reading.

    The reading nearest the text is filled, and its name bold.

    Returns
    -------
    ndarray of Axes
    """
    panels = list(table.groupby("dataset", sort=False))
    heights = [PER_PANEL + PER_READING * len(own) for _, own in panels]
    _, axes = plt.subplots(
        len(panels),
        figsize=(WIDTH, sum(heights)),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    for ax, (dataset, own) in zip(axes[:, 0], panels, strict=True):
        for place, row in enumerate(own.to_dict("records")):
            near = bool(row["default"])
            ax.plot([row["low"], row["high"]], [place, place], color="C0", linewidth=1)
            ax.plot(
                row["measured"], place, marker="o", color="C0", markersize=5, mfc="C0" if near else "white"
            )
        value = own["paper_value"].iloc[0]
        ax.axvline(value, color="black", linestyle="--", linewidth=1)
        ax.set_yticks(range(len(own)), own["reading"], fontsize=7)
        for label, near in zip(ax.get_yticklabels(), own["default"], strict=True):
            label.set_fontweight("bold" if near else "normal")
        ax.set_ylim(-0.7, len(own) - 0.3)
        ax.set_title(f"{NAMES.get(str(dataset), dataset)}: the paper {value:g}", fontsize=9, loc="left")
        ax.tick_params(axis="x", labelsize=8)
    axes[-1, 0].set_xlabel("Test accuracy (%)")
    return axes[:, 0]
