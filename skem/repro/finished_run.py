"""The end of a run: its environment, and its summary in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from skem.repro import environment
from skem.repro.files import read_json, read_table, write_json
from skem.repro.protocols import LABELS

PAPER = "config/paper.yaml"
"""Overlay with all that Pulford (2022) reports."""

PROTOCOLS = ("test_selected_iteration", "validation_selected_iteration", "nested")
COLUMNS = ("data set", "paper", *(LABELS[protocol] for protocol in PROTOCOLS))
"""Columns of a table of accuracies that fit into a terminal."""


def attempts(source: str) -> int:
    """Number of attempts so far to fetch a data set that was unavailable."""
    record = _record(source)
    return record.get("attempt", 0) + (record.get("available") is False)


def _record(source: str) -> dict[str, Any]:
    """Record of a data set; empty if there is none, or it is damaged: the rule that reads it names the file."""
    try:
        return dict(read_json(f"results/data/{source}.json"))
    except (FileNotFoundError, ValueError):
        return {}


def record_environment() -> None:
    """Record the environment of the results, some of which this run has made."""
    path = Path("results/environment.json")
    if path.exists() and (found := environment.of_results()) != read_json(path):
        write_json(path, found)
        if several := environment.mixture(found):
            print(f"warning: {several}; {path} lists them", file=sys.stderr)


def show(
    started: float,
    cores: int,
    config: Sequence[str],
    *,
    tables: Iterable[str],
    others: Iterable[str],
    sources: Iterable[str],
    datasets: Iterable[str],
) -> None:
    """Print accuracies, totals of the claims, missing results and the duration, if the run made its tables; 25 lines at most."""
    shown = [path for path in map(Path, tables) if path.exists()]
    made = [path for path in map(Path, others) if path.exists()]
    if not made or any(path.stat().st_mtime < started for path in shown):
        return
    seconds = time.time() - started
    for path in shown:
        *titles, table = path.read_text(encoding="utf-8").split("\n\n")[:3]
        rows = [line.split("|") for line in table.splitlines()]
        kept = [column for column, name in enumerate(rows[0]) if name.strip() in COLUMNS]
        if kept and len({*map(len, rows)}) == 1:
            table = "\n".join("|".join(row[column] for column in kept).rstrip() for row in rows)
        print("", *titles, table, f"Other columns, baselines and notes: {path}", sep="\n")
    if (path := Path("results/summary.json")).exists():
        from skem.repro import papers
        from skem.repro.ledger import totals
        from skem.repro.ledger.outcomes import NOT_RUN

        found = read_json(path)
        print(f"\nClaims of the papers:\n{totals.by_outcome(found, papers.titles()).to_string(index=False)}")
        if count := found[totals.ALL][totals.key(NOT_RUN)]:
            commands = found[totals.ALL]["commands"]
            if PAPER not in config:
                commands = [f"snakemake --cores all --configfile {PAPER}", *commands]
            measure = f" Measure them: {'; '.join(commands)}" if commands else ""
            print(f"{count} claims were not run; results/claims.csv says why.{measure}")
    if absent := [source for source in sources if _record(source).get("available") is False]:
        print(
            f"Not available, and left out: {', '.join(absent)}; results/logs/data/*.log say why, and how to get them."
        )
    records = (Path(f"results/failed/{dataset}.csv") for dataset in datasets)
    failed = {path.stem: len(read_table(path)) for path in records if path.exists()}
    if said := [f"{dataset} {count}" for dataset, count in failed.items() if count]:
        print(f"Failed, and left out: {', '.join(said)}; results/failed/*.csv say why.")
    places = [f"results/{name}" for name in ("claims.md", "claims.csv", "tables", "figures")]
    print(f"Results: {', '.join(place for place in places if Path(place).exists())}")
    print("One page of all: snakemake report --cores all")
    print(f"{seconds / 60:.1f} minutes on {cores} cores")
    finished = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    record = {"seconds": round(seconds, 1), "cores": cores, "config": list(config), "finished": finished}
    write_json("results/run.json", record)
