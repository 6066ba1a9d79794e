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
from typing import Any

import pandas as pd

from skem.repro.gate import comparison, revisions, worker

SIDES = ("base", "head", "control")
"""The base revision, this checkout, and the base revision again."""


def measure(commit: str, rounds: int, pairs: int) -> pd.DataFrame:
    """Time every case against a base commit; measure cases that look slower three times as often.

    A round starts three processes, each of which times a case ``pairs`` times. Columns: round, pair, case, side, seconds.
    """
    orders = cycle(permutations(SIDES))
    with tempfile.TemporaryDirectory() as base:
        revisions.extract(commit, base)
        rows = [row for i in range(rounds) for row in _round(i, base, worker.CASES, pairs, orders)]
        table = comparison.compare_times(pd.DataFrame(rows))
        slower = list(table.loc[table["verdict"] == "slower", "case"])
        for i in range(rounds, 3 * rounds if slower else rounds):
            rows += _round(i, base, slower, pairs, orders)
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
    environment = os.environ | {"PYTHONPATH": checkout}
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
