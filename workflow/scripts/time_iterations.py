"""Measure seconds per iteration of some settings, on one thread, with nothing else of this run beside them."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.training import feature_store, iterations
from skem.repro.training.histories import Histories
from skem.repro.training.settings import Setting

threads.limit_process(1)
with plain_errors(snakemake.log):
    unit = [Setting(**setting) for setting in snakemake.params.unit]
    features = feature_store.read(snakemake.input, unit[0].spec, ["all"], [0])
    found = Histories()
    for setting in unit if features else ():

        def timed(setting=setting):
            trial, start = next(iterations.trials_of(setting, features, ["all"], [0], snakemake.params.seed))
            seconds = iterations.seconds_per_iteration(
                *(trial, setting.model, setting.params, start), snakemake.params.iterations
            )
            labels = setting.keys | setting.record | {"threads": 1, "node": environment.node()}
            rows = [labels | {"pass": p, "seconds": s} for p, s in enumerate(seconds, start=2)]
            return Histories(seconds=rows)

        # A setting that fails has no times; its failure is recorded where it is trained.
        found.attempt({"timing": setting.name}, timed)
    write_table(snakemake.output[0], found.seconds)
    environment.record(snakemake.output)
