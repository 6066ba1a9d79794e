"""Figures of the claims: the totals, and every accuracy beside the papers'."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skem.repro import papers
from skem.repro.drawing import KINDS, save, style
from skem.repro.files import read_json, write_table
from skem.repro.ledger import bars, dots, sentences, summary


def draw(
    folder: str | Path,
    names: Iterable[str] = ("outcomes", "paper_and_ours"),
    config: str | Path = "config",
    columns: int | None = None,
) -> None:
    """Draw figures to ``figures`` in a folder, from its ``summary.json`` and ``claims.csv``."""
    folder, titles = Path(folder), papers.titles(config)
    for name in names:
        with style(columns):
            if name == "outcomes":
                table = bars.rows(read_json(folder / "summary.json"), titles)
                axes = bars.draw(table)
            else:
                table = dots.rows(summary.read(folder / "claims.csv"), sentences.read(config))
                axes = dots.draw(table, titles)
            save(axes, [folder / f"figures/{name}.{kind}" for kind in KINDS if kind != "csv"])
        write_table(folder / f"figures/{name}.csv", table)
