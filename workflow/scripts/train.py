"""Fit the settings of a unit on a batch of runs, and record every iteration."""

from functools import partial

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors
from skem.repro.training import feature_store, iterations
from skem.repro.training.histories import Histories
from skem.repro.training.settings import Setting

threads.limit_process(snakemake.threads)
with plain_errors(snakemake.log):
    runs = feature_store.runs_of(snakemake.wildcards.batch)
    unit = [Setting(**setting) for setting in snakemake.params.unit]
    rows = [kind for setting in unit for kind in setting.rows]
    features = feature_store.read(snakemake.input, unit[0].spec, rows, runs)
    found = Histories()
    for setting in unit if features else []:
        fit = partial(
            iterations.fit_setting, setting, features, runs, snakemake.params.seed, snakemake.threads
        )
        found.attempt(setting.keys, partial(fit, keep=len(unit) == 1))
    found.write(snakemake.output.history, snakemake.output.seconds, snakemake.output.predictions)
    environment.record(snakemake.output)
