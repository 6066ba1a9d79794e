"""Figures 3 to 5 of Titsias and Likas (2001), rows and kernels ready to be drawn; and lambda on images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skem import plots
from skem.repro.drawing import Figure, Tables
from skem.repro.papers.titsias2001.settings import Settings
from skem.repro.papers.titsias2001.tables import gathered
from skem.repro.titles import with_settings

PANELS = {
    "figure3": ("shared", "unsupervised"),
    "figure4": ("separate", "shared"),
    "figure5": ("separate", "shared"),
}
"""What the paper's panels (a) and (b) show."""

WORDS = {
    "shared": "two shared kernels (lambda = 1)",
    "separate": "one kernel per class (lambda = 0)",
    "unsupervised": "two kernels, without labels",
}


def panels(n_rows: int, seeds: Mapping[str, int]) -> list[dict[str, Any]]:
    """Rows and kernels of the figures, as `skem.plots.kernels` draws them.

    Parameters
    ----------
    n_rows : int
    seeds : mapping
        From figure to seed.
    """
    from skem.repro.papers.titsias2001.examples import (
        draw,
        fits,
    )  # estimators, which no other process here needs

    found: list[dict[str, Any]] = []
    for figure, models in PANELS.items():
        X, y = draw(figure, n_rows, seeds[figure])
        fitted = fits(X, y, seeds[figure] % 2**31)
        for model in models:
            panel = {"panel": f"Figure {figure[-1]}: {WORDS[model]}"}
            for x, c in zip(X, y, strict=True):
                found.append(panel | {"class": float(c), "x": x[0], "y": x[1], "radius": np.nan})
            mixture = fitted[model][1]
            shares = mixture.weights / mixture.weights.sum(axis=1, keepdims=True)
            for mean, variance, share in zip(mixture.means, mixture.covariances, shares, strict=True):
                # Nine tenths of its use make a kernel that class's own.
                owner = float(share.argmax()) if share.max() > 0.9 else np.nan
                kernel = {"class": owner, "x": mean[0], "y": mean[1], "radius": float(np.sqrt(variance))}
                found.append(panel | kernel)
    return found


def _panels(tables: Tables, paper: Settings) -> pd.DataFrame:
    return tables["panels"]


def _draw_panels(table: pd.DataFrame, paper: Settings, **size: Any) -> Any:
    return plots.kernels(table, **size)


def _sharing(tables: Tables, paper: Settings) -> pd.DataFrame:
    """Accuracy against lambda on images, beside the start of Pulford (2022), which knows no classes."""
    return gathered(tables.values())


def _draw_sharing(table: pd.DataFrame, paper: Settings, **size: Any) -> Any:
    labels = "start by class", "the paper's uniform start"
    return plots.accuracy_by_sharing(table, labels=labels, names=with_settings(table["setting"]), **size)


FIGURES = {
    "titsias_figures3to5": Figure(_panels, _draw_panels),
    "titsias_images": Figure(_sharing, _draw_sharing),
}
"""By name of file."""
