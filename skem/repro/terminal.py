"""Snakemake's messages in the terminal: one line per job, with its number and the number of all jobs."""

from __future__ import annotations

import logging
import time
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

HIDDEN = {LogEvent.PROGRESS, LogEvent.JOB_FINISHED}
"""Events whose content the line of the next job has."""


def one_line_per_job(logger: logging.Logger, workflow: Any) -> None:
    """Shorten what Snakemake writes about jobs that start and end; errors keep all their lines."""
    numbers: dict[int, int] = {}  # a job that is tried again keeps its number

    def shorten(record: logging.LogRecord) -> bool:
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO:
            job: Any = record
            number = numbers.setdefault(job.jobid, len(numbers) + 1)
            named = ", ".join(f"{name} {value}" for name, value in job.wildcards.items())
            about = job.rule_msg or f"{job.rule_name} {named}".strip()
            clock = time.strftime("%H:%M:%S", time.localtime(record.created))
            record.msg, job.event = f"{clock} {number} of {len(workflow.dag)}: {about}", None
        return event not in HIDDEN and not str(record.msg).startswith(("Select jobs to ", "Execute "))

    for handler in logger.handlers[:1]:  # the terminal's; the log file comes later
        handler.addFilter(shorten)
