"""Figures from tidy tables: one call each, returning the Axes, in the user's own style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from skem.gaussian import Mixture


def accuracy_by_pass(
    history: pd.DataFrame, *, paper: float | None = None, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Accuracy after each pass of EM, on the test set and on validation rows.

    Parameters
    ----------
    history : DataFrame
        One method and setting: columns run, fold, rows, pass, n_test, test_accuracy, n_validation,
        validation_accuracy (fractions).
    paper : float, optional
        The accuracy the paper prints, in percent: a line.
    title : str, optional
    ax : Axes, optional
        By default the current one.

    Returns
    -------
    Axes
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    ax = plt.gca() if ax is None else ax
    curves = {
        "test, all training rows": (history[history["rows"] == "all"], "test", "-"),
        "test, without validation rows": (history[history["rows"] == "part"], "test", "-."),
        "validation": (history[history["validation_accuracy"].notna()], "validation", "--"),
    }
    # Told apart by dashes and by lightness, so that they stay apart in grey.
    for (label, (rows, part, style)), colour in zip(
        curves.items(), ("#08306b", "#d95f0e", "#3690c0"), strict=True
    ):
        if not len(rows):
            continue
        runs = _per_run(rows, part)
        by_pass = runs.groupby("pass")["accuracy"]
        mean, low, high = by_pass.mean(), by_pass.min(), by_pass.max()
        ax.plot(mean.index, mean, style, color=colour, label=label)
        ax.fill_between(mean.index, low, high, color=colour, alpha=0.15, linewidth=0)
    if paper is not None:
        ax.axhline(paper, color="black", linestyle=":", label=f"paper: {paper:g}%")
    ax.set_xlabel("pass of EM")
    ax.set_ylabel("accuracy (%)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if title:
        ax.set_title(title)
    _zoom(ax)
    return ax


def _per_run(rows: pd.DataFrame, part: str) -> pd.DataFrame:
    """Accuracy in percent of each run and pass, folds weighted by their rows."""
    right = rows[f"{part}_accuracy"] * rows[f"n_{part}"]
    sums = rows.assign(right=right).groupby(["run", "pass"])[["right", f"n_{part}"]].sum()
    return (100 * sums["right"] / sums[f"n_{part}"]).rename("accuracy").reset_index()


def _zoom(ax: Axes) -> None:
    """Show the range the curves end in; the first passes start from chance and would flatten the rest."""
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()]
    values = np.concatenate(curves)
    ends = [np.median(curve) for curve in curves if len(curve) > 2]
    if ends:
        top = values.max()
        depth = max(4.0, 2.5 * (top - min(ends)))
        ax.set_ylim(max(values.min() - 0.5, top - depth), top + 0.1 * min(depth, top - values.min() + 0.5))


def engine_scaling(scaling: pd.DataFrame, exponents: pd.DataFrame) -> Figure:
    """Seconds per pass of EM against N, m and K, with the exponents fitted to them.

    Parameters
    ----------
    scaling, exponents : DataFrame
        As in ``results/peers.csv``.

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
    for ax, axis in zip(axes, ("N", "m", "K"), strict=True):
        own = scaling[scaling["size"] == axis].dropna(subset="seconds_per_pass")
        name = "H" if axis == "m" else axis
        for marker, (engine, table) in zip("os^Dv", own.groupby("engine", sort=False), strict=False):
            found = exponents[(exponents["size"] == name) & (exponents["engine"] == engine)]["exponent"]
            power = f", ~{name}^{found.iloc[0]:.2f}" if len(found) else ""
            ax.loglog(table[axis], table["seconds_per_pass"], marker=marker, label=f"{engine}{power}")
        others = own[["N", "m", "K"]].drop(columns=axis).iloc[0] if len(own) else {}
        ax.set_title(", ".join(f"{key} = {value}" for key, value in dict(others).items()), fontsize=10)
        ax.set_xlabel({"N": "rows N", "m": "features m", "K": "components K"}[axis])
        if axis != "N":
            values = sorted(own[axis].unique())
            ax.set_xticks(values, [str(value) for value in values])
            ax.set_xticks([], minor=True)
        ax.legend(fontsize=8)
    axes[0].set_ylabel("seconds per pass")
    return figure


