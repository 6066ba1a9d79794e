"""Snakemake's messages in the terminal: one line per job, with the jobs that are left and an estimate of the minutes to go.

Snakemake finds the package by its name; ``logger: skem`` in the profile selects it.
"""

import re
import sys
import time
from collections import Counter
from logging import ERROR, LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from skem.repro.config import targets

HIDDEN = (LogEvent.PROGRESS, LogEvent.JOB_FINISHED)
"""Events whose content the line of the next job has."""

SECONDS = Counter(
    train=20, baseline=40, features=8, time_iterations=10, comparison_features=20, comparison_fit=100
)
"""CPU seconds of a job on average, about, and two of any other rule. Only their ratios count: the estimate is scaled by the time so far."""

LARGEST_FIRST = ("train", "baseline", "features")
"""Rules that start with the largest of several data sets: the last share x of the jobs takes a share x^3 of the seconds. In the
default run the last half takes 17%, of the full run the last three quarters 40%."""


class LogHandler(LogHandlerBase):
    """Write messages to the terminal; errors keep Snakemake's words."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self._numbers: dict[int, int] = {}  # a job that is tried again keeps its number
        self._rules: dict[int, str] = {}
        self._jobs: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._has_sizes = False
        self._started = time.monotonic()

    def emit(self, record: LogRecord) -> None:
        """Write a record, in a line if it is about a job that starts or a target that is unknown."""
        text = self._text(record)
        if text:
            file = sys.stdout if self.common_settings.stdout and record.levelno < ERROR else sys.stderr
            print(text, file=file, flush=True)

    def _text(self, record: LogRecord) -> str:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self._jobs = Counter(record.stats)
            del self._jobs["total"]
            self._left = self._jobs.copy()
        elif event == LogEvent.JOB_FINISHED:
            self._left[self._rules.pop(record.job_id, "")] -= 1
        elif event == LogEvent.JOB_INFO:
            return self._job(record)
        elif getattr(record, "exception", None) == "MissingRuleException":
            return f"error: {targets.explained(record.getMessage())}"
        elif getattr(record, "exception", None) == "InputFunctionException":
            found = re.search(r"Error:\s+(\w+):\s+(.*?)\nWildcards:", record.getMessage(), re.DOTALL)
            if found and found[1] == "KeyError":
                return f"error: {found[2]} in the name of a file is not part of this configuration"
            return f"error: {found[2]}" if found else self.format(record)
        hidden = event in HIDDEN or record.getMessage().startswith(("Select jobs to ", "Execute "))
        return "" if hidden else self.format(record)

    def _job(self, job: LogRecord) -> str:
        number = self._numbers.setdefault(job.jobid, len(self._numbers) + 1)
        self._rules[job.jobid] = job.rule_name
        # Baselines always have a priority.
        self._has_sizes |= job.rule_name in ("train", "features") and getattr(job, "priority", 0) != 0
        named = ", ".join(f"{name} {value}" for name, value in job.wildcards.items())
        about = job.rule_msg or f"{job.rule_name} {named}".strip()
        clock = time.strftime("%H:%M:%S", time.localtime(job.created))
        total = max(sum(self._left.values()) + len(self._numbers) - len(self._rules), number)
        return f"{clock} {number} of {total}{self._to_go()}: {about}"

    def _to_go(self) -> str:
        """An estimate once jobs worth half a minute are done: seconds so far, scaled to the jobs that are left."""
        done = left = 0.0
        for rule, count in self._jobs.items():
            seconds, share = count * (SECONDS[rule] or 2), self._left[rule] / count
            if self._has_sizes and self._jobs["history"] > 1 and rule in LARGEST_FIRST:
                share **= 3
            left, done = left + seconds * share, done + seconds * (1 - share)
        if done < 30:
            return ""
        minutes = (time.monotonic() - self._started) * left / done / 60
        return f", {minutes:.0f} minutes to go" if minutes >= 1.5 else ", a minute to go"
