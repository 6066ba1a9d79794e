"""Fit the settings of a unit on a block of runs, and record every pass."""

from functools import partial

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors
from skem.repro.training import feature_store, passes
from skem.repro.training.histories import Histories
from skem.repro.training.settings import Work

threads.limit_process(snakemake.threads)
with plain_errors():
    runs = feature_store.runs_of(snakemake.wildcards.block)
    unit = [Work(**work) for work in snakemake.params.unit]
    rows = [kind for work in unit for kind in work.rows]
    features = feature_store.read(snakemake.input, unit[0].spec, rows, runs)
    found = Histories()
    for work in unit if features else []:
        keys = {"dataset": work.dataset, "method": work.method, "setting": work.name}
        fit = partial(passes.fit_setting, work, features, runs, snakemake.params.seed, snakemake.threads)
        found.attempt(keys, partial(fit, keep=len(unit) == 1))
    found.write(snakemake.output.history, snakemake.output.seconds, snakemake.output.predictions)
    environment.record(snakemake.output)
