"""Tables, panels, widths and legends, the same in every figure."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIDTHS = {1: 3.5, 2: 7.2}
"""Inches of one and of two columns (89 and 183 mm: Nature's, and within a millimetre or so IEEE's and Elsevier's)."""

MARKS = (("o", "-"), ("s", "--"), ("^", "-."), ("D", ":"), ("x", "-"), ("v", "--"))
"""Markers and dashes, in the order of lines."""

NARROW = 1.7
"""Inches below which panels do not stand beside each other."""

FAINT = {"color": "grey", "linewidth": 0.8}
"""A line that is there for comparison."""


def check(
    table: pd.DataFrame, function: str, *, numbers: Iterable[str] = (), labels: Iterable[str] = ()
) -> None:
    """Refuse a table that a figure cannot be drawn from.

    Parameters
    ----------
    table : DataFrame
    function : str
        Name of the calling function, for the message.
    numbers, labels : iterable of str
        Columns it must have: those that hold numbers, and those that may hold anything.

    Raises
    ------
    TypeError
        Anything but a DataFrame.
    ValueError
        Missing columns, all of them in one message; columns without numbers where numbers are needed; no rows.
    """
    if find_spec("matplotlib") is None:
        raise ModuleNotFoundError("skem.plots needs Matplotlib: pip install matplotlib pandas")
    if not (hasattr(table, "columns") and hasattr(table, "dtypes")):
        raise TypeError(
            f"skem.plots.{function}: the table is a {type(table).__name__}; give a pandas DataFrame"
        )
    numbers = list(numbers)
    needed = [*labels, *numbers]
    missing = [name for name in needed if name not in table]
    if missing:
        found = [str(name) for name in table]
        close = {name: difflib.get_close_matches(name, found, n=1, cutoff=0.8) for name in missing}
        meant = ", ".join(f"{names[0]} to {name}" for name, names in close.items() if names)
        rename = f" (rename {meant}?)" if meant else ""
        fault = f"lacks {_columns(missing)}{rename}; it has {_columns(found) if found else 'no columns'}"
    elif not len(table):
        fault = "has no rows"
    else:
        # A column without any value has no type to speak of.
        wrong = [
            name for name in numbers if table[name].dtype.kind not in "iuf" and table[name].notna().any()
        ]
        if not wrong:
            return
        kinds = ", ".join(dict.fromkeys(str(table[name].dtype) for name in wrong))
        fault = f"has {kinds} instead of numbers in {_columns(wrong)}"
    raise ValueError(f"skem.plots.{function}: the table {fault}; needed: {', '.join(needed)}")


def _columns(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:20])) + ", ..." * (len(names) > 20)
    return f"column{'s' * (len(names) > 1)} {shown}"


def inches(columns: int | None, width: float | None, default: float) -> float:
    """The width of a figure."""
    if columns is not None and width is not None:
        raise ValueError(
            f"columns={columns} and width={width} exclude each other; give columns or width, not both"
        )
    if columns is not None and columns not in WIDTHS:
        raise ValueError(f"columns is {columns!r}; allowed: 1, 2, or width in inches for anything else")
    if width is not None and not (isinstance(width, Real) and width > 0):
        raise ValueError(f"width is {width!r}; allowed: a positive number of inches, or columns=1 or 2")
    return width or (WIDTHS[columns] if columns else default)


def grid(lines: int, across: int, width: float, aspect: float, legend: float = 0.0, **kwargs: Any) -> Any:
    """Panels of the same height / width, and inches for a legend below them."""
    import matplotlib.pyplot as plt

    height = width / across * aspect * lines + legend
    figure = plt.figure(figsize=(width, height), layout="constrained")
    return figure.subplots(lines, across, squeeze=False, **kwargs)


def name_cut(ax: Axes) -> None:
    """Say in the panel which data its vertical axis cuts or leaves out."""
    from matplotlib.collections import LineCollection, PolyCollection

    low, high = sorted(ax.get_ylim())
    counts: dict[str, Counter[str]] = {"cut": Counter(), "left out": Counter()}

    def count(word: str, y: Any) -> None:
        y = np.asarray(y, dtype=float)
        shown = ((y >= low) & (y <= high))[np.isfinite(y)]
        if not shown.all():
            counts["cut" if shown.any() else "left out"][word] += 1

    for line in ax.get_lines():
        if line.get_linestyle() != "None" and line.get_transform() == ax.transData:  # no caps of bars
            count("curve", line.get_ydata())
    for drawn in ax.collections:
        if isinstance(drawn, LineCollection):
            for segment in drawn.get_segments():
                count("bar", np.reshape(segment, (-1, 2))[:, 1])  # none of a bar without a length
        elif isinstance(drawn, PolyCollection):
            for path in drawn.get_paths():
                count("band", np.asarray(path.vertices)[:, 1])
    lines = [
        f"{how}: " + ", ".join(f"{n} {word}{'s' * (n > 1)}" for word, n in found.items())
        for how, found in counts.items()
        if found
    ]
    ax.text(
        0.98, 0.02, "\n".join(lines), transform=ax.transAxes, ha="right", va="bottom", fontsize="xx-small"
    )


def add_legend(figure: Figure, width: float, each: float = 2.3, last: Iterable[str] = ()) -> None:
    """One for all panels, below them, each label once; as many beside each other as fit, some labels last."""
    handles: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    last = set(last)
    handles = dict(sorted(handles.items(), key=lambda item: item[0] in last))
    across = max(1, min(int(width // each), len(handles)))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=across, fontsize="small", frameon=False
    )  # fmt: skip
