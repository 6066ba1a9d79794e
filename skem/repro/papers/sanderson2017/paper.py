"""Sanderson and Curtin (2017): figures, and measures of its claims."""

from skem.repro.papers.sanderson2017.figures import FIGURES
from skem.repro.papers.sanderson2017.measures import FUNCTIONS, declared, names

__all__ = ["FIGURES", "FUNCTIONS", "declared", "names"]
