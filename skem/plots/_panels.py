"""Panels, widths and legends, the same in every figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skem.plots.names import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WIDTHS = {1: 3.5, 2: 7.2}
"""Inches of one and of two columns (89 and 183 mm: Nature's, and within a millimetre or so IEEE's and Elsevier's)."""

_MARKS = (("o", "-"), ("s", "--"), ("^", "-."), ("D", ":"), ("x", "-"), ("v", "--"))
_NARROW = 1.7
"""Inches below which panels do not stand beside each other."""


def _width(columns: int | None, width: float | None, own: float) -> float:
    if columns is not None and width is not None:
        raise ValueError("give columns or width, not both")
    if columns is not None and columns not in WIDTHS:
        raise ValueError(f"columns is {columns!r}; allowed: 1, 2, or width in inches for anything else")
    if width is not None and not width > 0:
        raise ValueError(f"width is {width!r}, not a number of inches")
    return width or (WIDTHS[columns] if columns else own)


def _grid(lines: int, across: int, width: float, aspect: float, legend: float = 0.0, **kwargs: Any) -> Any:
    """Panels of the same height / width, and inches for a legend below them."""
    import matplotlib.pyplot as plt

    height = width / across * aspect * lines + legend
    figure = plt.figure(figsize=(width, height), layout="constrained")
    return figure.subplots(lines, across, squeeze=False, **kwargs)


def _legend(figure: Figure, width: float, each: float = 2.3) -> None:
    """One for all panels, below them, each label once; as many beside each other as fit."""
    labels: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            labels.setdefault(label, handle)
    labels = dict(sorted(labels.items(), key=lambda item: item[0].startswith("paper")))
    across = max(1, min(int(width // each), len(labels)))
    figure.legend(
        labels.values(), labels.keys(), loc="outside lower center", ncols=across, fontsize="small", frameon=False
    )  # fmt: skip


def _title(name: str) -> str:
    return NAMES.get(name, name).replace("-K", ", K = ")
