"""Jobs of the papers: what the scripts of ``workflow/scripts`` have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table


def run(job: Any, function: Callable[..., Any], timed: bool = False) -> None:
    """Call a function with the arguments of a job, Snakemake's object, and write the tables that it returns; empty ones without data.

    The function returns the rows of a single output, or those of several by name. It has one thread, if it is not ``timed``.
    """
    if not timed:
        threads.limit_process(1)
    with plain_errors(job.log):
        outputs, records = job.output, job.input.get("data", [])
        tables = {}
        if all(read_json(path)["available"] for path in ([records] if isinstance(records, str) else records)):
            made = function(**job.params.arguments)
            tables = made if isinstance(made, dict) else dict.fromkeys(outputs.keys(), made)
        for name, path in outputs.items():
            write_table(path, tables.get(name, []))
        environment.record(outputs)
