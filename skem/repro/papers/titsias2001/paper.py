"""Titsias and Likas (2001): what the rest of the reproduction asks of it."""

from __future__ import annotations

import pandas as pd

from skem.repro.files import read_json, read_table
from skem.repro.papers import Files
from skem.repro.papers.titsias2001.evidence import Evidence
from skem.repro.papers.titsias2001.figures import FIGURES
from skem.repro.papers.titsias2001.judges import JUDGED, judge, knows
from skem.repro.papers.titsias2001.settings import Settings
from skem.repro.papers.titsias2001.tables import cells

__all__ = ["FIGURES", "JUDGED", "evidence", "judge", "knows"]


def evidence(files: Files, stated: pd.DataFrame, settings: Settings) -> Evidence:
    """What a run left: ``values`` (values, timing and examples), or none, and ``records`` by source."""
    tables = {name: read_table(path) for name, path in files["values"].items()}
    return Evidence(
        tables.get("values", pd.DataFrame()),
        tables.get("timing", pd.DataFrame()),
        tables.get("examples", pd.DataFrame()),
        {source: read_json(path) for source, path in files["records"].items()},
        cells(stated),
        settings,
    )
