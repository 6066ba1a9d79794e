"""Sanderson and Curtin (2017): what the rest of the reproduction asks of it."""

from __future__ import annotations

import pandas as pd

from skem.repro.files import read_table
from skem.repro.papers import Files
from skem.repro.papers.sanderson2017.evidence import Evidence
from skem.repro.papers.sanderson2017.figures import FIGURES
from skem.repro.papers.sanderson2017.judges import judge, knows
from skem.repro.papers.sanderson2017.settings import Settings

__all__ = ["FIGURES", "evidence", "judge", "knows"]


def evidence(files: Files, stated: pd.DataFrame, settings: Settings) -> Evidence:
    """What a run left: ``values`` by the names of `evidence.VALUES`, or none."""
    values = {name: read_table(path) for name, path in files["values"].items()}
    return Evidence(values, settings, stated)
