"""Hayashi and Uchida (2021): figures, and measures of its claims."""

from skem.repro.papers.hayashi2021.figures import FIGURES
from skem.repro.papers.hayashi2021.measures import FUNCTIONS, declared, names

__all__ = ["FIGURES", "FUNCTIONS", "declared", "names"]
