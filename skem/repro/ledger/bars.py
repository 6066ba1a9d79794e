"""A figure of the totals: a bar per paper, divided by outcome."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.drawing import KINDS, save, style, subplots
from skem.repro.files import read_json, write_table
from skem.repro.ledger.outcomes import AGREES, DIFFERS, NOT_RUN, ONE_INTERPRETATION, UNDECIDABLE, UNDECIDED
from skem.repro.ledger.totals import Totals, key

STYLES: dict[str, dict[str, str]] = {
    AGREES: {"color": "#00674d"},
    ONE_INTERPRETATION: {"color": "#7fd1ae", "hatch": "///"},
    DIFFERS: {"color": "#d55e00"},
    UNDECIDED: {"color": "#b8b8b8"},
    UNDECIDABLE: {"color": "#e8e8e8"},
    NOT_RUN: {"color": "#ffffff"},
}
"""Colours of different lightness, which differ for the colour-blind and in black and white."""


def rows(found: Totals, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return a row per paper and outcome with its number of claims, from ``summary.json``."""
    return pd.DataFrame(
        [
            {"paper": title, "outcome": word, "claims": found[name][key(word)]}
            for name, title in titles.items()
            if name in found
            for word in STYLES
        ]
    )


def draw(table: pd.DataFrame) -> Any:
    """Draw a bar per paper, in percent of its measurable claims, with their numbers; for columns 10 cm wide."""
    counts = table.pivot(index="paper", columns="outcome", values="claims").loc[table["paper"].unique()]
    share = 100 * counts.div(counts.sum(axis=1).clip(lower=1), axis=0)
    figure, ax = subplots(figsize=(4.2, 0.9 + 0.55 * len(counts)), layout="constrained")
    places, left = np.arange(len(counts)), np.zeros(len(counts))
    for word, look in STYLES.items():
        ax.barh(places, share[word], 0.5, left, edgecolor="#333333", linewidth=0.6, label=word, **look)
        for y, x, width, n in zip(places, left, share[word], counts[word], strict=True):
            if width > 2.2 * len(str(n)):  # wide enough for the number
                box = {"boxstyle": "round,pad=0.1", "fc": look["color"], "ec": "none"}
                ink = "white" if word == AGREES else "black"
                ax.text(x + width / 2, y, n, ha="center", va="center", fontsize=9, color=ink, bbox=box)
        left += share[word]
    for place, (paper, n) in enumerate(counts.sum(axis=1).items()):
        ax.text(0, place - 0.3, f"{paper}: {n} measurable claims", fontsize=9, va="bottom")
    ax.set(xlim=(0, 100), ylim=(len(counts) - 0.6, -0.75), yticks=[], xticks=[])
    ax.spines[:].set_visible(False)
    figure.legend(
        loc="outside lower center", ncols=3, fontsize=8.5, frameon=False, handlelength=1.4, columnspacing=1
    )
    return ax


def write(folder: str | Path, titles: Mapping[str, str], columns: int | None = None) -> None:
    """Draw the figure to ``figures`` in a folder, from its ``summary.json``."""
    table = rows(read_json(Path(folder, "summary.json")), titles)
    with style(columns):
        save(draw(table), [Path(folder, f"figures/outcomes.{kind}") for kind in KINDS if kind != "csv"])
    write_table(Path(folder, "figures/outcomes.csv"), table)
