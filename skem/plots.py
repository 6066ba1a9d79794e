"""Figures from tidy tables: one call each, returning the Axes, in the user's own style.

Colours, fonts and line widths come from matplotlib's settings and nothing is set globally, so ``plt.style.use`` and
``plt.rc_context`` work as they do for one's own figures. Lines are told apart by marker and dash as well as by
colour, so that they stay apart in grey.

Every function takes ``columns``: 1 or 2 of a journal's page, `WIDTHS` inches; ``width`` is any other number of
inches. Without either, a figure has the size that its panels need on a screen. In a narrow figure panels stand below
each other. ``ax=``, where a figure may have a single panel, draws into Axes that are there.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skem.names import NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTHS = {1: 3.5, 2: 7.2}
"""Inches of one and of two columns (89 and 183 mm: Nature's, and within a millimetre or so IEEE's and Elsevier's)."""

_MARKS = (("o", "-"), ("s", "--"), ("^", "-."), ("D", ":"), ("x", "-"), ("v", "--"))
_NARROW = 1.7
"""Inches below which panels do not stand beside each other."""


def _width(columns: int | None, width: float | None, own: float) -> float:
    if columns is not None and width is not None:
        raise ValueError("give columns or width, not both")
    if columns is not None and columns not in WIDTHS:
        raise ValueError(f"columns is {columns!r}; allowed: 1, 2, or width in inches for anything else")
    if width is not None and not width > 0:
        raise ValueError(f"width is {width!r}, not a number of inches")
    return width or (WIDTHS[columns] if columns else own)


def _grid(lines: int, across: int, width: float, aspect: float, legend: float = 0.0, **kwargs: Any) -> Any:
    """Panels of the same height / width, and inches for a legend below them."""
    import matplotlib.pyplot as plt

    height = width / across * aspect * lines + legend
    figure = plt.figure(figsize=(width, height), layout="constrained")
    return figure.subplots(lines, across, squeeze=False, **kwargs)


def _legend(figure: Figure, width: float, each: float = 2.3) -> None:
    """One for all panels, below them, each label once; as many beside each other as fit."""
    labels: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            labels.setdefault(label, handle)
    labels = dict(sorted(labels.items(), key=lambda item: item[0].startswith("paper")))
    across = max(1, min(int(width // each), len(labels)))
    figure.legend(
        labels.values(), labels.keys(), loc="outside lower center", ncols=across, fontsize="small", frameon=False
    )  # fmt: skip


def accuracy_by_pass(
    curves: pd.DataFrame,
    *,
    ax: Axes | None = None,
    columns: int | None = None,
    width: float | None = None,
) -> Any:
    """Accuracy after each pass of EM, on the test set and on validation rows, a panel for each data set.

    Parameters
    ----------
    curves : DataFrame
        curve, pass, accuracy, low, high (%), as `skem.studies.by_pass` returns them; for several panels
        dataset and setting; and, for a line at what a paper prints, paper (%). A data set without accuracies
        leaves a panel that says so.
    ax : Axes, optional
        For a single panel.
    columns, width
        See `skem.plots`.

    Returns
    -------
    Axes, or array of Axes
        An array without ``ax``. The band is the range over runs.
    """
    keys = [key for key in ("dataset", "setting") if key in curves]
    parts = list(curves.groupby(keys, sort=False)) if keys else [((), curves)]
    if ax is not None:
        if len(parts) != 1:
            raise ValueError(f"ax is one panel, and the table has {len(parts)} data sets")
        _passes(ax, curves, list(curves["curve"].unique()))
        return ax
    width = _width(columns, width, 3.6 * min(3, len(parts)))
    across = min(3, len(parts), max(1, int(width // _NARROW)))
    lines = -(-len(parts) // across)
    roomy = width / across > 2.8
    axes = _grid(lines, across, width, 0.85 if roomy else 1.15, legend=0.5)
    labels = list(curves.dropna(subset="accuracy")["curve"].unique())
    for panel, (key, part) in zip(axes.flat, parts, strict=False):
        _passes(panel, part, labels)
        panel.set_title((", " if roomy else "\n").join(_title(name) for name in key), fontsize="medium")
    for panel in axes.flat[len(parts) :]:
        panel.set_axis_off()
    for panel in axes.flat:
        if panel.get_subplotspec().colspan.start:
            panel.set_ylabel("")
    _legend(axes[0, 0].figure, width)
    return axes


def _title(name: str) -> str:
    return NAMES.get(name, name).replace("-K", ", K = ")


def _passes(ax: Axes, curves: pd.DataFrame, labels: list[str]) -> None:
    """Curves that look alike in every panel, whichever of them it has."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    drawn = curves.dropna(subset="accuracy")
    if not len(drawn):
        ax.text(0.5, 0.5, "data not available", ha="center", va="center", transform=ax.transAxes)
        ax.set_axis_off()
        return
    for i, (label, dash) in enumerate(zip(labels, cycle(("-", "-.", "--")), strict=False)):
        own = drawn[drawn["curve"] == label]
        if len(own):
            ax.plot(own["pass"], own["accuracy"], dash, color=f"C{i}", label=label)
            ax.fill_between(own["pass"], own["low"], own["high"], color=f"C{i}", alpha=0.15, linewidth=0)
    if "paper" in drawn and drawn["paper"].notna().any():
        ax.axhline(drawn["paper"].iloc[0], color=plt.rcParams["text.color"], linestyle=":", label="paper")
    ax.set_xlabel("pass of EM")
    ax.set_ylabel("accuracy (%)")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    _zoom(ax)


def _zoom(ax: Axes) -> None:
    """Show the range the curves end in; the first passes start from chance and would flatten the rest."""
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()]
    values = np.concatenate(curves)
    ends = [np.median(curve) for curve in curves if len(curve) > 2]
    if ends:
        top = values.max()
        depth = max(4.0, 2.5 * (top - min(ends)))
        ax.set_ylim(max(values.min() - 0.5, top - depth), top + 0.1 * min(depth, top - values.min() + 0.5))


def engine_scaling(peers: pd.DataFrame, *, columns: int | None = None, width: float | None = None) -> Any:
    """Seconds per pass of EM against N, m and K, with the exponents fitted to them.

    Parameters
    ----------
    peers : DataFrame
        ``results/peers.csv``; its parts "scaling" and "exponents" are drawn.
    columns, width
        See `skem.plots`.

    Returns
    -------
    array of Axes
    """
    scaling, exponents = (peers[peers["part"] == part] for part in ("scaling", "exponents"))
    width = _width(columns, width, 10.0)
    across = 3 if width >= 6 else 1
    axes = _grid(3 // across, across, width, 0.95 if across == 3 else 0.75, sharey=across == 3)
    for ax, axis in zip(axes.flat, ("N", "m", "K"), strict=True):
        own = scaling[scaling["size"] == axis].dropna(subset="seconds_per_pass")
        name = "H" if axis == "m" else axis
        for (marker, dash), (engine, table) in zip(
            cycle(_MARKS), own.groupby("engine", sort=False), strict=False
        ):
            found = exponents[(exponents["size"] == name) & (exponents["engine"] == engine)]["exponent"]
            power = f", ~{name}^{found.iloc[0]:.2f}" if len(found) else ""
            ax.loglog(table[axis], table["seconds_per_pass"], dash, marker=marker, label=f"{engine}{power}")
        others = own[["N", "m", "K"]].drop(columns=axis).iloc[0] if len(own) else {}
        ax.set_title(
            ", ".join(f"{key} = {value:.0f}" for key, value in dict(others).items()), fontsize="medium"
        )
        ax.set_xlabel({"N": "rows N", "m": "features m", "K": "components K"}[axis])
        if axis != "N":
            values = sorted(own[axis].unique())
            ax.set_xticks(values, [f"{value:.0f}" for value in values])
            ax.set_xticks([], minor=True)
        ax.legend(fontsize="x-small")
    for ax in axes[:, 0]:
        ax.set_ylabel("seconds per pass")
    return axes


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
        As `skem.studies.curves` returns it, of one data set; its methods and protocols are drawn in their order.
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
        As `skem.studies.curves` returns it, of one data set, method and protocol.
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


STARTS = {
    "uniform": "uniform\n(the paper)",
    "sample": "rows",
    "kmeans": "k-means",
    "class_shared": "rows of\nits class,\nshared",
    "class": "rows of\nits class",
    "class_kmeans": "k-means\nof its\nclass",
}
"""How starts are called in figures, in order: those whose components all classes share, then those with none to share."""


def advantage(curves: pd.DataFrame, *, columns: int | None = None, width: float | None = None) -> Any:
    """How much of the advantage of a partition is the partition, how much the start, how much sharing.

    Parameters
    ----------
    curves : DataFrame
        As `skem.studies.curves` returns it, one protocol; methods are called as in `STARTS`. A panel for each data
        set and number of components.
    columns, width
        See `skem.plots`.

    Returns
    -------
    array of Axes
        Above, the accuracy of the unpartitioned model and of the best partition for every start, with 95%
        intervals of the mean; below, the proportion of components that more than one class uses.
    """
    import matplotlib.pyplot as plt

    panels = list(curves.groupby(["dataset", "n_components"], sort=False))
    width = _width(columns, width, 4.3 * len(panels))
    across = len(panels) if width / len(panels) > 2.2 else 1
    lines = len(panels) // across
    height = min(1.25 * width / across, 5.0) * lines + 0.4
    figure = plt.figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(
        2 * lines, across, squeeze=False, gridspec_kw={"height_ratios": [2, 1] * lines}
    )  # fmt: skip
    tops, bottoms = axes[::2].ravel(), axes[1::2].ravel()
    # Filled and hollow, in the colours of the user's text and page.
    ink, page = plt.rcParams["text.color"], plt.rcParams["axes.facecolor"]
    for top, bottom, ((dataset, k), own) in zip(tops, bottoms, panels, strict=True):
        starts = [start for start in STARTS if start in set(own["method"])]
        for x, start in enumerate(starts):
            mine = own[own["method"] == start]
            whole, split = mine[mine["n_blocks"] == 1], mine[mine["n_blocks"] != 1]
            if not len(whole) or not len(split):
                continue
            one, best = whole.iloc[0], split.loc[split["accuracy"].idxmax()]
            for place, row, face in ((x - 0.15, one, page), (x + 0.15, best, ink)):
                error = [[row["accuracy"] - row["low"]], [row["high"] - row["accuracy"]]]
                top.errorbar(place, row["accuracy"], yerr=error, fmt="o", color=ink, mfc=face, capsize=3)
                bottom.bar(place, row["shared_proportion"], 0.3, color=face, edgecolor=ink)
            top.annotate(
                f"{best['accuracy'] - one['accuracy']:+.1f}\n{best['partition']}",
                (x, np.nanmax([best["high"], one["high"], best["accuracy"], one["accuracy"]])),
                xytext=(0, 4), textcoords="offset points", ha="center", fontsize="x-small",
            )  # fmt: skip
        features = int(own["n_blocks"].iloc[0] * own["block_size"].iloc[0])
        top.set_title(
            f"{features} features of\n{NAMES.get(str(dataset), dataset)}, K = {k}", fontsize="medium"
        )
        top.margins(y=0.3)
        top.grid(axis="y", alpha=0.25)
        top.set_xticks(range(len(starts)), [])
        top.set_xlim(-0.6, len(starts) - 0.4)
        bottom.set_xlim(top.get_xlim())
        bottom.set_ylim(0, 1.05)
        narrow = width / across < 4
        names = [STARTS[start].replace("\n", " ") if narrow else STARTS[start] for start in starts]
        bottom.set_xticks(range(len(starts)), names, fontsize="small", rotation=90 if narrow else 0)
    for top, bottom in zip(axes[::2, 0], axes[1::2, 0], strict=True):
        top.set_ylabel("test accuracy (%)")
        bottom.set_ylabel("shared")
    axes[-1, 0].set_xlabel("components start from")
    handles = [
        plt.Line2D([], [], marker="o", color=ink, mfc=page, linestyle="", label="one block (SKEM)"),
        plt.Line2D([], [], marker="o", color=ink, linestyle="", label="best partition (PSKEM)"),
    ]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=2 if width > 3 else 1, fontsize="small", frameon=False
    )  # fmt: skip
    return axes


def regression_history(
    history: pd.DataFrame, *, columns: int | None = None, width: float | None = None
) -> Any:
    """How each time moved from run to run of the regression gate, and which runs it stopped.

    Parameters
    ----------
    history : DataFrame
        What `skem.regress.append_history` returns.
    columns, width
        See `skem.plots`.

    Returns
    -------
    Axes
        Change of each case's time in percent over the runs; a cross where something got slower.
    """
    width = _width(columns, width, 9.0)
    ax = _grid(1, 1, width, 0.5, legend=0.8)[0, 0]
    runs = {date: i for i, date in enumerate(dict.fromkeys(history["date"]))}
    times = history[(history["kind"] == "time") & history["change"].notna()]
    for (case, part), (mark, dash) in zip(times.groupby("case", sort=False), cycle(_MARKS), strict=False):
        x, y = part["date"].map(runs), 100 * part["change"]
        ax.plot(x, y, marker=mark, linestyle=dash, markersize=4, linewidth=0.8, label=case)
        bad = part["verdict"] == "slower"
        ax.plot(x[bad], y[bad], "x", color="red", markersize=10)
    ax.axhline(0, linewidth=0.6, color="grey")
    ax.set_xticks(list(runs.values()), [date[:10] for date in runs], rotation=45, fontsize="x-small")
    ax.set_ylabel("change of time (%)")
    ax.set_xlabel("run of the gate")
    _legend(ax.figure, width)
    return ax


def kernels(table: pd.DataFrame, *, columns: int | None = None, width: float | None = None) -> Any:
    """Rows of a plane by class, and spherical kernels as circles of one standard deviation (Titsias and Likas 2001).

    Parameters
    ----------
    table : DataFrame
        panel (its title), class (from 0: of a row; of a kernel the one class that uses it, NaN for several), x, y, and
        radius (one standard deviation of a kernel; NaN marks a row).
    columns, width
        See `skem.plots`.

    Returns
    -------
    ndarray of Axes
        Two panels beside each other where there is room.
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Circle

    panels = list(table.groupby("panel", sort=False))
    width = _width(columns, width, 9.0)
    across = min(len(panels), 1 + (width / 2 > _NARROW))
    axes = _grid(-(-len(panels) // across), across, width, 0.66, legend=0.4)
    # Every other colour of the style, since neighbours may be shades of one.
    for ax, (title, part) in zip(axes.flat, panels, strict=False):
        # The radius of a kernel is in both axes the same length.
        ax.set_aspect("equal", adjustable="datalim")
        rows = part[part["radius"].isna()]
        for c, own in rows.groupby("class"):
            ax.plot(
                own["x"],
                own["y"],
                linestyle="",
                marker="o+^x"[int(c) % 4],
                markersize=3 if c == 0 else 5,
                color=f"C{2 * int(c)}",
                alpha=0.5,
                label=f"class {int(c) + 1}",
                rasterized=True,  # thousands of them make a file of half a megabyte
            )
        for kernel in part[part["radius"].notna()].to_dict("records"):
            shared = np.isnan(kernel["class"])
            colour = plt.rcParams["text.color"] if shared else f"C{2 * int(kernel['class'])}"
            centre = kernel["x"], kernel["y"]
            ax.add_patch(Circle(centre, kernel["radius"], fill=False, linewidth=2.2, color=colour, zorder=3))
            ax.plot(*centre, marker="x", color=colour, markersize=7, markeredgewidth=2, zorder=3)
        ax.set_title(title.replace(": ", ":\n"), fontsize="small")
        ax.set_xlabel("feature 1", fontsize="small")
        ax.set_ylabel("feature 2", fontsize="small")
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    _legend(axes.flat[0].figure, width, 1.2)
    return axes


def accuracy_by_sharing(
    table: pd.DataFrame, *, columns: int | None = None, width: float | None = None
) -> Any:
    """Accuracy after the last pass against lambda, a panel per data set; a line for the start that knows no groups.

    Parameters
    ----------
    table : DataFrame
        dataset, setting, run, sharing (NaN without), pass, accuracy (%; NaN alone marks missing data).
    columns, width
        See `skem.plots`.

    Returns
    -------
    ndarray of Axes
    """
    panels = list(table.groupby(["dataset", "setting"], sort=False))
    width = _width(columns, width, 4.2 * len(panels))
    across = len(panels) if width / len(panels) > _NARROW else 1
    axes = _grid(-(-len(panels) // across), across, width, 0.75, legend=0.4)
    for ax, ((dataset, setting), own) in zip(axes.flat, panels, strict=True):
        ax.set_title(f"{_title(dataset)}\n{_title(setting)}", fontsize="small")
        ax.set_xlabel("lambda\n(0: separate, 1: shared)")
        if own["accuracy"].isna().all():
            ax.text(0.5, 0.5, "data not available", ha="center", va="center", transform=ax.transAxes)
            continue
        last = own[own["pass"] == own["pass"].max()]
        by_lambda = last.dropna(subset="sharing").groupby("sharing")["accuracy"]
        mean, spread = by_lambda.mean(), by_lambda.std(ddof=1)
        ax.errorbar(mean.index, mean, spread, marker="o", color="C0", capsize=3, label="start by class")
        plain = last.loc[last["sharing"].isna(), "accuracy"]
        ax.axhline(plain.mean(), linestyle="--", color="C2", label="the paper's uniform start")
    for ax in axes[:, 0]:
        ax.set_ylabel("test accuracy (%)")
    _legend(axes.flat[0].figure, width)
    return axes
