"""The look of the project's figures, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.files import write, write_text

KINDS = ("svg", "pdf", "png", "csv")
"""Files of a figure; the CSV is the table that it is drawn from."""

STYLE = {
    "axes.prop_cycle": "cycler('color', ['#2171b5', '#08306b', '#e6550d', '#8c2d04', '#000000'])",
    "legend.framealpha": 0.9,
    "svg.hashsalt": "skem",  # the same file for the same numbers
}
"""Our own look; `skem.plots` takes whatever is set."""


@contextmanager
def style() -> Iterator[None]:
    """Draw in `STYLE` over Matplotlib's defaults, whatever a user's matplotlibrc sets."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)  # type: ignore[arg-type]
        yield


def subplots(*args: Any, **kwargs: Any) -> Any:
    """``pyplot.subplots``. Every job's process reads the papers' figures; importing pyplot there takes half a second."""
    import matplotlib.pyplot as plt

    return plt.subplots(*args, **kwargs)


Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Figure:
    """How a paper's figure comes from tables, by name of file.

    Attributes
    ----------
    rows : callable
        From tables and the settings of the paper to the tidy table that is drawn.
    draw : callable
        From that table and the settings to Axes, in the sizes of `skem.plots`.
    needs : tuple of str
        Experiments without whose tables there is no figure.
    also : tuple of str
        What else it shows if there.
    timing : tuple of str
        Tables of times it shows; such a figure is called "_timing", too, as it is never the same twice.
    """

    rows: Callable[[Tables, Any], pd.DataFrame]
    draw: Callable[..., Any]
    needs: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    timing: tuple[str, ...] = ()


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
