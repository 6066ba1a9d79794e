"""Figures 3 to 5 of Titsias and Likas (2001), and lambda on images."""

from __future__ import annotations

from typing import Any

import pandas as pd

from skem import plots
from skem.repro.drawing import Figure, together
from skem.repro.names import with_configurations
from skem.repro.papers.titsias2001.settings import Settings


def _draw_sharing(table: pd.DataFrame, paper: Settings, **size: Any) -> Any:
    labels = "initialisation by class", "the paper's uniform initialisation"
    return plots.accuracy_by_sharing(
        table, labels=labels, names=with_configurations(table["setting"]), **size
    )


FIGURES = {
    "titsias_figures3to5": Figure(
        together, lambda table, paper, **size: plots.shared_components(table, **size)
    ),
    "titsias_images": Figure(together, _draw_sharing),
}
"""By file name."""
