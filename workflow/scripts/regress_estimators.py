"""Fit the estimators that no experiment of the regression test trains."""

from skem.engine import threads
from skem.repro.files import plain_errors, write_json
from skem.repro.gate import estimators

threads.limit_process(1)
with plain_errors():
    write_json(snakemake.output[0], estimators.measure())
