"""Pulford (2022): what the rest of the reproduction asks of it."""

from __future__ import annotations

import pandas as pd

from skem.repro.files import read_json, read_table
from skem.repro.papers import Files
from skem.repro.papers.pulford2022.evidence import Evidence
from skem.repro.papers.pulford2022.figures import FIGURES
from skem.repro.papers.pulford2022.judges import judge, knows
from skem.repro.papers.pulford2022.numbers import JUDGED
from skem.repro.papers.pulford2022.settings import Settings

__all__ = ["FIGURES", "JUDGED", "evidence", "judge", "knows"]


def evidence(files: Files, stated: pd.DataFrame, settings: Settings) -> Evidence:
    """What a run left: ``values`` (values, and timing), and ``records`` by source."""
    numbers = stated[stated["kind"] == "number"]
    return Evidence(
        read_table(files["values"]["values"]),
        read_table(files["values"]["timing"]),
        {source: read_json(path) for source, path in files["records"].items()},
        dict(zip(numbers["id"], numbers["value"].map(float), strict=True)),
        settings,
    )
