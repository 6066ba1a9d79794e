"""Figures of Hayashi and Uchida (2021)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skem.repro.drawing import Figure, subplots, together
from skem.repro.papers.hayashi2021.settings import METHODS, NETWORKS, Settings
from skem.repro.papers.hayashi2021.tables import by_components
from skem.repro.papers.measured import select

PANELS = {
    "error": "Error (%)",
    "n_components": "Final components per class",
    "weights": "Non-zero weights",
    "reduction": "Weights removed (%)",
}
TITLES = {"figure1": "{}", "figure3": "up to iteration {}", "figure6": "{} initial per class"}


def _draw_curves(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    axes = subplots(2, 2, figsize=(7.0, 5.0), layout="constrained")[1]
    initial, style = table["n_components_init"], {"markersize": 4, "capsize": 2}
    for ax, (name, label) in zip(axes.flat, PANELS.items(), strict=True):
        ax.errorbar(initial, table[name], table[f"{name}_sd"], marker="o", label="test", **style)
        if name == "error":
            training = table["train_error"], table["train_error_sd"]
            ax.errorbar(initial, *training, marker="s", linestyle="--", color="C2", label="training", **style)
            ax.legend(fontsize=8)
        if name == "n_components":
            ax.plot(initial, initial, color="black", linestyle=":", linewidth=1)
            ax.set_yticks(initial)
        ax.set_xticks(initial)
        ax.set_ylabel(label, fontsize=9)
        ax.tick_params(labelsize=8)
    for ax in axes[1]:
        ax.set_xlabel("Initial components per class", fontsize=9)
    return axes


def _panels(names: list[str], width: float, height: float) -> Any:
    n = len(names)
    return subplots(1, n, figsize=(width * n, height), layout="constrained", squeeze=False)[1][0]


def _draw_features(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3.0, foreground="white")]
    methods = list(table["method"].unique())
    axes = _panels(methods, 7.0 / len(methods), 3.5)
    for ax, method in zip(axes, methods, strict=True):
        own = table[table["method"] == method]
        ax.scatter(own["x"], own["y"], c=own["class"], cmap="tab10", s=2, linewidths=0, rasterized=True)
        for c, middle in own.groupby("class")[["x", "y"]].median().iterrows():
            ax.text(*middle, str(c), fontsize=10, ha="center", va="center", path_effects=halo)
        ax.set_title(NETWORKS[method], fontsize=10)
        ax.set_xlabel("feature 1", fontsize=9)
        ax.set_ylabel("feature 2", fontsize=9)
        ax.tick_params(labelsize=8)
    return axes


def _draw_boundaries(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    """Plot samples by class, decision boundaries in black and those of components in the colour of their class."""
    panels = list(table["panel"].unique())
    width = 9.0 / len(panels)  # inches
    axes = _panels(panels, width, width + 0.55)
    for ax, panel in zip(axes, panels, strict=True):
        own = table[table["panel"] == panel]
        samples, lines, first = own[own["kind"] == "sample"], own[own["kind"] != "sample"], own.iloc[0]
        for c, points in samples.groupby("class"):
            ax.plot(points["x"], points["y"], "o+"[c], markersize=(2, 4)[c], color=f"C{2 * c}", alpha=0.5)
        for (kind, c, _number), line in lines.groupby(["kind", "class", "line"]):
            look = {"decision": ("-", "black"), "component": ("--", f"C{2 * c}")}[kind]
            ax.plot(line["x"], line["y"], look[0], color=look[1], linewidth=1.2)
        title = TITLES[first["figure"]].format((METHODS | NETWORKS).get(panel, panel))
        if not np.isnan(first["n_components"]):
            title += f"\n{first['n_components']:.0f} components in all,\n{first['weights']:.0f} weights"
        ax.set_title(f"{title}\ntest error {first['error']:.1f}%", fontsize=8)
        ax.set(xlim=(samples["x"].min(), samples["x"].max()), ylim=(samples["y"].min(), samples["y"].max()))
        ax.set(xticks=[], yticks=[])
    return axes


FIGURES = {
    "hayashi_components": Figure(
        lambda tables, paper: by_components(tables["hayashi2021_components_raw"]), _draw_curves
    ),
    "hayashi_features": Figure(together, _draw_features),
} | {
    f"hayashi_{name}": Figure(
        lambda tables, paper, name=name: select(tables["boundaries"], figure=name),  # type: ignore[misc]
        _draw_boundaries,
    )
    for name in TITLES
}
"""By file name."""
