"""Figures of Hayashi and Uchida (2021)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.drawing import Figure, Tables, subplots
from skem.repro.papers.hayashi2021.settings import METHODS, NETWORKS, Settings
from skem.repro.papers.hayashi2021.tables import by_components

PANELS = {
    "error": "Error (%)",
    "n_components": "Components left, per class",
    "weights": "Weights that are not zero",
    "reduction": "Weights removed (%)",
}


def _rows(tables: Tables, paper: Settings) -> pd.DataFrame:
    return by_components(tables["hayashi2021_components"])


def _draw(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    axes = subplots(2, 2, figsize=(7.0, 5.0), layout="constrained")[1]
    at_first = table["n_components_init"]
    for ax, (name, label) in zip(axes.flat, PANELS.items(), strict=True):
        ax.errorbar(
            at_first, table[name], table[f"{name}_sd"], marker="o", markersize=4, capsize=2, label="test"
        )
        if name == "error":
            ax.errorbar(
                at_first,
                table["train_error"],
                table["train_error_sd"],
                marker="s",
                markersize=4,
                capsize=2,
                linestyle="--",
                color="C2",
                label="training",
            )
            ax.legend(fontsize=8)
        if name == "n_components":
            ax.plot(at_first, at_first, color="black", linestyle=":", linewidth=1)
        ax.set_xticks(at_first)
        ax.set_ylabel(label, fontsize=9)
        ax.tick_params(labelsize=8)
    for ax in axes[1]:
        ax.set_xlabel("Components per class at first", fontsize=9)
    return axes


def _features(tables: Tables, paper: Settings) -> pd.DataFrame:
    """Figure 5, from one table per last layer, called as "softmax-0.features"."""
    named = {name.partition("-")[0]: table for name, table in tables.items()}
    return pd.concat([table.assign(method=name) for name, table in named.items()], ignore_index=True)


def _draw_features(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    methods = list(table["method"].unique()) if len(table) else []
    axes = subplots(1, max(len(methods), 1), figsize=(7.0, 3.5), layout="constrained", squeeze=False)[1][0]
    for ax, method in zip(axes, methods, strict=False):
        own = table[table["method"] == method]
        ax.scatter(own["x"], own["y"], c=own["class"], cmap="tab10", s=2, linewidths=0, rasterized=True)
        ax.set_title(NETWORKS[method], fontsize=10)
        ax.tick_params(labelsize=8)
    return axes


def _boundaries(figure: str) -> Callable[[Tables, Settings], pd.DataFrame]:
    def rows(tables: Tables, paper: Settings) -> pd.DataFrame:
        (table,) = tables.values()
        return table[table["figure"] == figure] if len(table) else table

    return rows


TITLES = {"figure1": "{name}", "figure3": "after {name} iterations", "figure6": "{name} per class at first"}


def _draw_boundaries(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    """One panel per model: rows by class, the decision boundary in black, those of components in the class's colour."""
    panels = [] if table.empty else list(table["panel"].astype(str).unique())
    n = max(len(panels), 1)
    axes = subplots(1, n, figsize=(2.4 * n, 2.7), layout="constrained", squeeze=False)[1][0]
    for ax, panel in zip(axes, panels, strict=False):
        own = table[table["panel"].astype(str) == panel]
        rows, lines = own[own["kind"] == "row"], own[own["kind"] != "row"]
        for c, points in rows.groupby("class"):
            ax.plot(points["x"], points["y"], ".", markersize=2, color=f"C{2 * c}", alpha=0.5)
        for (kind, c, _number), line in lines.groupby(["kind", "class", "line"]):
            color = "black" if kind == "decision" else f"C{2 * c}"
            ax.plot(line["x"], line["y"], "-" if kind == "decision" else "--", color=color, linewidth=1.2)
        first = own.iloc[0]
        title = TITLES[first["figure"]].format(name=(METHODS | NETWORKS).get(panel, panel))
        if not np.isnan(first["n_components"]):
            title += f"\n{first['n_components']:.0f} components, {first['weights']:.0f} weights"
        ax.set_title(f"{title}\nerror {first['error']:.1f}%", fontsize=8)
        ax.set_xlim(rows["x"].min(), rows["x"].max())
        ax.set_ylim(rows["y"].min(), rows["y"].max())
        ax.set_xticks([])
        ax.set_yticks([])
    return axes


FIGURES = {
    "hayashi_components": Figure(_rows, _draw),
    "hayashi_figure1": Figure(_boundaries("figure1"), _draw_boundaries),
    "hayashi_figure3": Figure(_boundaries("figure3"), _draw_boundaries),
    "hayashi_figure6": Figure(_boundaries("figure6"), _draw_boundaries),
    "hayashi_features": Figure(_features, _draw_features),
}
"""By name of file."""
