"""Time what takes a process of its own, base and head in turns: the import of all that is public, and building the DAG."""

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.gate import comparison, revisions

ARGUMENTS = {
    comparison.IMPORT: ["-c", comparison.IMPORT],
    comparison.DAG: ["-m", "snakemake", "--dry-run", "--quiet", "all", "--forceall", "--cores", "1"],
}


def seconds(python, path, case):
    begin = perf_counter()
    done = subprocess.run(
        [python, *ARGUMENTS[case]], cwd=path, env=revisions.environment_for(path), capture_output=True
    )
    return perf_counter() - begin if done.returncode == 0 else None


with plain_errors():
    base = json.loads(Path(snakemake.input.plan).read_text(encoding="utf-8"))["base"]
    sides = {"base": (base["python"], base["path"]), "head": (sys.executable, ".")}
    rows = []
    for case in ARGUMENTS:
        found = [
            {"round": 0, "pair": pair, "case": case, "side": side, "seconds": seconds(*sides[side], case)}
            for pair in range(snakemake.params.pairs)
            for side in (sides if pair % 2 else reversed(sides))
        ]
        # What only one side can do is not compared.
        if all(row["seconds"] is not None for row in found):
            rows += found
    write_table(snakemake.output[0], [row | {"node": environment.node()} for row in rows])
