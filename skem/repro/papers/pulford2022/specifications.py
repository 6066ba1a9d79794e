"""A specification curve: the accuracies of Table 1 under every interpretation of the paper."""

from __future__ import annotations

from typing import Any

import pandas as pd

from skem.repro.drawing import Tables, subplots
from skem.repro.names import NAMES
from skem.repro.papers.pulford2022.settings import Settings

COLUMNS = ["paper_value", "interpretation", "default", "measured", "low", "high", "n_runs", "verdict"]


def rows(tables: Tables, paper: Settings) -> pd.DataFrame:
    """Select the interpretations of the accuracies of Table 1, sorted within a data set."""
    interpretations, found = tables["interpretations"], []
    for dataset, model in paper.headlines.items():
        own = interpretations.loc[interpretations["id"] == model.accuracy, COLUMNS].sort_values("measured")
        own.insert(0, "dataset", dataset)
        found.append(own)
    return pd.concat(found, ignore_index=True)


def draw(table: pd.DataFrame, paper: Settings) -> Any:
    """Draw a panel per data set, with the paper's value and a prediction interval per interpretation; the default is bold."""
    panels = list(table.groupby("dataset", sort=False))
    heights = [0.75 + 0.19 * len(own) for _, own in panels]  # inches
    size = {"figsize": (8.0, sum(heights)), "height_ratios": heights}
    _, axes = subplots(len(panels), layout="constrained", squeeze=False, **size)
    for ax, (dataset, own) in zip(axes[:, 0], panels, strict=True):
        for place, row in enumerate(own.itertuples()):
            ax.plot([row.low, row.high], [place, place], color="C0", linewidth=1)
            ax.plot(row.measured, place, "o", color="C0", markersize=5, mfc="C0" if row.default else "white")
        value = own["paper_value"].iloc[0]
        ax.axvline(value, color="black", linestyle="--", linewidth=1)
        ax.set_yticks(range(len(own)), own["interpretation"], fontsize=7)
        for label, default in zip(ax.get_yticklabels(), own["default"], strict=True):
            label.set_fontweight("bold" if default else "normal")
        ax.set_ylim(-0.7, len(own) - 0.3)
        ax.set_title(f"{NAMES.get(str(dataset), dataset)}: the paper {value:g}", fontsize=9, loc="left")
        ax.tick_params(axis="x", labelsize=8)
    axes[-1, 0].set_xlabel("Test accuracy (%)")
    return axes[:, 0]
