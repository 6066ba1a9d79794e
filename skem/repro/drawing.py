"""The look of the project's figures, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from skem.repro.files import write, write_text

KINDS = ("svg", "pdf", "png", "csv")
"""Files of a figure; the CSV is the table that it is drawn from."""

STYLE = {
    "axes.prop_cycle": "cycler('color', ['#2171b5', '#08306b', '#e6550d', '#8c2d04', '#000000'])",
    "legend.framealpha": 0.9,
    "svg.hashsalt": "skem",  # the same file for the same numbers
}
"""Our own look; `skem.plots` takes whatever is set."""


def save(axes: Any, paths: Iterable[str | Path]) -> None:
    """Write the figure that Axes belong to, by suffix, without the time of day."""
    figure = np.atleast_1d(axes).flat[0].figure
    for path in paths:
        kind = Path(path).suffix[1:]
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        # In SVG and PDF only what is rasterised has dots.
        dots = 150 if kind == "png" else 100
        draw = partial(figure.savefig, format=kind, dpi=dots, metadata=metadata)
        if kind != "svg":
            write(path, draw)
            continue
        text = StringIO()
        draw(text)
        write_text(path, concise(text.getvalue()))


def concise(svg: str) -> str:
    """The same drawing in a sixth fewer bytes: no indents, coordinates to a hundredth of a point."""
    shorter = re.sub(r' (?:d|x|y)="[^"]*"', lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), svg)
    return re.sub(r"\n +", "\n", shorter)
