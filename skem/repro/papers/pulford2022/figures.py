"""The figures of Pulford (2022) and of what was tried beside: from which tables each is drawn, which rows of
them, and how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from skem import plots
from skem.repro.names import NAMES, with_settings

Tables = Mapping[str, pd.DataFrame]

STARTS = {
    "uniform": "uniform\n(the paper)",
    "sample": "rows",
    "kmeans": "k-means",
    "class_shared": "rows of\nits class,\nshared",
    "class": "rows of\nits class",
    "class_kmeans": "k-means\nof its\nclass",
}
"""How starts are called in figures, in order: those whose components all classes share, then those with none to share."""

AROUND = {'paper: "around 96%"': 96}
"""What blocks of 12 and 18 reach."""

CROSSING = {"paper: m = 36 over m = 3 from here": 28}
"""The K from which the unpartitioned model is not worse than blocks of three."""


@dataclass(frozen=True)
class Figure:
    """How a figure comes from the tables of studies.

    Attributes
    ----------
    studies : tuple of str
        Without these there is no figure.
    also : tuple of str
        What else it shows if there.
    timing : tuple of str
        Tables of times it shows; such a figure is called "_timing", too, as it is never the same twice.
    rows : callable
        From tables, by name of file, to the tidy table that is drawn.
    draw : callable
        From that table to Axes.
    """

    studies: tuple[str, ...]
    rows: Callable[[Tables], pd.DataFrame]
    draw: Callable[..., Any]
    also: tuple[str, ...] = ()
    timing: tuple[str, ...] = ()


def _arrangements(tables: Tables) -> pd.DataFrame:
    """The unpartitioned model, which features in any order leave the same, stands in every panel."""
    table = tables["arrangements"]
    table = table[table["protocol"].isin(["best-pass", "validated"])]
    whole = table[(table["method"] == "sequential") & (table["n_blocks"] == 1)]
    orders = [
        pd.concat([own, whole.assign(method=name)]) if name != "sequential" else own
        for name in ("sequential", "interleaved", "random")
        if len(own := table[table["method"] == name])
    ]
    # Protocols keep their order in the first panel, and so in all.
    return pd.concat(orders, ignore_index=True)


def _sharing(tables: Tables) -> pd.DataFrame:
    table = tables["arrangements"]
    return table[(table["method"] == "sequential") & (table["protocol"] == "best-pass")]


def _starts(tables: Tables) -> pd.DataFrame:
    """Best passes from every start; the paper's is the one of the arrangements."""
    own = tables["arrangements"]
    own = own[own["method"] == "sequential"].assign(method="uniform")
    others = [table for name, table in tables.items() if name != "arrangements"]
    table = pd.concat([own, *others], ignore_index=True)
    return table[(table["protocol"] == "best-pass") & table["method"].isin(STARTS)]


def _starts_on_one(tables: Tables) -> pd.DataFrame:
    table = _starts(tables)
    table = table[table["dataset"] == tables["arrangements"]["dataset"].iloc[0]]
    return table.sort_values("method", key=lambda names: names.map(list(STARTS).index), kind="stable")


PAPER_K = {"mnist_half": 40, "mnist": 60, "fashion_mnist": 100}
"""Where starts are compared: as many components as the paper has on that data set."""


def _advantage(tables: Tables) -> pd.DataFrame:
    table = _starts(tables)
    k = table["dataset"].map(PAPER_K)
    there = table[table["n_components"] == k]
    # Grids may be cut to their ends.
    most = table.groupby("dataset")["n_components"].transform("max")
    return there if len(there) else table[table["n_components"] == most]


def _draw_costs(costs: pd.DataFrame, **size: Any) -> Any:
    whole = costs[costs["block_size"] == costs["block_size"].max()].sort_values("n_components")
    fifth = {
        "paper: all others below this,\na fifth of m = 36": (whole["n_components"], whole["operations"] / 5)
    }
    return plots.cost_by_components(costs, bounds=fifth, **size)


def _draw_sharing(curves: pd.DataFrame, **size: Any) -> Any:
    last = curves[curves["n_components"] == curves["n_components"].max()]
    whole = last[last["n_blocks"] == 1]
    points = {}
    if len(whole):
        k, proportion = whole[["n_components", "shared_proportion"]].iloc[0]
        points['paper: m = 12, 18 "around\n50% less" for large K'] = k, proportion / 2
    return plots.sharing_by_components(curves, points=points, **size)


def draw_by_pass(curves: pd.DataFrame, **size: Any) -> Any:
    """Accuracy by pass beside what the paper prints, a panel per data set and setting.

    Parameters
    ----------
    curves : DataFrame
        As `by_pass` of this paper's tables returns it, with columns dataset, setting and paper (%).
    **size
        See `skem.plots`.
    """
    return plots.accuracy_by_pass(curves, level="paper", names=with_settings(curves["setting"]), **size)


FIGURES = {
    "figure1_timing": Figure(
        ("arrangements",),
        lambda tables: tables["arrangements_timing"],
        _draw_costs,
        timing=("arrangements_timing",),
    ),
    "figures2to4": Figure(
        ("arrangements",),
        _arrangements,
        # Few components of the unpartitioned model are near chance; what matters happens above.
        partial(plots.accuracy_by_components, horizontal=AROUND, vertical=CROSSING, floor=60),
    ),
    "figure5": Figure(("arrangements",), _sharing, _draw_sharing),
    "accuracy_by_start": Figure(
        ("arrangements", "starts"),
        _starts_on_one,
        partial(
            plots.accuracy_by_components,
            horizontal=AROUND,
            floor=85,
            bars="interval",
            names={start: words.replace("\n", " ") for start, words in STARTS.items()},
        ),
    ),
    "advantage": Figure(
        ("arrangements", "starts"),
        _advantage,
        partial(plots.advantage, names=STARTS | NAMES),
        also=("starts40",),
    ),
}
"""By name of file."""
