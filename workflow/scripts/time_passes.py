"""Seconds per pass of some settings, on one thread, with nothing else of this run beside them."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.training import feature_store, histories, passes
from skem.repro.training.settings import Work

threads.limit_process(1)
with plain_errors():
    unit = [Work(**work) for work in snakemake.params.unit]
    features = feature_store.read(snakemake.input, unit[0].spec, ["all"], [0])
    rows, node = [], environment.node()
    for work in unit if features else ():
        trial, start = next(histories.trials_of(work, features, ["all"], [0], snakemake.params.seed))
        labels = work.labels()
        seconds = passes.seconds_per_pass(
            trial, work.record["model"], work.params, start, snakemake.params.passes
        )
        rows += [
            labels | {"pass": p, "threads": 1, "seconds": s, "node": node}
            for p, s in enumerate(seconds, start=2)
        ]
    write_table(snakemake.output[0], rows)
    environment.record(snakemake.output)
