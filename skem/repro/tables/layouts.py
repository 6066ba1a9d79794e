"""Layouts of the papers' tables, from the files in ``config/redrawn``."""

from __future__ import annotations

from pathlib import Path

from pydantic import RootModel

from skem.repro.config.documents import read_mapping
from skem.repro.config.validation import Strict, Text, parsed


class Panel(Strict):
    """A table, or a part of it: labels of rows and columns by the part of a claim's id that they stand for."""

    title: Text
    cells: Text
    rows: dict[str, Text]
    columns: dict[str, Text]


class Layouts(RootModel[dict[str, list[Panel]]]):
    """The panels of each figure."""


def layouts(paper: str, config: str | Path = "config") -> dict[str, list[Panel]]:
    """Read the layouts of a paper's figures from ``config/redrawn``; none if it has no file."""
    path = Path(config, "redrawn", f"{paper}.yaml")
    return parsed(Layouts, read_mapping(path), [path]).root if path.exists() else {}
