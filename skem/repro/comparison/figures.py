"""Figures: error by seconds, average ranks with their critical difference, and accuracy and log-loss on one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skem.repro.comparison.configuration import Comparison, Part
from skem.repro.comparison.pages import NOT_RUN


def draw(
    part: Part, tables: Mapping[str, pd.DataFrame], settings: Comparison
) -> dict[str, tuple[pd.DataFrame, Any]]:
    """Figures of a part by name, from `summary.tables`: what is drawn, and its Axes."""
    names, images = settings.titles(), settings.images["data_sets"]
    if part == "images":
        both = tables["images"].merge(tables["images_timing"], on=["dataset", "method"])
        both = both.groupby("dataset").filter(lambda own: len(own) > 1)  # one method alone is no comparison
        steps = {name: entry["steps"] for name, entry in images.items()}
        titles = {name: entry["title"] for name, entry in images.items()}
        return {"timing": (both, error_by_seconds(both, steps, names, titles))}
    group = "test tables" if part == "test" else "development tables"
    ranks = {name: table for name, table in tables.items() if name.endswith("ranks")}
    return {name: (table, critical_differences(table, names, group)) for name, table in ranks.items()}


def error_by_seconds(
    table: pd.DataFrame,
    steps: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    titles: Mapping[str, str],
) -> Any:
    """A panel per data set: each method a point, the ``steps`` from the paper's model joined by a line.

    ``names`` and ``titles`` are those of methods and data sets.
    """
    shown = list(dict.fromkeys(table["dataset"]))
    axes = plt.subplots(len(shown), 1, figsize=(7.2, 3.2 * len(shown)), layout="constrained", squeeze=False)[
        1
    ]
    for ax, dataset in zip(axes[:, 0], shown, strict=True):
        own = table[table["dataset"] == dataset].set_index("method")
        line = [name for name in steps[dataset] if name in own.index]
        own = own.loc[[*line, *own.index.difference(line, sort=False)]]
        for names_of, mark, dash in ((line, "o", "-"), (own.index[len(line) :], "s", "none")):
            part = own.loc[names_of]
            error = 100 - part["accuracy"]
            bars = [part["high"] - part["accuracy"], part["accuracy"] - part["low"]]
            style = {"marker": mark, "linestyle": dash, "markersize": 5, "capsize": 2, "linewidth": 1.2}
            ax.errorbar(part["fit"], error, bars, **style)
        # Names would cover each other where points are close.
        for i, row in enumerate(own.itertuples(), start=1):
            at = row.fit, 100 - row.accuracy
            ax.annotate(str(i), at, (5, 4), textcoords="offset points", fontsize=7)
            ax.annotate(
                f"{i}  {names[row.Index]}", (1.02, 1.0), (0, -11 * (i - 1)), "axes fraction", "offset points", fontsize=7.5, va="top"
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("{x:g}")
        ax.tick_params(axis="y", which="both", labelsize=7)
        ax.set_title(titles[dataset], fontsize="medium")
        ax.set_ylabel("error (%)")
    axes[-1, 0].set_xlabel("seconds to fit, one core")
    return axes


def critical_differences(ranks: pd.DataFrame, names: Mapping[str, str], group: str) -> Any:
    """Average ranks on a group of tables, a panel per measure; without ranks, a remark.

    A bar joins methods without a significant difference (Demsar 2006).
    """
    if not len(ranks):
        axes = plt.subplots(figsize=(7.2, 0.6), layout="constrained", squeeze=False)[1]
        axes[0, 0].annotate(NOT_RUN, (0.5, 0.5), ha="center", va="center", fontsize=9)
        axes[0, 0].set_axis_off()
        return axes
    placed = dict(list(ranks.groupby("measure", sort=False)))
    most = max(map(len, placed.values()))
    axes = plt.subplots(
        len(placed), 1, figsize=(7.2, (0.17 * most + 1.0) * len(placed)), layout="constrained", squeeze=False
    )[1]
    for ax, (measure, table) in zip(axes[:, 0], placed.items(), strict=True):
        rank, critical = table["rank"].to_numpy(), float(table["critical_difference"].iloc[0])
        left = (len(rank) + 1) // 2
        for i, (name, value) in enumerate(zip(table["method"], rank, strict=True)):
            best = i < left
            depth = -1.0 - (i if best else len(rank) - 1 - i)
            side = 0.5 if best else len(rank) + 0.5
            ax.plot([value, value, side], [0, depth, depth], color="black", linewidth=0.7)
            ax.annotate(
                f"{names[name]}, {value:.1f}", (side, depth), (-3 if best else 3, 0), textcoords="offset points",
                ha="right" if best else "left", va="center", fontsize=7,
            )  # fmt: skip
        depth, reached = -0.3, 0
        for i, value in enumerate(rank):
            last = int(np.flatnonzero(rank <= value + critical)[-1])
            if last > max(i, reached):
                ax.plot([value - 0.05, rank[last] + 0.05], [depth, depth], color="C2", linewidth=3)
                depth, reached = depth - 0.35, last
        ax.plot([1, 1 + critical], [1.0, 1.0], color="black", linewidth=1.5)
        ax.annotate(
            "critical difference",
            (1 + critical / 2, 1.0),
            (0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=7,
        )
        measured = str(measure).replace("_", "-")
        ax.set_title(f"Average rank on {group}, by {measured}", fontsize="medium", loc="left")
        ax.set_xlim(-len(rank) * 0.55, len(rank) * 1.5)
        ax.set_ylim(-left - 1.0, 2.0)
        ax.plot([1, len(rank)], [0, 0], color="black", linewidth=0.8)
        for tick in range(1, len(rank) + 1):
            ax.plot([tick, tick], [0, 0.12], color="black", linewidth=0.8)
            ax.annotate(str(tick), (tick, 0.15), ha="center", va="bottom", fontsize=6)
        ax.axis("off")
    return axes


def accuracy_and_log_loss(table: pd.DataFrame, names: Mapping[str, str]) -> Any:
    """`own_table.summary` in two panels, accuracy and log-loss with intervals, a line per method that did not fail."""
    shown = table[table["error"].isna()].iloc[::-1]
    axes = plt.subplots(
        1, 2, figsize=(7.2, 0.25 * len(shown) + 1.2), layout="constrained", sharey=True, squeeze=False
    )[1][0]
    labels = [names[method] for method in shown["method"]]
    for ax, value, low, high, most, label in (
        (axes[0], "accuracy", "low", "high", 100.0, "accuracy (%)"),
        (axes[1], "log_loss", "log_loss_low", "log_loss_high", np.inf, "log-loss (nats)"),
    ):
        bars = [shown[value] - shown[low].clip(lower=0.0), shown[high].clip(upper=most) - shown[value]]
        ax.errorbar(shown[value], labels, xerr=bars, fmt="o", markersize=4, capsize=2, linewidth=1.0)
        ax.set_xlabel(label)
        ax.grid(axis="x", alpha=0.3)
    # One method with zero probabilities would hide the differences between all others.
    axes[1].set_xscale("log")
    return axes
