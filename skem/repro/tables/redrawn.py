"""The papers' tables in their own layout: the printed value of each cell over ours, coloured by outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke

from skem.repro.config.documents import refuse
from skem.repro.drawing import KINDS, save, subplots
from skem.repro.files import write_table
from skem.repro.ledger import summary
from skem.repro.ledger.bars import STYLES
from skem.repro.ledger.outcomes import AGREES, DIFFERS, ONE_INTERPRETATION, UNDECIDABLE, UNDECIDED
from skem.repro.ledger.totals import expected_misses
from skem.repro.tables.pages import Panel, layouts

COMPARED = (AGREES, ONE_INTERPRETATION, DIFFERS, UNDECIDED, UNDECIDABLE)
"""Outcomes of cells with a colour."""

WIDTH, ROW, FOOT, LEGEND = 4.2, 0.33, 0.26, 0.3
"""Inches: width of a figure, whose text is readable on a screen of 390 pixels, and heights of its parts."""


def cells(panels: Sequence[Panel], claims: pd.DataFrame, stated: pd.DataFrame) -> pd.DataFrame:
    """Select the cells of a figure; `ConfigurationError` if a cell has no claim or several.

    ``stated``, ``config/claims.csv``, has cells that the claims table lacks, such as times. ``compared`` cells are measurements that no earlier
    cell of the panel repeats.
    """
    evaluated = claims.set_index("id").reindex(stated["id"])
    evaluated = evaluated.fillna(dict.fromkeys(("outcome", "basis", "repeats"), ""))
    printed = dict(zip(stated["id"], stated["value"], strict=True))
    found, faults = [], []
    for panel in panels:
        counted: set[str] = set()
        for row, column in product(panel.rows, panel.columns):
            pattern = panel.cells.format(row=row, column=column)
            ids = [name for name in printed if fnmatchcase(name, pattern)]
            if len(ids) != 1:
                faults.append(f"{panel.title}: {len(ids)} claims have an id like {pattern}; one is needed")
                continue
            own = evaluated.loc[ids[0]]
            measured, source = own["measured"], own["repeats"] or ids[0]
            compared = own["basis"] == summary.MEASUREMENT and own["outcome"] in COMPARED
            found.append(
                {"panel": panel.title, "row": panel.rows[row], "column": panel.columns[column], "id": ids[0]}
                | {"paper": shown(printed[ids[0]])}
                | {"ours": "" if pd.isna(measured) else shown(printed[ids[0]], measured)}
                | {"difference": pd.to_numeric(own["standardised_difference"]), "outcome": own["outcome"]}
                | {"compared": compared and source not in counted}
            )
            if compared:
                counted.add(source)
    refuse(faults)
    return pd.DataFrame(found)


def write(paper: str, results: Path, config: str | Path = "config") -> None:
    """Draw the figures of a paper from ``claims.csv`` in a folder of results to its folder ``figures``."""
    claims = summary.read(results / "claims.csv")
    stated = pd.read_csv(Path(config, "claims.csv"), dtype=str, keep_default_na=False)
    with_interval = claims.loc[claims["low"].notna(), "id"]
    for name, panels in layouts(paper, config).items():
        table = cells(panels, claims, stated)
        misses = {
            str(title): expected_misses(int((own["compared"] & own["id"].isin(with_interval)).sum()))
            for title, own in table.groupby("panel")
        }
        axes = draw(table, misses)
        save(axes, [results / "figures" / f"{name}.{kind}" for kind in KINDS if kind != "csv"])
        plt.close(axes[0].figure)
        write_table(results / "figures" / f"{name}.csv", table)


def shown(printed: str, value: float | None = None) -> str:
    """Format a printed number, or another value with its decimals and exponent."""
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    scaled = float(mantissa) if value is None else value / 10 ** int(exponent or 0)
    return f"{scaled:,.{decimals}f}" + (f"e{exponent}" if exponent else "")


def draw(table: pd.DataFrame, misses: Mapping[str, tuple[float, float]]) -> Any:
    """Draw the panels of a figure, one below the other, from `cells`.

    ``misses`` has the number of cells that a faithful copy would miss by chance by title of panel: expected, and at most.
    """
    panels = {str(title): own for title, own in table.groupby("panel", sort=False)}
    heads = [0.36 + 0.12 * _lines(own["column"]) for own in panels.values()]  # inches, as all lengths here
    bodies = [ROW * own["row"].nunique() for own in panels.values()]
    total = sum(heads) + sum(bodies) + FOOT * len(panels) + LEGEND
    left = 0.12 + 0.063 * max(len(line) for label in table["row"] for line in label.split("\n"))
    figure, axes = subplots(len(panels), squeeze=False, figsize=(WIDTH, total))
    top = total
    for ax, (title, own), head, body in zip(axes[:, 0], panels.items(), heads, bodies, strict=True):
        top -= head + body
        ax.set_position((left / WIDTH, top / total, 0.99 - left / WIDTH, body / total))
        figure.text(0.01, (top + body + head - 0.17) / total, title, fontsize=8.5, fontweight="bold")
        _draw_panel(ax, own, misses[title])
        top -= FOOT
    _draw_legend(figure)
    return axes[:, 0]


def _lines(labels: pd.Series) -> int:
    return int(labels.str.count("\n").max()) + 1


def _draw_panel(ax: Any, own: pd.DataFrame, misses: tuple[float, float]) -> None:
    rows, columns = (list(dict.fromkeys(own[name])) for name in ("row", "column"))
    for cell in own.itertuples():
        _draw_cell(ax, columns.index(cell.column), rows.index(cell.row), cell)
    ax.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns, fontsize=7)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=7)
    ax.tick_params(length=0, pad=2)
    ax.xaxis.tick_top()
    ax.spines[:].set_visible(False)
    compared, differs = own["compared"].sum(), (own["compared"] & (own["outcome"] == DIFFERS)).sum()
    chance = f"by chance: {misses[0]:.1f}, at most {misses[1]:.0f}"
    text = f"{differs} of {compared} measurements differ, repeated cells once ({chance})"
    place = {"ha": "right", "va": "top", "fontsize": 6.7, "style": "italic"}
    ax.text(len(columns), len(rows) + 0.1, text if compared else "", **place)


def _draw_cell(ax: Any, x: int, y: int, cell: Any) -> None:
    """Draw a cell in the style of its outcome; white with grey text if it is not compared."""
    compared = cell.outcome in COMPARED and cell.ours
    style = STYLES[cell.outcome] if compared else {"color": "white"}
    ink = ("white" if cell.outcome == AGREES else "black") if compared else "0.4"
    edge: dict[str, Any] = {"edgecolor": "#333333" if "hatch" in style else "white", "linewidth": 0.0}
    ax.add_patch(Rectangle((x + 0.015, y + 0.03), 0.97, 0.94, **_face(style), **edge))
    halo = [withStroke(linewidth=3.0, foreground=style["color"])] if "hatch" in style else None
    text = {"ha": "center", "va": "center", "color": ink, "fontsize": 7.3, "path_effects": halo}
    ax.text(x + 0.5, y + 0.29, cell.paper, **text)
    ax.text(x + 0.5, y + 0.72, cell.ours or "-", fontweight="bold", **text)


def _face(style: Mapping[str, str]) -> dict[str, Any]:
    return {"facecolor" if name == "color" else name: value for name, value in style.items()}


def _draw_legend(figure: Any) -> None:
    handles = [
        Patch(label=word, edgecolor="#333333", linewidth=0.6, **_face(STYLES[word])) for word in COMPARED
    ]
    handles.append(Patch(label="not compared", facecolor="white", edgecolor="0.6", linewidth=0.6))
    place = {"loc": "lower center", "ncols": 4, "frameon": False, "fontsize": 6.7}
    figure.legend(handles=handles, **place, handlelength=1.2, handletextpad=0.4, columnspacing=0.9)
