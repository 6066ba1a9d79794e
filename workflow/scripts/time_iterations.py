"""Measure seconds per iteration of some settings, on one thread, with nothing else of this run beside them."""

from functools import partial

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.training import feature_store, iterations
from skem.repro.training.histories import Histories
from skem.repro.training.settings import Setting

FEW = 6
"""Iterations of each of several settings that share a unit."""


def timed(setting, features, count):
    """Measure a setting; a row per iteration."""
    trial, start = next(iterations.trials_of(setting, features, ["all"], [0], snakemake.params.seed))
    seconds = iterations.seconds_per_iteration(trial, setting.model, setting.params, start, count)
    labels = setting.keys | setting.record | {"threads": 1, "node": environment.node()}
    return Histories(
        seconds=[labels | {"iteration": p, "seconds": s} for p, s in enumerate(seconds, start=2)]
    )


threads.limit_process(1)
with plain_errors(snakemake.log):
    params = snakemake.params
    for output, settings, paths in zip(snakemake.output, params.units, params.features, strict=True):
        unit = [Setting(**setting) for setting in settings]
        features = feature_store.read(paths, unit[0].spec, ["all"], [0])
        count = params.iterations if len(unit) == 1 else FEW
        found = Histories()
        for setting in unit if features else []:
            # A setting that fails has no times; its failure is recorded where it is trained.
            found.attempt({"timing": setting.name}, partial(timed, setting, features, count))
        write_table(output, found.seconds)
    environment.record(snakemake.output)
