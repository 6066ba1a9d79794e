"""Measure one method on the data sets of a part of the comparison."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.comparison import jobs
from skem.repro.files import plain_errors

threads.limit_process(1)
with plain_errors(snakemake.log):
    params, output = snakemake.params, snakemake.output
    found = jobs.run(*snakemake.wildcards, params.jobs, snakemake.input, params.seed)
    found.write(output.scores, output.seconds, output.predictions)
    environment.record(output)
