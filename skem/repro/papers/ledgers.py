"""Claims tables of the papers, from the results of a run or from the committed reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from skem.repro import papers
from skem.repro.files import write_json, write_table, write_text
from skem.repro.ledger import cells, claims_page, decisions, sentences, stated_claims, summary, totals

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


def evaluate(
    names: Sequence[str],
    files: Mapping[str, papers.Files],
    settings: Mapping[str, Any],
    config: str | Path = "config",
) -> Ledger:
    """Evaluate the claims of some papers, from files of values by name and settings, both by paper."""
    protocols, known = sentences.read(config).protocols, papers.names(config)
    stated = stated_claims.read(Path(config, "claims.csv"), protocols, known)
    parts = []
    for name in names:
        tables, missing = cells.read(files.get(name, {}))
        evaluator = papers.evaluator(name, stated, settings[name], tables, missing, config)
        own = stated[stated["paper"] == name]
        parts.append(summary.ledger(own, evaluator.evaluate, evaluator.rows))
    table, interpretations = (
        pd.concat([t for t in tables if len(t)] or tables[:1], ignore_index=True)
        for tables in zip(*parts, strict=True)
    )
    return table, interpretations


def write(
    ledger: Ledger, paths: Mapping[str, str | Path], title: str = TITLE, config: str | Path = "config"
) -> None:
    """Write some of `FILES`."""
    table, interpretations = ledger
    timed = table["quantity"].isin(decisions.TIMED)
    untimed = table[~timed]
    if len(interpretations):
        interpretations = interpretations[interpretations["id"].isin(untimed["id"])]
    words, known = sentences.read(config), papers.titles(config)
    titles = {name: known[name] for name in papers.names(config) if name in {*table["paper"]}}
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
    """Evaluate all claims from the committed values of a run; return the files in a folder that differ from the reference."""
    reference, folder = Path(reference), Path(folder)
    names, values = papers.in_order(config), reference / "values"
    files = {
        name: {path.stem.removeprefix(f"{name}_"): path for path in sorted(values.glob(f"{name}_*.csv"))}
        for name in names
    }
    settings = {name: papers.settings(name, config) for name in papers.names(config)}
    paths = {key: folder / file for key, file in FILES.items()}
    write(evaluate(names, files, settings, config), paths, config=config)
    return [
        file
        for file in FILES.values()
        if not (reference / file).exists() or (folder / file).read_bytes() != (reference / file).read_bytes()
    ]
