"""The ledger of several papers, from what a run left or from what is committed of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skem.repro import papers
from skem.repro.files import write_table, write_text
from skem.repro.ledger import sentences, stated_claims, summary, verdicts
from skem.repro.ledger.estimates import Claim
from skem.repro.ledger.readings import Reading

TITLE = "What the papers claim"
DIGITS = 10
"""Of the numbers in a ledger: fewer than those in which processors and versions of libraries differ."""


def ledgers(
    evidence: Mapping[str, papers.Files],
    settings: Mapping[str, Any],
    config: str | Path = "config",
    alone: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every claim of some papers, or of all, held against what was measured.

    Parameters
    ----------
    evidence : mapping
        By paper, the files that its evidence is read from.
    settings : mapping
        By paper, what `papers.settings` returns.
    config : path
    alone : bool
        Leave out the claims of other papers.

    Returns
    -------
    ledger, readings : DataFrame
        As `summary.ledger`.
    """
    config = Path(config)
    protocols = sentences.read(config).protocols
    stated = stated_claims.read(config / "claims.csv", protocols, papers.titles(config))
    judged = {
        name: (papers.load(name), papers.load(name).evidence(files, stated, settings[name]))
        for name, files in evidence.items()
    }
    questions = {name: papers.questions(name, stated, settings[name], config) for name in evidence}

    def judge(claim: Claim, reading: Reading) -> verdicts.Judgement:
        if claim["paper"] not in judged:
            return verdicts.Judgement("cited" if claim["external"] == "yes" else "not built")
        paper, found = judged[claim["paper"]]
        return paper.judge(found.under(reading) if reading.options else found, claim)

    links = papers.links(stated, config)
    if alone:
        stated = stated[stated["paper"].isin(judged)]
    table, readings = summary.ledger(stated, judge, links, questions)
    return _rounded(table), _rounded(readings)


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    numbers = table.select_dtypes(np.floating).columns
    return table.assign(**{c: table[c].map(lambda value: float(f"{value:.{DIGITS}g}")) for c in numbers})


def write(
    table: pd.DataFrame,
    readings: pd.DataFrame,
    named: list[str],
    paths: Mapping[str, str | Path],
    title: str = TITLE,
) -> None:
    """A ledger as files; claims about time stand apart, as they are never the same twice.

    Parameters
    ----------
    table, readings : DataFrame
        What `ledgers` returns.
    named : list of str
        Papers whose claims are shown in Markdown.
    paths : mapping
        csv, md, timing_csv, timing_md, measured_csv, measured_md and readings; only those that are there are written.
    """
    timed = table["quantity"].isin(verdicts.TIMED)
    contents = {
        "csv": table[~timed],
        "md": lambda: summary.to_markdown(title, table[~timed], named),
        "timing_csv": table[timed],
        "timing_md": lambda: summary.to_markdown(f"{title} about time", table[timed], named),
        "measured_csv": summary.distinct(table[~timed]),
        "measured_md": lambda: summary.measured_to_markdown(table[~timed], named),
        "readings": readings[~readings["id"].isin(table.loc[timed, "id"])] if len(readings) else readings,
    }
    for name, content in contents.items():
        if name in paths:
            if isinstance(content, pd.DataFrame):
                write_table(paths[name], content)
            else:
                write_text(paths[name], content())  # type: ignore[operator]


FILES = {
    "csv": "claims.csv",
    "md": "claims.md",
    "timing_csv": "claims_timing.csv",
    "timing_md": "claims_timing.md",
    "measured_csv": "measured_claims.csv",
    "measured_md": "measured_claims.md",
    "readings": "readings.csv",
}
"""The files of a ledger."""


def recompute(reference: str | Path, folder: str | Path, config: str | Path = "config") -> list[str]:
    """The whole ledger from what is committed of a run, written to a folder.

    Returns
    -------
    list of str
        Names of files that are not, byte for byte, those of the reference.

    Raises
    ------
    ValueError
        If the reference has no values.
    """
    reference, folder = Path(reference), Path(folder)
    if not (reference / "values").is_dir():
        raise ValueError(
            f"{reference} has no values: an older version wrote it; `snakemake reference` copies them"
        )
    records: papers.Named = {path.stem: path for path in sorted((reference / "data").glob("*.json"))}
    evidence: dict[str, papers.Files] = {}
    for name in papers.names():
        there = sorted((reference / "values").glob(f"{name}_*.csv"))
        values: papers.Named = {path.stem.removeprefix(f"{name}_"): path for path in there}
        evidence[name] = {"values": values, "records": records}
    settings = {name: papers.settings(name, config) for name in evidence}
    table, readings = ledgers(evidence, settings, config)
    write(table, readings, list(evidence), {key: folder / file for key, file in FILES.items()})
    return [
        file
        for file in FILES.values()
        if not (reference / file).exists() or (folder / file).read_bytes() != (reference / file).read_bytes()
    ]
