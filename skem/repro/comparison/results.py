"""Files of the comparison's tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from skem.repro.comparison import configuration, figures, pages, summary
from skem.repro.comparison.configuration import Part
from skem.repro.drawing import save
from skem.repro.files import write_table, write_text


def write(part: Part, values: Mapping[str, pd.DataFrame], paths: Iterable[str]) -> None:
    """Make the tables and figures of a part, named by ``paths``, from `summary.joined` measurements."""
    settings = configuration.read("config/comparison.yaml")
    tables = summary.tables(part, values)
    texts = pages.markdown(part, tables, settings)
    if part == "images":
        drawn, axes = figures.error_by_seconds(tables["images"], tables["images_timing"], settings)
    for path in map(Path, paths):
        name = path.stem.removeprefix("comparison_")
        if path.suffix == ".csv":
            write_table(path, drawn if path.parent.name == "figures" else tables[name])
        elif path.suffix == ".md":
            write_text(path, texts[name])
        else:
            save(axes, [path])
