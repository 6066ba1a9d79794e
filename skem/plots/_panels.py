"""Tables, panels, widths and legends, the same in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
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
        Who asks.
    numbers, labels : iterable of str
        Columns it must have: those that hold numbers, and those that may hold anything.

    Raises
    ------
    ValueError
        If a column is missing or holds no numbers where it must, or if there are no rows.
    """
    numbers = list(numbers)
    needed = [*labels, *numbers]
    missing = [name for name in needed if name not in table]
    if missing:
        fault = f"has no column {' and no column '.join(map(repr, missing))}"
    elif not len(table):
        fault = "has no rows"
    else:
        # A column without any value has no type to speak of.
        wrong = [
            name for name in numbers if table[name].dtype.kind not in "iuf" and table[name].notna().any()
        ]
        if not wrong:
            return
        fault = ", ".join(f"has {table[name].dtype} instead of numbers in column {name!r}" for name in wrong)
    raise ValueError(
        f"skem.plots.{function}: the table {fault}; it must have the columns {', '.join(needed)}"
    )


def inches(columns: int | None, width: float | None, default: float) -> float:
    """The width of a figure."""
    if columns is not None and width is not None:
        raise ValueError("give columns or width, not both")
    if columns is not None and columns not in WIDTHS:
        raise ValueError(f"columns is {columns!r}; allowed: 1, 2, or width in inches for anything else")
    if width is not None and not width > 0:
        raise ValueError(f"width is {width!r}, not a number of inches")
    return width or (WIDTHS[columns] if columns else default)


def grid(lines: int, across: int, width: float, aspect: float, legend: float = 0.0, **kwargs: Any) -> Any:
    """Panels of the same height / width, and inches for a legend below them."""
    import matplotlib.pyplot as plt

    height = width / across * aspect * lines + legend
    figure = plt.figure(figsize=(width, height), layout="constrained")
    return figure.subplots(lines, across, squeeze=False, **kwargs)


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
