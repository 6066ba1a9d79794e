"""Pulford (2022): figures, and measures of its claims."""

from skem.repro.papers.pulford2022.figures import FIGURES
from skem.repro.papers.pulford2022.measures import FUNCTIONS, declared, names

__all__ = ["FIGURES", "FUNCTIONS", "declared", "names"]
