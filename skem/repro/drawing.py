"""Style, captions and files of the figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from skem.repro.files import concatenated, write, write_text

KINDS = ("svg", "pdf", "png", "csv")
"""Files of a figure; the CSV is the table that it is drawn from."""

STYLE = {
    "axes.prop_cycle": "cycler('color', ['#2171b5', '#08306b', '#e6550d', '#8c2d04', '#000000'])",
    "figure.constrained_layout.w_pad": 0.1,  # inches: labels end before the edge
    "figure.constrained_layout.h_pad": 0.07,
    "legend.framealpha": 0.9,
    "svg.hashsalt": "skem",  # the same file for the same numbers
}
"""Style of the reproduction; `skem.plots` uses the current style."""


_columns: ContextVar[int | None] = ContextVar("columns", default=None)


@contextmanager
def style(columns: int | None = None) -> Iterator[None]:
    """Draw in `STYLE` over Matplotlib's defaults, regardless of the user's matplotlibrc.

    With ``columns``, 1 or 2 of a paper, `save` gives two to figures that `skem.plots` has not drawn, as one is too narrow for them.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)  # type: ignore[arg-type]
        token = _columns.set(columns)
        try:
            yield
        finally:
            _columns.reset(token)


def subplots(*args: Any, **kwargs: Any) -> Any:
    """Call ``pyplot.subplots``; a late import saves every job half a second."""
    import matplotlib.pyplot as plt

    return plt.subplots(*args, **kwargs)


Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Figure:
    """A paper's figure.

    ``rows`` maps tables by name of file, and the settings of the paper, to the tidy table that is drawn; ``draw`` that table and the
    settings to Axes, with `columns=` of `skem.plots` if a width was asked for.
    """

    rows: Callable[[Tables, Any], pd.DataFrame]
    draw: Callable[..., Any]
    needs: tuple[str, ...] = ()  # experiments whose tables the figure requires
    also: tuple[str, ...] = ()  # experiments whose tables the figure shows if they exist

    def drawn(self, tables: Tables, settings: Any) -> tuple[pd.DataFrame, Any]:
        """Return the rows of the figure and its Axes; if no table has rows, the Axes state this."""
        if any(map(len, tables.values())):
            rows, columns = self.rows(tables, settings), _columns.get()
            return rows, self.draw(rows, settings, **({"columns": columns} if columns else {}))
        ax = subplots(figsize=(4.0, 1.0))[1]
        ax.text(0.5, 0.5, "No results in this run", ha="center", va="center")
        ax.set_axis_off()
        return pd.DataFrame(), ax


def together(tables: Tables, settings: object) -> pd.DataFrame:
    """Return the rows of all tables."""
    return concatenated(tables.values())


def captions(project: str | Path = ".") -> dict[str, dict[str, str]]:
    """Read the title and the text of every figure's caption, by name of file."""
    paths = sorted(Path(project, "workflow/report").glob("*.yaml"))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is ten times as fast
    texts = [yaml.load(path.read_text(encoding="utf-8"), loader) for path in paths]
    return {name: caption for text in texts for name, caption in text.items()}


def save(axes: Any, paths: Iterable[str | Path]) -> None:
    """Write the figure of some Axes, in the format of each suffix, without the date."""
    from skem.plots import WIDTHS

    figure = np.atleast_1d(axes).flat[0].figure
    width = figure.get_figwidth()
    if _columns.get() and width not in WIDTHS.values():
        _scale(figure, WIDTHS[2] / width)
    for path in paths:
        kind = Path(path).suffix[1:]
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        dpi = 300 if kind == "png" else 100
        draw = partial(figure.savefig, format=kind, dpi=dpi, metadata=metadata)
        if kind != "svg":
            write(path, draw)
            continue
        text = StringIO()
        draw(text)
        write_text(path, concise(text.getvalue()))


def _scale(figure: Any, factor: float) -> None:
    """Scale a figure with its text, lines and markers."""
    figure.set_size_inches(figure.get_size_inches() * factor)
    for artist in figure.findobj():
        for length in ("fontsize", "linewidth", "markersize", "markeredgewidth"):
            if hasattr(artist, f"set_{length}") and isinstance(
                old := getattr(artist, f"get_{length}")(), float | int
            ):
                getattr(artist, f"set_{length}")(old * factor)


def concise(svg: str) -> str:
    """Shorten an SVG by a sixth: no indentation, coordinates to a hundredth of a point."""
    shorter = re.sub(r' (?:d|x|y)="[^"]*"', lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), svg)
    return re.sub(r"\n +", "\n", shorter)
