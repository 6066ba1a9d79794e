"""Times of this checkout and of a base revision, measured in turns by fresh processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from itertools import cycle, permutations
from time import perf_counter
from typing import Any

import pandas as pd

from skem.repro.gate import comparison, revisions, worker

STEADY = {
    "MALLOC_MMAP_THRESHOLD_": "1000000000",
    "MALLOC_TRIM_THRESHOLD_": "4000000000",
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Variables of the processes. Page faults of new memory take as long as the work, and processes differ in them, so glibc keeps memory;
and threads that wait for work would count as work."""

ROUNDS, PAIRS, MINUTES = 4, 25, 3
"""Rounds, and turns of each process in a round; after these, rounds of undecided cases begin within so many minutes."""

SIDES = ("base", "head", "control")
"""The base revision, this checkout, and the base revision again."""


def measure(commit: str, rounds: int = ROUNDS, pairs: int = PAIRS, minutes: float = MINUTES) -> pd.DataFrame:
    """Time every case against a base commit until its outcome is reached, or ``minutes`` have passed.

    A round starts three processes, each of which times a case ``pairs`` times; there are at least ``rounds`` rounds.
    Columns: round, pair, case, side, seconds.
    """
    orders, end = cycle(permutations(SIDES)), perf_counter() + 60 * minutes
    rows: list[dict[str, Any]] = []
    cases: Collection[str] = worker.CASES
    with tempfile.TemporaryDirectory() as base:
        revisions.extract(commit, base)
        number = 0
        while cases and (number < rounds or perf_counter() < end):
            rows += _round(number, base, cases, pairs, orders)
            number += 1
            if number >= rounds:
                table = comparison.compare_times(pd.DataFrame(rows))
                cases = list(table.loc[table["outcome"] == "not decided", "case"])
    return pd.DataFrame(rows)


def _round(
    number: int, base: str, cases: Collection[str], pairs: int, orders: Iterator[tuple[str, ...]]
) -> list[dict[str, Any]]:
    rows = []
    with ExitStack() as stack:
        processes = {
            side: stack.enter_context(_start(os.getcwd() if side == "head" else base)) for side in SIDES
        }
        for case in cases:
            warm_up = {side: _seconds(process, case) for side, process in processes.items()}
            if warm_up["head"] is None:
                raise RuntimeError(f"{case} cannot be timed: this checkout raises the error above")
            if None in warm_up.values():  # a feature that the base does not have
                continue
            for pair in range(pairs):
                for side in next(orders):
                    labels = {"round": number, "pair": pair, "case": case, "side": side}
                    rows.append(labels | {"seconds": _seconds(processes[side], case)})
    return rows


def _start(checkout: str) -> subprocess.Popen[str]:
    """Start a worker with the library of a checkout."""
    command = [sys.executable, "-P", worker.__file__]
    environment = os.environ | STEADY | {"PYTHONPATH": checkout}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=checkout, env=environment, stdin=pipe, stdout=pipe, text=True)


def _seconds(process: subprocess.Popen[str], case: str) -> float | None:
    assert process.stdin
    assert process.stdout
    try:
        print(case, file=process.stdin, flush=True)
        return json.loads(process.stdout.readline())
    except (OSError, ValueError):
        raise RuntimeError(
            f"a process that times {case} has ended; its message is above. If the base needs packages that are "
            "not installed, install them, or compare accuracies only: --config gate=accuracy"
        ) from None
