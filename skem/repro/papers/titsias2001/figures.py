"""Figures 3 to 5 of Titsias and Likas (2001)."""

from __future__ import annotations

from skem import plots
from skem.repro.drawing import Figure, together

FIGURES = {
    "titsias_figures3to5": Figure(
        together, lambda table, paper, **size: plots.shared_components(table, **size)
    ),
}
"""By file name."""
