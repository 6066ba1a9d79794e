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
        model, n_passes = work.record["model"], snakemake.params.passes

        def timed(trial=trial, start=start, work=work, labels=labels, model=model, n_passes=n_passes):
            seconds = passes.seconds_per_pass(trial, model, work.params, start, n_passes)
            more = {"threads": 1, "node": node}
            return [labels | more | {"pass": p, "seconds": s} for p, s in enumerate(seconds, start=2)]

        # A setting that fails has no times; its failure is recorded where it is trained.
        rows += [row for row in histories.attempt({"timing": work.name}, timed) if "error" not in row]
    write_table(snakemake.output[0], rows)
    environment.record(snakemake.output)