# Block sizes are told apart by marker, dash and lightness, so that they stay apart in grey.
_SIZES = {
    3: ("o", "-", "#9ecae1"),
    6: ("s", "--", "#6baed6"),
    12: ("^", "-.", "#d95f0e"),
    18: ("D", ":", "#993404"),
    36: ("x", "-", "#000000"),
}


def _by_size(ax: Axes, table: pd.DataFrame, column: str, spread: str | None = None) -> None:
    """A line per partition against K, with a bar of one standard deviation."""
    fallback = zip(_SIZES.values(), sorted(table["block_size"].unique()), strict=False)
    styles = _SIZES if set(table["block_size"]) <= set(_SIZES) else {size: how for how, size in fallback}
    for size, own in table.groupby("block_size"):
        own = own.sort_values("n_components")
        marker, dash, colour = styles[size]
        label = f"{own['partition'].iloc[0]} (m = {size})"
        errors = own[spread].to_numpy() if spread else None
        ax.errorbar(
            own["n_components"],
            own[column],
            yerr=errors,
            marker=marker,
            linestyle=dash,
            color=colour,
            label=label,
            markersize=4,
            capsize=2,
            elinewidth=0.7,
        )


def accuracy_by_components(
    curves: pd.DataFrame,
    *,
    titles: dict[str, str] | None = None,
    crossing: int | None = None,
    floor: float = 60,
) -> Figure:
    """Accuracy against K, a panel per method and row per protocol (Pulford 2022, Figs. 2 to 4).

    Parameters
    ----------
    curves : DataFrame
        As `skem.studies.curves` returns it, of one data set.
    titles : dict, optional
        From method to the title of its panel; its order is theirs.
    crossing : int, optional
        The K from which, by the paper, the unpartitioned model is not worse than blocks of three: a line.
    floor : float
        Where the axis of accuracies begins at the earliest: with few components the unpartitioned model is near
        chance, and what matters happens above.

    Returns
    -------
    Figure
        Bars are one standard deviation over runs.
    """
    import matplotlib.pyplot as plt

    titles = titles or {method: method for method in curves["method"].unique()}
    protocols = list(curves["protocol"].unique())
    shape = len(protocols), len(titles)
    figure, axes = plt.subplots(
        *shape, figsize=(3.4 * shape[1] + 1.6, 3.1 * shape[0]), sharex=True, sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for line, protocol in zip(axes, protocols, strict=True):
        for ax, (method, title) in zip(line, titles.items(), strict=True):
            own = curves[(curves["method"] == method) & (curves["protocol"] == protocol)]
            _by_size(ax, own, "accuracy", "sd")
            faint = {"color": "grey", "linewidth": 0.8}
            ax.axhline(96, linestyle=(0, (1, 2)), label='paper: "around 96%"', **faint)
            if crossing:
                ax.axvline(
                    crossing, linestyle=(0, (4, 2)), label="paper: m = 36 over m = 3 from here", **faint
                )
            ax.set_title(f"{title}, {protocol}", fontsize=10)
            ax.grid(alpha=0.25)
        line[0].set_ylabel("test accuracy (%)")
    for ax in axes[-1]:
        ax.set_xlabel("components K")
    axes[0, 0].set_ylim(max(curves["accuracy"].min() - 3, floor), min(curves["accuracy"].max() + 1.5, 100))
    _outside_legend(figure)
    return figure


def sharing_by_components(curves: pd.DataFrame) -> Axes:
    """Shared proportion of components against K (Pulford 2022, Fig. 5), of one method and protocol."""
    import matplotlib.pyplot as plt

    ax = plt.figure(figsize=(5.6, 3.6), layout="constrained").subplots()
    _by_size(ax, curves, "shared_proportion")
    last = curves[curves["n_components"] == curves["n_components"].max()]
    whole = last[last["n_blocks"] == 1]
    if len(whole):
        k, value = whole["n_components"].iloc[0], whole["shared_proportion"].iloc[0]
        label = 'paper: m = 12 and 18 "around 50% less"\nthan m = 36 for large K'
        ax.plot(k, value / 2, marker="*", markersize=11, color="grey", linestyle="", label=label)
    ax.set_xlabel("components K")
    ax.set_ylabel("shared proportion, threshold .01")
    ax.set_ylim(0, 1.05)
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8)
    return ax


