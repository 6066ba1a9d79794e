"""A figure of all accuracies: ours minus the papers', with the intervals that decided the outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from skem.repro.drawing import subplots
from skem.repro.ledger.bars import STYLES
from skem.repro.ledger.estimates import setting_of
from skem.repro.ledger.outcomes import AGREES, DIFFERS, ONE_INTERPRETATION, UNDECIDABLE, UNDECIDED
from skem.repro.ledger.sentences import Words
from skem.repro.ledger.summary import distinct

PERCENT = {"accuracy_pct": 1.0, "accuracy_fraction": 100.0, "error_pct": -1.0}
"""Factors that turn a difference into percent of accuracy."""

MARKERS = {AGREES: "o", ONE_INTERPRETATION: "s", DIFFERS: "D", UNDECIDED: "o", UNDECIDABLE: "X"}


def rows(table: pd.DataFrame, words: Words) -> pd.DataFrame:
    """Select the accuracies that were measured, each once.

    Parameters
    ----------
    table : DataFrame
        The claims table.
    words : Words
        Names of methods and data sets.

    Returns
    -------
    DataFrame
        id, paper, dataset, method, paper_value, measured; better, better_low, better_high (difference in percent of accuracy,
        with the ends of the interval); outcome.
    """
    own = distinct(table)
    own = own[own["quantity"].isin(PERCENT) & (own["kind"] == "number") & own["measured"].notna()]
    sign, value = own["quantity"].map(PERCENT).astype(float), own["value"].astype(float)
    ends = pd.DataFrame({end: (own[end] - value) * sign for end in ("low", "high")})
    sharing = pd.Series([setting_of(row).get("lambda", "") for row in own.to_dict("records")], own.index)
    found = own.assign(
        dataset=own["dataset"].replace(words.data_sets),
        method=own["method"].replace(words.methods).mask(~sharing.isin(["", "averaged"]), "λ = " + sharing),
        paper_value=own["value"],
        better=(own["measured"] - value) * sign,
        better_low=ends.min(axis=1),
        better_high=ends.max(axis=1),
    )
    columns = ["id", "paper", "dataset", "method", "paper_value", "measured"]
    return found[[*columns, "better", "better_low", "better_high", "outcome"]].reset_index(drop=True)


def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Any:
    """Draw a panel per paper, a row per data set and method; right of zero, ours is better.

    Returns
    -------
    ndarray of Axes
    """
    if not len(table):
        _, ax = subplots(figsize=(8.0, 0.75), layout="constrained")
        ax.text(0.5, 0.5, "No accuracy was measured.", ha="center", va="center")
        ax.set_axis_off()
        return np.array([ax])
    panels = [
        (paper, own.groupby(["dataset", "method"], sort=False))
        for paper, own in table.groupby("paper", sort=False)
    ]
    heights = [0.75 + 0.22 * len(models) for _, models in panels]  # inches
    size = {"figsize": (8.0, sum(heights) + 0.4), "height_ratios": heights}
    figure, axes = subplots(len(panels), layout="constrained", squeeze=False, **size)
    for ax, (paper, models) in zip(axes[:, 0], panels, strict=True):
        for place, (_, own) in enumerate(models):
            # Side by side within their row.
            heights_of = place + 0.6 * ((np.arange(len(own)) + 0.5) / len(own) - 0.5)
            for y, row in zip(heights_of, own.itertuples(), strict=True):
                style = _style(row.outcome)
                ax.plot([row.better_low, row.better_high], [y, y], color=style["mec"], linewidth=0.7)
                ax.plot(row.better, y, markersize=4, **style)
        ax.axvline(0.0, color="black", linestyle="--", linewidth=1)
        ax.set_yticks(range(len(models)), [": ".join(model) for model, _ in models], fontsize=7)
        ax.set_ylim(len(models) - 0.4, -0.6)
        ax.set_title(titles.get(str(paper), str(paper)), fontsize=9, loc="left")
        ax.tick_params(axis="x", labelsize=8)
        ax.grid(axis="x", linewidth=0.3)
    axes[-1, 0].set_xlabel("Our accuracy minus the paper's (percentage points)")
    handles = [Line2D([], [], linestyle="", label=word, **_style(word)) for word in MARKERS]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(MARKERS), fontsize=8, frameon=False)
    return axes[:, 0]


def _style(word: str) -> dict[str, Any]:
    """Style of a marker: the colour of its outcome, with a dark edge where that is light."""
    edge = "#666666" if word in (UNDECIDED, UNDECIDABLE) else STYLES[word]["color"]
    return {"marker": MARKERS[word], "mfc": STYLES[word]["color"], "mec": edge}
