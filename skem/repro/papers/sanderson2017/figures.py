"""Figure 2 of Sanderson and Curtin (2017)."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pandas as pd

from skem.repro.drawing import Figure, Tables, subplots
from skem.repro.papers.measured import select
from skem.repro.papers.sanderson2017.settings import METHODS, SYNTHETIC, Settings


def _threads(tables: Tables, paper: Settings) -> pd.DataFrame:
    columns = ["method", "n_threads", "n_rows", "seconds", "speedup", "paper"]
    own = select(tables["sanderson_timing"], dataset=SYNTHETIC)
    if not len(own):
        return pd.DataFrame(columns=columns)
    first = own[own["n_threads"] == 1].set_index("method")["seconds"]
    own = own.assign(speedup=own["method"].map(first) / own["seconds"])
    return own[columns].reset_index(drop=True)


def _draw_threads(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    axes = subplots(1, 2, figsize=(7.0, 3.0), layout="constrained")[1]
    run = table.dropna(subset="seconds")
    for look, (method, own) in zip(cycle(("o-", "s--")), run.groupby("method", sort=False), strict=False):
        for ax, column in zip(axes, ("seconds", "speedup"), strict=True):
            ax.plot(own["n_threads"], own[column], look, label=METHODS[str(method)].title)
    scale = run["n_rows"].max() / paper.figure2["n_rows"] if len(run) else 1.0
    printed = table.dropna(subset="paper")
    label = "the paper" if scale == 1 else f"the paper, times {scale:g}"
    axes[0].plot(printed["n_threads"], scale * printed["paper"], "x", color="black", label=label)
    if len(printed) == 2:
        speedup = printed["paper"].iloc[0] / printed["paper"]
        axes[1].plot(printed["n_threads"], speedup, "x", color="black", label="the paper")
    threads = paper.figure2["threads"]
    axes[1].plot(threads, threads, ":", color="black", label="linear")
    for ax, label in zip(axes, ("Seconds", "Speed-up"), strict=True):
        ax.set_xscale("log", base=2)
        ax.set_xlabel("Threads", fontsize=9)
        ax.set_ylabel(label, fontsize=9)
        ax.set_xticks(threads, list(map(str, threads)))
        ax.tick_params(labelsize=8)
        ax.legend(fontsize=8)
    axes[0].set_ylim(bottom=0)
    axes[1].set_yscale("log", base=2)
    axes[1].set_yticks(threads, list(map(str, threads)))
    return axes


FIGURES = {
    "sanderson_figure2_timing": Figure(_threads, _draw_threads),
}
"""By file name."""
