"""Time the gate's cases: base and head in turns, or, without a base, cases and a matrix product."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd

from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.gate import comparison, revisions

WORKER = str(Path("workflow/scripts/regress_worker.py").resolve())


class Worker:
    """A process with one checkout's skem that times cases on demand."""

    def __init__(self, python, path):
        self.path, self.python = Path(path).resolve(), python
        self.process = subprocess.Popen(
            [python, WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=revisions.environment_for(path),
            cwd=self.path,
        )
        self.hello = json.loads(self.process.stdout.readline() or "{}")
        found = Path(self.hello.get("skem", "")).resolve()
        if not found.is_relative_to(self.path):
            raise RuntimeError(f"the worker of {self.path} runs {found}")

    def seconds(self, case):
        self.process.stdin.write(f"{case}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or '{"error": "the worker died"}').get("seconds")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def time_round(number, sides, pairs, wanted=None):
    """New processes, and every case, or those wanted, in turns; without a base a matrix product stands for it."""
    rows = []
    workers = {side: Worker(*where) for side, where in sides.items()}
    cases = [case for case in workers["head"].hello["cases"] if case != "product"]
    for case in cases if wanted is None else wanted:
        order = list(workers)
        # The first answer is a warm-up, and what only some sides can do is not compared.
        if any(workers[side].seconds(case) is None for side in order):
            continue
        for pair in range(pairs):
            labels = {"round": number, "pair": pair, "case": case}
            order = order[pair % len(order) :] + order[: pair % len(order)]
            for side in order if pair % 2 else order[::-1]:
                seconds = workers[side].seconds(case)
                rows.append(labels | {"side": side, "seconds": seconds})
            if "base" not in sides:
                rows.append(labels | {"side": "base", "seconds": workers["head"].seconds("product")})
    for worker in workers.values():
        worker.close()
    return rows


with plain_errors():
    base = {}
    if snakemake.input.plan:
        base = json.loads(Path(snakemake.input.plan).read_text(encoding="utf-8")).get("base", {})
    here = (sys.executable, ".")
    there = (base.get("python"), base.get("path"))
    sides = {"base": there, "head": here, "control": there} if base else {"head": here}
    rounds, pairs = snakemake.params.rounds, snakemake.params.pairs
    rows = [row for number in range(rounds) for row in time_round(number, sides, pairs)]
    if base:
        # Chance makes equal code look slower now and then: what does is measured again before it is said.
        verdicts = comparison.compare_times(pd.DataFrame(rows)).set_index("case")["verdict"]
        doubtful = verdicts.index[verdicts == "slower"]
        for number in range(rounds, 3 * rounds if len(doubtful) else rounds):
            rows += time_round(number, sides, pairs, doubtful)
    write_table(snakemake.output[0], [row | {"node": environment.node()} for row in rows])
