"""The figures of Pulford (2022) and of further studies: their tables, rows and drawings."""

from __future__ import annotations

from typing import Any

import pandas as pd

from skem import plots
from skem.metrics import operation_count
from skem.repro.drawing import Figure, Tables, subplots, together
from skem.repro.names import NAMES
from skem.repro.papers.pulford2022.settings import Settings
from skem.repro.papers.pulford2022.tables import point_of
from skem.repro.protocols import LABELS

STARTS = {
    "uniform": "uniform\n(the paper)",
    "sample": "samples",
    "kmeans": "k-means",
    "class_shared": "samples of\nits class,\nshared",
    "class": "samples of\nits class",
    "class_kmeans": "k-means\nof its\nclass",
}
"""Names of initialisations in figures, in order: with components shared by all classes first."""

ARRANGEMENTS = {
    "sequential": "Figure 2: sequential",
    "interleaved": "Figure 3: interleaved",
    "random": "Figure 4: random",
}
"""Titles of arrangements, with the paper's figures."""

AROUND = {'paper: "around 96%"': 96}
"""Accuracy of blocks of 12 and 18."""


def costs(timed: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """Return counted operations (Pulford 2022, section 2.2) and measured seconds of each partition, for the iterations of a fit."""
    rows = []
    for _, own in timed.groupby("setting", sort=False):
        point = point_of(own)
        n_iter, sizes = paper.iterations[point["partition"]], [point["block_size"]] * point["n_blocks"]
        operations = float(operation_count(n_iter, point["n_components"], paper.n_train, sizes))
        seconds = float(own["seconds"].median())
        rows.append(
            point | {"operations": operations, "seconds_per_iteration": seconds, "seconds": n_iter * seconds}
        )
    return pd.DataFrame(rows)


def _draw_costs(costs: pd.DataFrame, paper: Settings, **size: Any) -> Any:
    whole = costs[costs["block_size"] == costs["block_size"].max()].sort_values("n_components")
    bound = {
        "paper: all others below this,\na fifth of m = 36": (whole["n_components"], whole["operations"] / 5)
    }
    return plots.cost_by_components(costs, bounds=bound, **size)


def _arrangements(tables: Tables, paper: Settings) -> pd.DataFrame:
    """Repeat the unpartitioned model, which has no arrangement, in every panel."""
    table = tables[paper.trade_offs]
    table = table[table["protocol"].isin(["test_selected_iteration", "validation_selected_iteration"])]
    sequential = paper.arrangements[0]
    whole = table[(table["method"] == sequential) & (table["n_blocks"] == 1)]
    panels = [
        pd.concat([arranged, whole.assign(method=name)]) if name != sequential else arranged
        for name in paper.arrangements
        if len(arranged := table[table["method"] == name])
    ]
    # Protocols keep their order in the first panel, and so in all.
    return pd.concat(panels, ignore_index=True)


def _draw_arrangements(curves: pd.DataFrame, paper: Settings, **size: Any) -> Any:
    # Few components of the unpartitioned model are near chance; curves cross above.
    crossing = {"paper: 1x36 ahead of 12x3 from here": paper.crossing}
    return plots.accuracy_by_components(
        curves, horizontal=AROUND, vertical=crossing, floor=60, names=LABELS | ARRANGEMENTS, **size
    )


def _sharing(tables: Tables, paper: Settings) -> pd.DataFrame:
    table = tables[paper.trade_offs]
    return table[
        (table["method"] == paper.arrangements[0]) & (table["protocol"] == "test_selected_iteration")
    ]


def _draw_sharing(curves: pd.DataFrame, paper: Settings, **size: Any) -> Any:
    whole = curves[(curves["n_components"] == curves["n_components"].max()) & (curves["n_blocks"] == 1)]
    label = 'half of m = 36; paper: m = 12,\n18 "around 50% less"'
    half = [(row.n_components, row.shared_proportion / 2) for row in whole.itertuples()]
    points = {label: half[0]} if half else {}
    return plots.sharing_by_components(curves, points=points, **size)


def _starts(tables: Tables, paper: Settings) -> pd.DataFrame:
    """Select test-selected iterations of every initialisation; the paper's is that of the arrangements."""
    uniform = tables[paper.trade_offs]
    uniform = uniform[uniform["method"] == paper.arrangements[0]].assign(method="uniform")
    others = [table for name, table in tables.items() if name != paper.trade_offs]
    table = pd.concat([uniform, *others], ignore_index=True)
    return table[(table["protocol"] == "test_selected_iteration") & table["method"].isin(STARTS)]


def _advantage(tables: Tables, paper: Settings) -> pd.DataFrame:
    table = _starts(tables, paper)
    compared = table[table["n_components"] == table["dataset"].map(paper.compared)]
    # Small runs cut grids to their ends.
    most = table.groupby("dataset")["n_components"].transform("max")
    return compared if len(compared) else table[table["n_components"] == most]


INTERPRETED = ["paper_value", "interpretation", "default", "measured", "low", "high", "n_runs", "detail"]


def _specifications(tables: Tables, paper: Settings) -> pd.DataFrame:
    interpretations, found = tables["interpretations"], []
    for dataset, model in paper.headlines.items():
        own = interpretations.loc[interpretations["id"] == model.accuracy, INTERPRETED].sort_values(
            "measured"
        )
        own.insert(0, "dataset", dataset)
        found.append(own)
    return pd.concat(found, ignore_index=True)


def _draw_specifications(table: pd.DataFrame, paper: Settings, **_: Any) -> Any:
    """Draw a panel per data set, with the paper's value and a prediction interval per interpretation; the default is bold."""
    panels = list(table.groupby("dataset", sort=False))
    heights = [0.75 + 0.19 * len(own) for _, own in panels]  # inches
    size = {"figsize": (8.0, sum(heights)), "height_ratios": heights}
    _, axes = subplots(len(panels), layout="constrained", squeeze=False, **size)
    for ax, (dataset, own) in zip(axes[:, 0], panels, strict=True):
        for place, row in enumerate(own.itertuples()):
            ax.plot([row.low, row.high], [place, place], color="C0", linewidth=1)
            ax.plot(row.measured, place, "o", color="C0", markersize=5, mfc="C0" if row.default else "white")
        value = own["paper_value"].iloc[0]
        ax.axvline(value, color="black", linestyle="--", linewidth=1)
        ax.set_yticks(range(len(own)), own["interpretation"], fontsize=7)
        for label, default in zip(ax.get_yticklabels(), own["default"], strict=True):
            label.set_fontweight("bold" if default else "normal")
        ax.set_ylim(-0.7, len(own) - 0.3)
        ax.set_title(f"{NAMES.get(str(dataset), dataset)}: the paper {value:g}", fontsize=9, loc="left")
        ax.tick_params(axis="x", labelsize=8)
    axes[-1, 0].set_xlabel("Test accuracy (%)")
    return axes[:, 0]


FIGURES = {
    "figure1_timing": Figure(
        lambda tables, paper: costs(together(tables, paper), paper), _draw_costs, needs=("arrangements",)
    ),
    "figures2to4": Figure(_arrangements, _draw_arrangements, needs=("arrangements",)),
    "figure5": Figure(_sharing, _draw_sharing, needs=("arrangements",)),
    "advantage": Figure(
        _advantage,
        lambda table, paper, **size: plots.advantage(table, names=STARTS | NAMES, **size),
        needs=("arrangements", "starts"),
        also=("starts40",),
    ),
    "specifications": Figure(_specifications, _draw_specifications),
}
"""Figures by file name."""
