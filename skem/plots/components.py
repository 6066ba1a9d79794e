"""Accuracy, sharing and cost by number of components."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from skem.plots._panels import FAINT, MARKS, NARROW, add_legend, check, grid, inches, name_cut

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def _by_size(ax: Axes, table: pd.DataFrame, column: str, *spread: str) -> None:
    """A line per partition against K, with bars: of one standard deviation, or from a low to a high column."""
    groups = table.groupby(["block_size", "partition"])
    for (marker, dash), ((size, partition), part) in zip(cycle(MARKS), groups, strict=False):
        part = part.sort_values("n_components")
        bars = part[list(spread)].to_numpy().T
        if len(spread) == 2:
            bars = abs(bars - part[column].to_numpy())
        ax.errorbar(
            part["n_components"],
            part[column],
            yerr=bars if spread else None,
            marker=marker,
            linestyle=dash,
            label=f"{partition} (m = {size})",
            markersize=4,
            capsize=2,
            elinewidth=0.7,
        )
    ax.set_xlabel("components K")
    ax.grid(alpha=0.25)


def accuracy_by_components(
    curves: pd.DataFrame,
    *,
    horizontal: Mapping[str, float] | None = None,
    vertical: Mapping[str, float] | None = None,
    floor: float | None = None,
    bars: str = "sd",
    names: Mapping[str, str] | None = None,
    columns: int | None = None,
    width: float | None = None,
) -> Any:
    """Accuracy against K, a panel per method and protocol (as in Pulford 2022, Figs. 2 to 4).

    Parameters
    ----------
    curves : DataFrame
        With columns method, protocol, partition, block_size, n_components, accuracy (%), and sd, or low and high,
        of the accuracy. Methods and protocols are drawn in their order.
    horizontal : mapping of str to float, optional
        Accuracies to compare with, in percent, by what the legend calls them: a grey line each.
    vertical : mapping of str to float, optional
        The same for numbers of components.
    floor : float, optional
        Least accuracy that the axis shows, in percent, if curves that start near chance would flatten the rest. Its label says so.
    bars : {"sd", "interval"}
        One standard deviation, from column sd, or an interval, from columns low and high.
    names : mapping of str to str, optional
        Titles of methods and protocols, if not as in the table. A protocol without others has no title.
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
        If ``bars`` is neither, or if the table is empty or lacks a column.
    """
    kinds = {"sd": ("sd",), "interval": ("low", "high")}
    if bars not in kinds:
        raise ValueError(f"bars must be one of {', '.join(map(repr, kinds))}, got {bars!r}")
    check(
        curves,
        "accuracy_by_components",
        labels=("method", "protocol", "partition"),
        numbers=("block_size", "n_components", "accuracy", *kinds[bars]),
    )
    horizontal, vertical, names = horizontal or {}, vertical or {}, names or {}
    methods, protocols = list(curves["method"].unique()), list(curves["protocol"].unique())
    width = inches(columns, width, 3.4 * min(3, len(methods)))
    across = min(3, len(methods), max(1, int(width // NARROW)))
    panels = [(method, protocol) for protocol in protocols for method in methods]
    if across < len(methods) and len(protocols) > 1:
        across = len(protocols)
        panels = [(method, protocol) for method in methods for protocol in protocols]
    lines = -(-len(panels) // across)
    axes = grid(lines, across, width, 0.9, legend=0.7 if width > 5 else 1.3, sharex=True, sharey=True)
    for ax, (method, protocol) in zip(axes.flat, panels, strict=False):
        _by_size(
            ax,
            curves[(curves["method"] == method) & (curves["protocol"] == protocol)],
            "accuracy",
            *kinds[bars],
        )
        for label, accuracy in horizontal.items():
            ax.axhline(accuracy, linestyle=(0, (1, 2)), label=label, **FAINT)
        for label, k in vertical.items():
            ax.axvline(k, linestyle=(0, (4, 2)), label=label, **FAINT)
        title = [method, protocol] if len(protocols) > 1 else [method]
        ax.set_title(", ".join(str(names.get(name, name)) for name in title), fontsize="small")
        ax.label_outer()
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
        above = axes[-2, ax.get_subplotspec().colspan.start]
        above.set_xlabel("components K")
        above.xaxis.set_tick_params(labelbottom=True)
    shown = [curves["accuracy"].min(), curves["accuracy"].max(), *horizontal.values()]
    lowest, highest = np.nanmin(shown) - 3, min(np.nanmax(shown) + 1.5, 100)
    if floor is not None and floor >= highest:
        raise ValueError(f"floor is {floor:g}, and no accuracy exceeds {highest:g}; choose a smaller one")
    cut = "" if floor is None or floor <= lowest else f", from {floor:g}"
    for ax in axes[:, 0]:
        ax.set_ylabel(f"test accuracy (%){cut}")
    axes[0, 0].set_ylim(lowest if floor is None else max(lowest, floor), highest)
    for ax in axes.flat[: len(panels)]:
        name_cut(ax)
    add_legend(axes[0, 0].figure, width, last=[*horizontal, *vertical])
    return axes


def sharing_by_components(
    curves: pd.DataFrame,
    *,
    points: Mapping[str, tuple[float, float]] | None = None,
    ax: Axes | None = None,
    columns: int | None = None,
    width: float | None = None,
) -> Axes:
    """Shared proportion of components against K (as in Pulford 2022, Fig. 5).

    Parameters
    ----------
    curves : DataFrame
        With columns partition, block_size, n_components and shared_proportion, one row per partition and number of
        components; and, for bars, shared_sd.
    points : mapping of str to (float, float), optional
        Points to compare with, a number of components and a proportion, by what the legend calls them: a star each.
    ax : Axes, optional
    columns, width
        See `skem.plots`.

    Returns
    -------
    Axes
    """
    spread = ["shared_sd"] if "shared_sd" in curves else []
    check(
        curves,
        "sharing_by_components",
        labels=("partition",),
        numbers=("block_size", "n_components", "shared_proportion", *spread),
    )
    points = points or {}
    alone = ax is None
    if ax is None:
        width = inches(columns, width, 5.6)
        ax = grid(1, 1, width, 0.6, legend=0.7 if width > 5 else 1.1)[0, 0]
    _by_size(ax, curves, "shared_proportion", *spread)
    for label, point in points.items():
        ax.plot(*point, marker="*", markersize=11, color="grey", linestyle="", label=label)
    ax.set_ylabel("shared proportion")
    ax.set_ylim(0, 1.05)
    name_cut(ax)
    if alone and width:
        add_legend(ax.figure, width, 1.7, last=points)  # type: ignore[arg-type]
    else:
        ax.legend(fontsize="x-small")
    return ax


def cost_by_components(
    costs: pd.DataFrame,
    *,
    bounds: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    columns: int | None = None,
    width: float | None = None,
) -> Any:
    """Counted operations of a training (as in Pulford 2022, Fig. 1) and, beside them, measured seconds.

    Parameters
    ----------
    costs : DataFrame
        With columns partition, block_size, n_components, operations and seconds (of all iterations, one thread).
    bounds : mapping of str to pair of array-like, optional
        Operations to compare with, numbers of components and operations at them, by what the legend calls them: a
        grey line each.
    columns, width
        See `skem.plots`.

    Returns
    -------
    array of Axes
    """
    labels = {"operations": "operations, counted", "seconds": "seconds, one thread"}
    check(costs, "cost_by_components", labels=("partition",), numbers=("block_size", "n_components", *labels))
    bounds = bounds or {}
    width = inches(columns, width, 9.5)
    shape = (1, 2) if width > 5 else (2, 1)
    axes = grid(*shape, width, 0.75, legend=0.3 if width > 5 else 0.7, sharex=True)
    for ax, (column, label) in zip(axes.flat, labels.items(), strict=True):
        _by_size(ax, costs, column)
        if column == "operations":
            for name, (ks, operations) in bounds.items():
                ax.plot(ks, operations, label=name, **FAINT)
        ax.set_yscale("log")
        ax.set_ylabel(label)
        if shape == (2, 1):
            ax.label_outer()
    add_legend(axes[0, 0].figure, width, 1.7, last=bounds)
    return axes


def criterion_by_components(
    results: pd.DataFrame,
    *,
    criterion: str = "bic",
    by: str = "covariance_type",
    ax: Axes | None = None,
    columns: int | None = None,
    width: float | None = None,
) -> Axes:
    """A criterion of mixtures against K, by covariance type: what `skem.GaussianMixturePath` chose from.

    Or by another column: ``criterion="held_out", by="n_blocks"`` shows the paths of a search over feature blocks.

    Parameters
    ----------
    results : DataFrame
        With columns n_components, the criterion, and ``by``, as in ``DataFrame(path.cv_results_)``. Of several entries with the
        same K, the best counts: the largest of held_out, the smallest of the others.
    criterion : str
        Which column: bic, aic, icl or held_out.
    by : str
        The column whose values have a line each, if not covariance_type.
    ax : Axes, optional
    columns, width
        See `skem.plots`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the table is empty or lacks a column.
    """
    numbers = ["n_components", criterion]
    check(results, "criterion_by_components", labels=(by,), numbers=numbers)
    if ax is None:
        ax = grid(1, 1, inches(columns, width, 4.5), 0.75)[0, 0]
    for (marker, dash), (name, part) in zip(cycle(MARKS), results.groupby(by, sort=False), strict=False):
        groups = part.groupby("n_components")[criterion]
        best = groups.max() if criterion == "held_out" else groups.min()
        ax.plot(best.index, best, marker=marker, linestyle=dash, label=name, markersize=4)
    ax.set_xlabel("components K")
    ax.set_ylabel("held-out log-likelihood" if criterion == "held_out" else criterion.upper())
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small", title=None if by == "covariance_type" else by)
    return ax
