"""Titsias and Likas (2001): figures, and measures of its claims."""

from skem.repro.papers.titsias2001.figures import FIGURES
from skem.repro.papers.titsias2001.measures import FUNCTIONS, declared, names

__all__ = ["FIGURES", "FUNCTIONS", "declared", "names"]
