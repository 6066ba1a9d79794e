"""Figures: error by seconds on images, and accuracy and log-loss on one table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.transforms import Affine2D

from skem.repro.comparison.configuration import Comparison


def error_by_seconds(
    images: pd.DataFrame, timing: pd.DataFrame, settings: Comparison
) -> tuple[pd.DataFrame, Any]:
    """Return the rows that are drawn, and Axes: a panel per data set, a point per method; a line joins the steps from the paper's model."""
    table = images.merge(timing, on=["dataset", "method"])
    table = table.groupby("dataset").filter(lambda own: len(own) > 1)  # one method alone is no comparison
    names, entries = settings.titles(), settings.images["data_sets"]
    shown = list(dict.fromkeys(table["dataset"]))
    axes = plt.subplots(len(shown), 1, figsize=(7.2, 3.2 * len(shown)), layout="constrained", squeeze=False)[
        1
    ]
    for ax, dataset in zip(axes[:, 0], shown, strict=True):
        own = table[table["dataset"] == dataset].set_index("method")
        line = [name for name in entries[dataset]["steps"] if name in own.index]
        own = own.loc[[*line, *own.index.difference(line, sort=False)]]
        for names_of, mark, dash in ((line, "o", "-"), (own.index[len(line) :], "s", "none")):
            part = own.loc[names_of]
            error = 100 - part["accuracy"]
            bars = [part["high"] - part["accuracy"], part["accuracy"] - part["low"]]
            style = {"marker": mark, "linestyle": dash, "markersize": 5, "capsize": 2, "linewidth": 1.2}
            ax.errorbar(part["fit"], error, bars, **style)
        # Names would cover each other where points are close.
        for i, name in enumerate(own.index, start=1):
            ax.annotate(
                f"{i}  {names[name]}", (1.02, 1.0), (0, -11 * (i - 1)), "axes fraction", "offset points", fontsize=7.5, va="top"
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("{x:g}")
        ax.tick_params(axis="y", which="both", labelsize=7)
        ax.set_title(entries[dataset]["title"], fontsize="medium")
        ax.set_ylabel("error (%)")
    axes[-1, 0].set_xlabel("seconds to fit, one core")
    axes[0, 0].figure.draw_without_rendering()  # lays the panels out
    for ax in axes[:, 0]:
        _number_points(ax)
    return table, axes


def _number_points(ax: Any) -> None:
    """Number the points of the error bars of Axes, each number where it covers least of points, lines, bars and other numbers."""
    to_points = ax.transData + ax.figure.dpi_scale_trans.inverted() + Affine2D().scale(72)
    points, colors, paths = [], [], []
    for line, _, (bars,) in ax.containers:
        points.append(to_points.transform(line.get_xydata()))
        colors += [line.get_color()] * len(points[-1])
        paths += [to_points.transform(bar) for bar in bars.get_segments()]
        if line.get_linestyle() != "None":
            paths += list(pairwise(points[-1]))
    # Lines and bars as dots that are closer to each other than a number is high.
    taken = np.concatenate([np.linspace(start, end, 60) for start, end in paths])
    angles = np.pi / 8 * np.arange(16)
    places = [r * np.array([np.cos(a), np.sin(a)]) for r in (9.0, 12.0, 15.0, 18.0) for a in angles]
    for i, (point, color) in enumerate(zip(np.concatenate(points), colors, strict=True), start=1):
        half = np.array([2.3 * len(str(i)) + 1.0, 4.0])  # of a number's box
        covered = [np.sum((np.abs(taken - point - place) < half).all(axis=1)) for place in places]
        offset = places[int(np.argmin(covered))]
        box = np.stack(np.meshgrid(*(np.linspace(-h, h, 5) for h in half)), axis=-1).reshape(-1, 2)
        taken = np.concatenate([taken, point + offset + box])
        at = to_points.inverted().transform(point)
        ax.annotate(
            str(i), at, offset, textcoords="offset points", fontsize=7, ha="center", va="center", color=color
        )


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
