"""Fit the settings of a unit on a batch of runs, and record every iteration."""

from functools import partial

from skem.repro.jobs import recorded
from skem.repro.training import feature_store, iterations
from skem.repro.training.histories import Histories
from skem.repro.training.settings import Setting

with recorded(snakemake, snakemake.threads):
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
