"""Measure one method on one data set: images, tables, outliers or classes that are left out."""

from functools import partial

from skem.engine import threads
from skem.repro import environment
from skem.repro.comparison import jobs
from skem.repro.files import plain_errors
from skem.repro.training.histories import Histories

threads.limit_process(1)
with plain_errors(snakemake.log):
    part, dataset, method = snakemake.wildcards
    found = Histories()
    arguments = part, dataset, method, snakemake.params.job, snakemake.input[0], snakemake.params.seed
    found.attempt({"dataset": dataset, "method": method}, partial(jobs.fit, *arguments))
    found.write(snakemake.output.scores, snakemake.output.seconds, snakemake.output.predictions)
    environment.record(snakemake.output)
