"""The end of a run: its environment, its summary in the terminal, and its fitness to become the reference."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from skem.repro import environment
from skem.repro.config.documents import ConfigurationError, read_mapping
from skem.repro.files import read_json, read_table, write_json


def unavailable(sources: Iterable[str]) -> list[str]:
    """List the data sets that the last run recorded as unavailable."""
    found = []
    for source in sources:
        path = Path("results/data", f"{source}.json")
        try:
            if path.exists() and not read_json(path)["available"]:
                found.append(source)
        except ValueError:
            continue  # damaged: the rule that reads it names the file
    return found


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
    """Print the tables of a run, the verdicts, missing results and the duration, if the run made its tables."""
    shown = [path for path in map(Path, tables) if path.exists()]
    made = [path for path in map(Path, others) if path.exists()]
    if not made or any(path.stat().st_mtime < started for path in shown):
        return
    seconds = time.time() - started
    for path in shown:
        print(f"\n{path.read_text(encoding='utf-8')}")
    if Path("results/claims.csv").exists():
        from skem.repro.ledger import summary

        table = summary.overview("results/claims.csv")
        print(f"Claims of the papers, without those about time:\n{table.to_string(index=False)}\n")
    if absent := unavailable(sources):
        print(f"Not available, and left out: {', '.join(absent)}; results/data/*.json say why.")
    for path in (Path(f"results/failed/{dataset}.csv") for dataset in datasets):
        if path.exists() and (count := len(read_table(path))):
            print(f"Failed on {path.stem}, and left out: {count}; {path} says why.")
    print("\n".join(str(path) for path in made if path.suffix in (".md", ".svg")))
    print(f"{seconds / 60:.1f} minutes on {cores} cores")
    finished = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    record = {"seconds": round(seconds, 1), "cores": cores, "config": list(config), "finished": finished}
    write_json("results/run.json", record)


def refuse_fewer_runs(runs: Mapping[str, int]) -> None:
    """Refuse to replace the reference by one of fewer runs."""
    reference = Path("results/reference/configuration.yaml")
    before = read_mapping(reference if reference.exists() else "config/config.yaml")["datasets"]
    fewer = [
        f"{name} {n}, not {before[name]['runs']}"
        for name, n in runs.items()
        if n < before.get(name, {}).get("runs", 0)
    ]
    if fewer:
        raise ConfigurationError(
            f"fewer runs than the reference has: {', '.join(fewer)}; add --configfile config/paper.yaml, "
            "or --config reference=anyway to make it the reference nevertheless"
        )


def refuse_fewer_claims(all_targets: Collection[str], targets: Collection[str]) -> None:
    """Refuse a reference without the claims of every paper."""
    if absent := set(all_targets) - {"all", *targets}:
        raise ConfigurationError(
            f"the claims of {', '.join(sorted(absent))} are not part of this command; add these targets, "
            "or --config reference=anyway to make it the reference nevertheless"
        )
