"""Messages of a run in the terminal."""

import logging
import time
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_skem import LogHandler


@pytest.fixture
def log(capsys):
    """Log a record with these fields, and return what the terminal has of it."""
    handler = LogHandler(SimpleNamespace(stdout=False), None)

    def written(message=None, **fields):
        record = logging.LogRecord("snakemake", logging.INFO, "", 0, message, None, None)
        vars(record).update(fields)
        handler.emit(record)
        return capsys.readouterr().err.strip()

    stats = {"train": 9, "history": 3, "total": 12}
    written("Job stats: ...", event=LogEvent.RUN_INFO, stats=stats)
    return written


def start(log, jobid, rule, message=None, priority=0, **wildcards):
    fields = {"jobid": jobid, "rule_name": rule, "rule_msg": message, "wildcards": wildcards}
    fields["priority"] = priority
    return log(event=LogEvent.JOB_INFO, **fields).partition(" ")[2]


def test_one_line_per_job(log):
    assert start(log, 7, "fetch_data", "fetching rice") == "1 of 12: fetching rice"
    assert start(log, 8, "train", dataset="rice") == "2 of 12: train dataset rice"
    assert start(log, 7, "fetch_data", "fetching rice") == "1 of 12: fetching rice"  # tried again
    assert log("Finished", event=LogEvent.JOB_FINISHED, job_id=7) == ""
    assert log("Select jobs to execute...") == ""
    assert log("a fault", event=LogEvent.JOB_ERROR) == "a fault"


@pytest.mark.parametrize(("priority", "minutes"), [(0, 11), (12, 2)])
def test_minutes_to_go_are_scaled_by_the_jobs_that_are_done(log, monkeypatch, priority, minutes):
    """With data sets of several sizes the largest are done first."""
    begin = time.monotonic()
    for jobid in range(4):
        start(log, jobid, "train", priority=priority)
        log("Finished", event=LogEvent.JOB_FINISHED, job_id=jobid)
    # Four of nine trainings in eight minutes; the other rule takes little.
    monkeypatch.setattr(time, "monotonic", lambda: begin + 480)
    assert start(log, 9, "train") == f"5 of 12, {minutes} minutes to go: train"
