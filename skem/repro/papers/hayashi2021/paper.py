"""Hayashi and Uchida (2021): what the rest of the reproduction asks of it."""

from __future__ import annotations

import pandas as pd

from skem.repro.files import read_table
from skem.repro.papers import Files
from skem.repro.papers.hayashi2021.evidence import Evidence
from skem.repro.papers.hayashi2021.figures import FIGURES
from skem.repro.papers.hayashi2021.judges import judge, knows
from skem.repro.papers.hayashi2021.settings import Settings

__all__ = ["FIGURES", "evidence", "judge", "knows"]


def evidence(files: Files, stated: pd.DataFrame, settings: Settings) -> Evidence:
    """What a run left: ``values`` (errors and components, images, what goes with them), or none."""
    tables = {name: read_table(path) for name, path in files["values"].items()}
    errors, components, images = (
        tables.get(name, pd.DataFrame()) for name in ("errors", "components", "images")
    )
    return Evidence(errors, components, settings, stated, images)
