"""Measure seconds per iteration of some settings, on one thread, with nothing else of this run beside them."""

from functools import partial

from skem.repro.files import write_table
from skem.repro.jobs import recorded
from skem.repro.training import feature_store, iterations
from skem.repro.training.histories import Histories
from skem.repro.training.settings import Setting

FEW = 6
"""Iterations of each of several settings that share a unit."""

with recorded(snakemake):
    params = snakemake.params
    for output, settings, paths in zip(snakemake.output, params.units, params.features, strict=True):
        unit = [Setting(**setting) for setting in settings]
        features = feature_store.read(paths, unit[0].spec, ["all"], [0])
        count = params.iterations if len(unit) == 1 else FEW
        found = Histories()
        for setting in unit if features else []:
            # A setting that fails has no times; its failure is recorded where it is trained.
            found.attempt(
                {"timing": setting.name}, partial(iterations.timed, setting, features, count, params.seed)
            )
        write_table(output, found.seconds)
