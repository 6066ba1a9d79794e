"""Jobs that compute: what the scripts of ``workflow/scripts`` have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table


@contextmanager
def recorded(job: Any, n_threads: int | None = 1) -> Iterator[None]:
    """Run a job, Snakemake's object, on so many threads, with `plain_errors`, and record its environment; None sets no limit."""
    if n_threads is not None:
        threads.limit_process(n_threads)
    with plain_errors(job.log):
        yield
        environment.record(job.output)


def run(job: Any, function: Callable[..., Any], n_threads: int | None = 1) -> None:
    """Call a function with the arguments of a job, and write the tables that it returns; empty ones without data.

    The function returns the rows of a single output, or those of several by name.
    """
    with recorded(job, n_threads):
        outputs, records = job.output, job.input.get("data", [])
        tables = {}
        if all(read_json(path)["available"] for path in ([records] if isinstance(records, str) else records)):
            made = function(**job.params.arguments)
            tables = made if isinstance(made, dict) else dict.fromkeys(outputs.keys(), made)
        for name, path in outputs.items():
            write_table(path, tables.get(name, []))
