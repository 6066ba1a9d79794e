"""Time the gate's cases: base and head in turns, or, without a base, cases and a matrix product."""

import json
import subprocess
import sys
from pathlib import Path

from skem import revisions
from skem.files import plain_errors, write_table

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


with plain_errors():
    base = {}
    if snakemake.input.plan.endswith(".json"):
        base = json.loads(Path(snakemake.input.plan).read_text(encoding="utf-8")).get("base", {})
    here = (sys.executable, ".")
    there = (base.get("python"), base.get("path"))
    sides = {"base": there, "head": here, "control": there} if base else {"head": here}
    rows = []
    for number in range(snakemake.params.rounds):
        workers = {side: Worker(*where) for side, where in sides.items()}
        cases = [case for case in workers["head"].hello["cases"] if case != "product"]
        for case in cases:
            order = list(workers)
            # The first answer is a warm-up, and what only some sides can do is not compared.
            if any(workers[side].seconds(case) is None for side in order):
                continue
            for pair in range(snakemake.params.pairs):
                order = order[pair % len(order) :] + order[: pair % len(order)]
                for side in order if pair % 2 else order[::-1]:
                    labels = {"round": number, "pair": pair, "case": case, "side": side}
                    rows.append(labels | {"seconds": workers[side].seconds(case)})
                if not base:
                    product = workers["head"].seconds("product")
                    rows.append(
                        {"round": number, "pair": pair, "case": case, "side": "base", "seconds": product}
                    )
        for worker in workers.values():
            worker.close()
    write_table(snakemake.output[0], rows)
