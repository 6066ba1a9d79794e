"""Claims tables of the papers, from the results of a run or from the committed reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from skem.repro import papers
from skem.repro.files import write_json, write_table, write_text
from skem.repro.ledger import cells, claims_page, sentences, stated_claims, summary, totals, verdicts

TITLE = "Claims of the papers"
FILES = {
    "csv": "claims.csv",
    "md": "claims.md",
    "timing_csv": "claims_timing.csv",
    "timing_md": "claims_timing.md",
    "interpretations": "interpretations.csv",
    "summary": "summary.json",
}
"""Files of the claims table. Claims about time stand apart, as they differ in every run."""

Ledger = tuple[pd.DataFrame, pd.DataFrame]
"""A claims table, and its evaluations under every interpretation."""


def evaluate(name: str, files: papers.Files, settings: Any, config: str | Path = "config") -> Ledger:
    """Evaluate the claims of a paper.

    Parameters
    ----------
    name : str
    files : mapping
        Tables of values by name.
    settings : object
        The paper's settings.
    config : path
    """
    config = Path(config)
    protocols = sentences.read(config).protocols
    stated = stated_claims.read(config / "claims.csv", protocols, papers.titles(config))
    own = stated[stated["paper"] == name]
    if name not in papers.names(config):
        return summary.ledger(own, lambda claim, _: verdicts.not_built(claim))
    evaluator = papers.evaluator(name, stated, settings, *cells.read(files), config)
    return summary.ledger(own, evaluator.evaluate, {name: evaluator.rows})


def join(
    written: Mapping[str, Sequence[str | Path]],
    unasked: Mapping[str, papers.Files],
    settings: Mapping[str, Any],
    config: str | Path = "config",
) -> Ledger:
    """Join the claims tables of all papers.

    Parameters
    ----------
    written : mapping
        Paths of csv, timing_csv and interpretations, by paper.
    unasked : mapping
        Tables of values of papers whose claims were not asked for, which are evaluated as far as that goes.
    settings : mapping
        Settings by paper.
    config : path
    """
    parts = [
        _read(*written[name])
        if name in written
        else evaluate(name, unasked.get(name, {}), settings.get(name), config)
        for name in papers.in_order(config)
    ]
    return _concatenated(parts)


def _read(csv: str | Path, timing: str | Path, interpretations: str | Path) -> Ledger:
    table = pd.concat([summary.read(csv), summary.read(timing)], ignore_index=True)
    # As printed, so that "1e-6" stays a name.
    return table, pd.read_csv(interpretations, dtype=str, keep_default_na=False)


def _concatenated(parts: Sequence[Ledger]) -> Ledger:
    table, interpretations = (
        pd.concat([t for t in tables if len(t)] or tables[:1], ignore_index=True)
        for tables in zip(*parts, strict=True)
    )
    return table, interpretations


def write(
    ledger: Ledger,
    named: Sequence[str],
    paths: Mapping[str, str | Path],
    title: str = TITLE,
    config: str | Path = "config",
) -> None:
    """Write a claims table.

    Parameters
    ----------
    ledger : tuple of DataFrame
    named : sequence of str
        Papers whose claims are listed in Markdown.
    paths : mapping
        Some of the keys of `FILES`.
    title : str
    config : path
    """
    table, interpretations = ledger
    timed = table["quantity"].isin(verdicts.TIMED)
    untimed = table[~timed]
    if len(interpretations):
        interpretations = interpretations[interpretations["id"].isin(untimed["id"])]
    words, known = sentences.read(config), papers.titles(config)
    titles = {name: known.get(name, name) for name in named}
    contents: dict[str, Callable[[], Any]] = {
        "csv": lambda: untimed,
        "md": lambda: claims_page.to_markdown(title, table, words, titles),
        "timing_csv": lambda: table[timed],
        "timing_md": lambda: claims_page.times_to_markdown(
            f"{title} about time", table[timed], words, titles
        ),
        "interpretations": lambda: interpretations,
        "summary": lambda: totals.totals(table),
    }
    for name, path in paths.items():
        content = contents[name]()
        if isinstance(content, pd.DataFrame):
            write_table(path, content)
        else:
            (write_text if isinstance(content, str) else write_json)(path, content)


def recompute(reference: str | Path, folder: str | Path, config: str | Path = "config") -> list[str]:
    """Evaluate all claims from the committed values of a run, and write the claims table to a folder.

    Returns
    -------
    list of str
        Names of files that differ from the reference.
    """
    reference, folder = Path(reference), Path(folder)
    parts = []
    for name in papers.in_order(config):
        paths = sorted((reference / "values").glob(f"{name}_*.csv"))
        values = {path.stem.removeprefix(f"{name}_"): path for path in paths}
        settings = papers.settings(name, config) if name in papers.names(config) else None
        parts.append(evaluate(name, values, settings, config))
    write(
        _concatenated(parts),
        papers.names(config),
        {key: folder / file for key, file in FILES.items()},
        config=config,
    )
    return [
        file
        for file in FILES.values()
        if not (reference / file).exists() or (folder / file).read_bytes() != (reference / file).read_bytes()
    ]
