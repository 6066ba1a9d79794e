"""Accuracy, sharing and cost by number of components."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

from skem.plots._panels import _MARKS, _NARROW, _grid, _legend, _width
from skem.plots.names import STARTS


def _by_size(ax: Axes, table: pd.DataFrame, column: str, *spread: str) -> None:
    """A line per partition against K, with bars: of one standard deviation, or from a low to a high column."""
    for (marker, dash), (size, part) in zip(cycle(_MARKS), table.groupby("block_size"), strict=False):
        own = part.sort_values("n_components")
        bars = own[list(spread)].to_numpy().T
        if len(spread) == 2:
            bars = abs(bars - own[column].to_numpy())
        ax.errorbar(
            own["n_components"],
            own[column],
            yerr=bars if spread else None,
            marker=marker,
            linestyle=dash,
            label=f"{own['partition'].iloc[0]} (m = {size})",
            markersize=4,
            capsize=2,
            elinewidth=0.7,
        )
    ax.set_xlabel("components K")
    ax.grid(alpha=0.25)


def accuracy_by_components(
    curves: pd.DataFrame,
    *,
    around: float | None = 96,
    crossing: int | None = None,
    floor: float = 60,
    bars: str = "sd",
    columns: int | None = None,
    width: float | None = None,
) -> Any:
    """Accuracy against K, a panel per method and protocol (Pulford 2022, Figs. 2 to 4).

    Parameters
    ----------
    curves : DataFrame
        As `skem.repro.papers.pulford2022.tables.curves` returns it, of one data set; its methods and protocols are drawn in their order.
    around : float, optional
        What the paper says blocks of 12 and 18 reach, in percent: a line.
    crossing : int, optional
        The K from which, by the paper, the unpartitioned model is not worse than blocks of three: a line.
    floor : float
        Where the axis of accuracies begins at the earliest: with few components the unpartitioned model is near
        chance, and what matters happens above.
    bars : {"sd", "interval"}
        One standard deviation over runs, or the 95% interval of their mean.
    columns, width
        See `skem.plots`.

    Returns
    -------
    array of Axes
        A line of panels per protocol and a column per method, or the other way round where that is too wide; of one
        protocol three beside each other.

    Raises
    ------
    ValueError
        If ``bars`` is neither.
    """
    kinds = {"sd": ("sd",), "interval": ("low", "high")}
    if bars not in kinds:
        raise ValueError(f"bars must be one of {', '.join(map(repr, kinds))}, got {bars!r}")
    methods, protocols = list(curves["method"].unique()), list(curves["protocol"].unique())
    width = _width(columns, width, 3.4 * min(3, len(methods)))
    across = min(3, len(methods), max(1, int(width // _NARROW)))
    panels = [(method, protocol) for protocol in protocols for method in methods]
    if across < len(methods) and len(protocols) > 1:
        across = len(protocols)
        panels = [(method, protocol) for method in methods for protocol in protocols]
    lines = -(-len(panels) // across)
    axes = _grid(lines, across, width, 0.9, legend=0.7 if width > 5 else 1.3, sharex=True, sharey=True)
    faint = {"color": "grey", "linewidth": 0.8}
    for ax, (method, protocol) in zip(axes.flat, panels, strict=False):
        _by_size(
            ax,
            curves[(curves["method"] == method) & (curves["protocol"] == protocol)],
            "accuracy",
            *kinds[bars],
        )
        if around:
            ax.axhline(around, linestyle=(0, (1, 2)), label=f'paper: "around {around:g}%"', **faint)
        if crossing:
            ax.axvline(crossing, linestyle=(0, (4, 2)), label="paper: m = 36 over m = 3 from here", **faint)
        ax.set_title(f"{STARTS.get(method, method)}, {protocol}".replace("\n", " "), fontsize="small")
        ax.label_outer()
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
        above = axes[-2, ax.get_subplotspec().colspan.start]
        above.set_xlabel("components K")
        above.xaxis.set_tick_params(labelbottom=True)
    for ax in axes[:, 0]:
        ax.set_ylabel("test accuracy (%)")
    axes[0, 0].set_ylim(max(curves["accuracy"].min() - 3, floor), min(curves["accuracy"].max() + 1.5, 100))
    _legend(axes[0, 0].figure, width)
    return axes


def sharing_by_components(
    curves: pd.DataFrame, *, ax: Axes | None = None, columns: int | None = None, width: float | None = None
) -> Axes:
    """Shared proportion of components against K (Pulford 2022, Fig. 5).

    Parameters
    ----------
    curves : DataFrame
        As `skem.repro.papers.pulford2022.tables.curves` returns it, of one data set, method and protocol.
    ax : Axes, optional
    columns, width
        See `skem.plots`.

    Returns
    -------
    Axes
        Bars are one standard deviation over runs, where the table has it.
    """
    alone = ax is None
    if ax is None:
        width = _width(columns, width, 5.6)
        ax = _grid(1, 1, width, 0.6, legend=0.7 if width > 5 else 1.1)[0, 0]
    spread = ["shared_sd"] if "shared_sd" in curves else []
    _by_size(ax, curves, "shared_proportion", *spread)
    last = curves[curves["n_components"] == curves["n_components"].max()]
    whole = last[last["n_blocks"] == 1]
    if len(whole):
        k, value = whole["n_components"].iloc[0], whole["shared_proportion"].iloc[0]
        label = 'paper: m = 12, 18 "around\n50% less" for large K'
        ax.plot(k, value / 2, marker="*", markersize=11, color="grey", linestyle="", label=label)
    ax.set_ylabel("shared proportion")
    ax.set_ylim(0, 1.05)
    if alone and width:
        _legend(ax.figure, width, 1.7)  # type: ignore[arg-type]
    else:
        ax.legend(fontsize="x-small")
    return ax


def cost_by_components(costs: pd.DataFrame, *, columns: int | None = None, width: float | None = None) -> Any:
    """Counted operations of a training (Pulford 2022, Fig. 1) and, beside them, measured seconds.

    Parameters
    ----------
    costs : DataFrame
        partition, block_size, n_components, operations, seconds (of all passes, one thread).
    columns, width
        See `skem.plots`.

    Returns
    -------
    array of Axes
    """
    width = _width(columns, width, 9.5)
    shape = (1, 2) if width > 5 else (2, 1)
    axes = _grid(*shape, width, 0.75, legend=0.3 if width > 5 else 0.7, sharex=True)
    labels = {"operations": "operations, counted", "seconds": "seconds, one thread"}
    for ax, (column, label) in zip(axes.flat, labels.items(), strict=True):
        _by_size(ax, costs, column)
        whole = costs[costs["block_size"] == costs["block_size"].max()].sort_values("n_components")
        if column == "operations":
            ks, fifth = whole["n_components"], whole[column] / 5
            ax.plot(
                ks,
                fifth,
                color="grey",
                linewidth=0.8,
                label="paper: all others below this,\na fifth of m = 36",
            )
        ax.set_yscale("log")
        ax.set_ylabel(label)
        if shape == (2, 1):
            ax.label_outer()
    _legend(axes[0, 0].figure, width, 1.7)
    return axes
