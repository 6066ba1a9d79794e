"""Figures of Sanderson and Curtin (2017): diagonal against full covariances, its advice, and Figure 2."""

from __future__ import annotations

from typing import Any

import pandas as pd

from skem.plots._panels import name_cut
from skem.repro.drawing import Figure, Tables, subplots
from skem.repro.papers.measured import select
from skem.repro.papers.sanderson2017.settings import METHODS, SYNTHETIC, Settings
from skem.repro.papers.sanderson2017.tables import ABOUT

COLOURS = {"full": "C2", "diag": "C0"}
ADVISED = {"kmeans_iter": (10, 10), "em_iter": (5, 10), "rows_per_component": (10, 10)}
"""Ranges that the paper advises."""


def _compared(tables: Tables, paper: Settings) -> pd.DataFrame:
    table = tables["sanderson"]
    compared = table["dataset"].isin(paper.heldout["data_sets"]) & table["per_row"].notna()
    columns = ["dataset", "method", "guard", "n_runs", "per_row", "paper_per_row", "test", "test_sd"]
    return table.loc[compared, columns].reset_index(drop=True)


def _draw_compared(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    from matplotlib.lines import Line2D

    names = list(dict.fromkeys(table["dataset"]))
    methods = [name for name in reversed(METHODS) if name in set(table["method"])]
    figsize = (2.4 + 2.0 * len(names), 3.0)
    figure, axes = subplots(1, len(names), figsize=figsize, sharey=True, squeeze=False, layout="constrained")
    for ax, name in zip(axes.flat, names, strict=True):
        for row in select(table, dataset=name).to_dict("records"):
            place, colour = methods.index(row["method"]), COLOURS[METHODS[row["method"]].covariance]
            ax.plot(row["per_row"], place, "o", color=colour, markersize=6)
            ax.plot(row["paper_per_row"], place, "x", color="black", markersize=6)
            look = {"fmt": "s", "color": colour, "markerfacecolor": "white", "markersize": 5}
            ax.errorbar(row["test"], place, xerr=row["test_sd"], **look)
        ax.set_title(paper.name(name), fontsize=9)
        ax.set_xlabel("log p per sample (nats)", fontsize=8)
        ax.tick_params(labelsize=8)
        ax.grid(axis="y", linewidth=0.4, alpha=0.5)
        ax.margins(x=0.12)
    labels = [
        f"{METHODS[name].title}\n{METHODS[name].bound.format(floor=paper.floor)}".removesuffix("\nnone")
        for name in methods
    ]
    axes[0, 0].set_yticks(range(len(methods)), labels, fontsize=7)
    handles = [
        Line2D([], [], marker=marker, linestyle="", color=colour, markerfacecolor=face, label=label)
        for marker, colour, face, label in (
            ("o", "0.3", "0.3", "training samples, best initialisation"),
            ("s", "0.3", "white", "held-out samples"),
            ("x", "black", "black", "the paper, training samples"),
        )
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return axes


def _advised(tables: Tables, paper: Settings) -> pd.DataFrame:
    """Return what larger numbers of iterations gain, in standard deviations over initialisations; and iterations to converge."""
    columns, rows = ["about", "dataset", "value", "shown"], []
    table = select(tables["sanderson2017_advice"], covariance="diag")
    for (about, dataset), own in table.groupby(["about", "dataset"], sort=False) if len(table) else ():
        by_value = own.groupby("value")
        if about == "rows_per_component":
            shown = by_value["n_iter"].median()
        else:
            mean, sd = by_value["test"].mean(), by_value["test"].var(ddof=1).mean() ** 0.5
            shown = (mean[::-1].cummax()[::-1] - mean) / sd
        rows += [dict(zip(columns, (about, dataset, n, y), strict=True)) for n, y in shown.items()]
    return pd.DataFrame(rows, columns=columns)


def _draw_advised(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    axes = subplots(1, len(ABOUT), figsize=(9.0, 3.2), layout="constrained")[1]
    for ax, (about, label) in zip(axes, ABOUT.items(), strict=True):
        own = table[table["about"] == about]
        for (name, curve), marker in zip(own.groupby("dataset", sort=False), 2 * "os^Dv", strict=False):
            look = {"marker": marker, "markersize": 4, "label": paper.name(str(name))}
            ax.plot(curve["value"], curve["shown"], **look)
        low, high = ADVISED[about]
        ax.axvspan(low * 0.93, high * 1.07, color="0.85", zorder=0)
        ax.set_xscale("symlog" if about == "kmeans_iter" else "log")
        tried: Any = dict(paper.advice)[about]
        ax.set_xticks(tried, list(map(str, tried)))
        ax.minorticks_off()
        ax.set_xlabel(label, fontsize=9)
        ax.tick_params(labelsize=8)
        if about == "rows_per_component":
            ax.set_ylabel("Iterations of EM until convergence", fontsize=8)
        else:
            ax.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
            ax.set_yscale("symlog", linthresh=1.0)
            ax.set_ylim(bottom=-0.05)
            name_cut(ax)
            ax.set_ylabel("Gain by more (standard deviations)", fontsize=8)
    if len(table):
        axes[0].legend(fontsize=7)
    return axes


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
    for method, own in run.groupby("method", sort=False):
        for ax, column in zip(axes, ("seconds", "speedup"), strict=True):
            ax.plot(own["n_threads"], own[column], marker="o", label=METHODS[str(method)].title)
    scale = run["n_rows"].max() / paper.figure2["n_rows"] if len(run) else 1.0
    printed = table.dropna(subset="paper")
    label = "the paper" if scale == 1 else f"the paper, times {scale:g}"
    axes[0].plot(printed["n_threads"], scale * printed["paper"], "x", color="black", label=label)
    highest = max(run["n_threads"].max() if len(run) else 1, 2)
    axes[1].plot([1, highest], [1, highest], ":", color="black", label="linear")
    if len(printed) == 2:
        axes[1].plot(printed["n_threads"], printed["paper"].iloc[0] / printed["paper"], "x", color="black")
    for ax, label in zip(axes, ("Seconds", "Speed-up"), strict=True):
        ax.set_xscale("log", base=2)
        ax.set_xlabel("Threads", fontsize=9)
        ax.set_ylabel(label, fontsize=9)
        ax.set_xticks(paper.figure2["threads"], list(map(str, paper.figure2["threads"])))
        ax.tick_params(labelsize=8)
        ax.legend(fontsize=8)
    axes[0].set_ylim(bottom=0)
    return axes


FIGURES = {
    "sanderson_compared": Figure(_compared, _draw_compared),
    "sanderson_advice": Figure(_advised, _draw_advised),
    "sanderson_figure2_timing": Figure(_threads, _draw_threads),
}
"""By file name."""
