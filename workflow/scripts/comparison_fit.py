"""Measure one method on the data sets of a part of the comparison."""

from skem.repro.comparison import jobs
from skem.repro.jobs import recorded

with recorded(snakemake):
    params, output = snakemake.params, snakemake.output
    found = jobs.run(*snakemake.wildcards, params.jobs, snakemake.input, params.seed)
    found.write(output.scores, output.seconds, output.predictions)
