"""Measure one method on one data set: images, tables, outliers or classes that are left out."""

from functools import partial
from importlib import import_module

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors
from skem.repro.training.histories import Histories

threads.limit_process(1)
with plain_errors(snakemake.log):
    _, dataset, method = snakemake.wildcards
    fit = import_module(snakemake.params.module).fit
    found = Histories()
    arguments = dataset, method, snakemake.params.job, snakemake.input[0], snakemake.params.seed
    found.attempt({"dataset": dataset, "method": method}, partial(fit, *arguments))
    found.write(snakemake.output.scores, snakemake.output.seconds, snakemake.output.predictions)
    environment.record(snakemake.output)
