"""Messages of a run in the terminal."""

import io
import logging
from types import SimpleNamespace

from snakemake_interface_logger_plugins.common import LogEvent

from skem.repro import terminal


def test_one_line_per_job():
    logger, stream = logging.Logger("snakemake"), io.StringIO()
    logger.addHandler(logging.StreamHandler(stream))
    terminal.one_line_per_job(logger, SimpleNamespace(dag=[None] * 3))
    jobs = [(7, "fetching rice", {}), (8, None, {"dataset": "rice"}), (7, "fetching rice", {})]
    for jobid, message, wildcards in jobs:
        logger.info("Select jobs to execute...")
        job = {"jobid": jobid, "rule_msg": message, "rule_name": "train", "wildcards": wildcards}
        logger.info(None, extra={"event": LogEvent.JOB_INFO, **job})
        logger.info("Finished", extra={"event": LogEvent.JOB_FINISHED})
    logger.error("a fault", extra={"event": LogEvent.JOB_ERROR})
    lines = [line.partition(" ")[2] for line in stream.getvalue().splitlines()]
    assert lines[:2] == ["1 of 3: fetching rice", "2 of 3: train dataset rice"]
    assert lines[2] == "1 of 3: fetching rice"  # tried again
    assert stream.getvalue().endswith("a fault\n")
