"""Figures from tidy tables: one call each, returning the Axes, in the user's own style.

Colours, fonts and line widths come from matplotlib's settings and nothing is set globally, so ``plt.style.use`` and
``plt.rc_context`` work as they do for one's own figures. Lines differ by marker and dash as well as by
colour, so that they stay distinct in grey.

Every function takes ``columns``: 1 or 2 of a journal's page, `WIDTHS` inches; ``width`` is any other number of
inches. Without either, a figure has the size that its panels need on a screen. In a narrow figure panels stand below
each other. ``ax=``, where a figure may have a single panel, draws into Axes that are there. A panel whose vertical axis cuts
curves, bars or bands counts them.

A figure shows the table and nothing else: what to compare with, and names to print instead of the table's, are passed
in. A table that is empty, lacks a column or has text where numbers are needed is refused with a `ValueError` that
says which columns it must have.
"""

from skem.plots._panels import WIDTHS
from skem.plots.components import (
    accuracy_by_components,
    cost_by_components,
    criterion_by_components,
    sharing_by_components,
)
from skem.plots.iterations import accuracy_by_iteration
from skem.plots.sharing import shared_components
from skem.plots.starts import advantage
from skem.plots.times import engine_scaling

__all__ = [
    "WIDTHS",
    "accuracy_by_components",
    "accuracy_by_iteration",
    "advantage",
    "cost_by_components",
    "criterion_by_components",
    "engine_scaling",
    "shared_components",
    "sharing_by_components",
]