def cost_by_components(costs: pd.DataFrame) -> Figure:
    """Counted operations of a training (Pulford 2022, Fig. 1) and, beside them, measured seconds.

    Parameters
    ----------
    costs : DataFrame
        partition, block_size, n_components, operations, seconds (of all passes, one thread).

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
    for ax, column, label in zip(
        axes, ("operations", "seconds"), ("operations, counted", "seconds, one thread"), strict=True
    ):
        _by_size(ax, costs, column)
        ax.set_yscale("log")
        ax.set_xlabel("components K")
        ax.set_ylabel(label)
        ax.grid(alpha=0.25)
    axes[0].legend(fontsize=8)
    return figure


STARTS = {
    "sequential": "uniform\n(the paper)",
    "uniform": "uniform\n(the paper)",
    "sample": "rows",
    "kmeans": "k-means",
    "class": "rows of\nits class",
    "class_kmeans": "k-means\nof its class",
}
"""How starts are called in figures, in order."""


def advantage(curves: pd.DataFrame, panels: dict[str, tuple[str, str, int]]) -> Figure:
    """How much of the advantage of a partition is the partition, how much the start, how much sharing.

    Parameters
    ----------
    curves : DataFrame
        As `skem.studies.curves` returns it, one protocol.
    panels : dict
        From the title of a panel to (data set, partition of one block, K).

    Returns
    -------
    Figure
        Above, the accuracy of the unpartitioned model and of the best partition for every start, with 95%
        intervals of the mean; below, the proportion of components that more than one class uses.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(panels), figsize=(4.3 * len(panels), 5.4), squeeze=False, layout="constrained",
        gridspec_kw={"height_ratios": [2, 1]}, sharex="col",
    )  # fmt: skip
    for (top, bottom), (title, (dataset, whole, k)) in zip(axes.T, panels.items(), strict=True):
        own = curves[(curves["dataset"] == dataset) & (curves["n_components"] == k)]
        starts = [start for start in STARTS if start in set(own["method"])]
        for x, start in enumerate(starts):
            mine = own[own["method"] == start]
            one, split = mine[mine["partition"] == whole], mine[mine["partition"] != whole]
            if not len(one) or not len(split):
                continue
            one, best = one.iloc[0], split.loc[split["accuracy"].idxmax()]
            for place, row, face in ((x - 0.12, one, "white"), (x + 0.12, best, "black")):
                error = [[row["accuracy"] - row["low"]], [row["high"] - row["accuracy"]]]
                top.errorbar(place, row["accuracy"], yerr=error, fmt="o", color="black", mfc=face, capsize=3)
            gain = best["accuracy"] - one["accuracy"]
            top.annotate(
                f"{gain:+.1f}\n{best['partition']}",
                (x, np.nanmax([best["high"], one["high"], best["accuracy"], one["accuracy"]])),
                xytext=(0, 4), textcoords="offset points", ha="center", fontsize=8,
            )  # fmt: skip
            bottom.bar(x - 0.17, one["shared_proportion"], 0.3, color="white", edgecolor="black")
            bottom.bar(x + 0.17, best["shared_proportion"], 0.3, color="black", edgecolor="black")
        top.set_title(f"{title}, K = {k}", fontsize=10)
        top.margins(y=0.25)
        top.grid(axis="y", alpha=0.25)
        bottom.set_ylim(0, 1.05)
        bottom.set_xticks(range(len(starts)), [STARTS[start] for start in starts], fontsize=8)
    axes[0, 0].set_ylabel("test accuracy (%)")
    axes[1, 0].set_ylabel("components shared\nby classes")
    axes[1, 0].set_xlabel("components start from")
    handles = [
        plt.Line2D([], [], marker="o", color="black", mfc="white", linestyle="", label="one block (SKEM)"),
        plt.Line2D([], [], marker="o", color="black", linestyle="", label="best partition (PSKEM)"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=9)
    return figure


def _outside_legend(figure: Figure) -> None:
    """One legend for all panels, each label once."""
    labels: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            labels.setdefault(label, handle)
    figure.legend(labels.values(), labels.keys(), loc="outside right center", fontsize=8)


def kernels(
    X: np.ndarray, y: np.ndarray, mixture: Mixture, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Rows of a plane by class, and spherical kernels as circles of one standard deviation (Titsias and Likas 2001).

    Parameters
    ----------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        Class numbers from 0.
    mixture : Mixture
        With covariances of shape (K,). A kernel that one class alone uses (nine tenths of it) has the colour of that
        class, any other is black.
    title : str, optional
    ax : Axes, optional
        By default the current one.

    Returns
    -------
    Axes
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Circle

    ax = plt.gca() if ax is None else ax
    colours = ("#08306b", "#d95f0e", "#3690c0", "#636363")
    for c, marker in zip(np.unique(y), "o+^x", strict=False):
        size = 8 if marker == "o" else 18
        x, z = X[y == c].T
        label = f"class {c + 1}"
        ax.scatter(x, z, s=size, marker=marker, color=colours[c], alpha=0.5, linewidths=0.8, label=label)
    shares = mixture.weights / mixture.weights.sum(axis=1, keepdims=True)
    for mean, variance, share in zip(mixture.means, mixture.covariances, shares, strict=True):
        colour = colours[int(share.argmax())] if share.max() > 0.9 else "black"
        ax.add_patch(Circle(mean, np.sqrt(variance), fill=False, linewidth=2.2, color=colour))
        ax.plot(*mean, marker="x", color=colour, markersize=7, markeredgewidth=2)
    ax.set_aspect("equal")
    if title:
        ax.set_title(title, fontsize=10)
    return ax


def accuracy_by_sharing(table: pd.DataFrame, titles: dict[str, str]) -> Figure:
    """Accuracy against lambda, a panel per data set; a line for the start that knows no groups.

    Parameters
    ----------
    table : DataFrame
        dataset, run, sharing (NaN without), pass, accuracy (%).
    titles : dict
        From data set to the title of its panel.

    Returns
    -------
    Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(titles), 3.6), layout="constrained")
    axes = figure.subplots(1, len(titles), squeeze=False)[0]
    for ax, (dataset, title) in zip(axes, titles.items(), strict=True):
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("lambda: 0 separate mixtures, 1 full sharing")
        own = table[table["dataset"] == dataset]
        if not len(own):
            ax.text(0.5, 0.5, "data not available", ha="center", va="center", transform=ax.transAxes)
            continue
        last = own[own["pass"] == own["pass"].max()]
        by_lambda = last.dropna(subset="sharing").groupby("sharing")["accuracy"]
        mean, spread = by_lambda.mean(), by_lambda.std(ddof=1)
        ax.errorbar(mean.index, mean, spread, marker="o", color="#08306b", capsize=3, label="start by class")
        plain = last.loc[last["sharing"].isna(), "accuracy"]
        ax.axhline(plain.mean(), linestyle="--", color="#d95f0e", label="the paper's uniform start")
        ax.legend(frameon=False, fontsize=8)
    axes[0].set_ylabel("test accuracy after the last pass (%)")
    return figure
