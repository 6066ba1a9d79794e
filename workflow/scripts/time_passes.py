"""Seconds per pass at the paper's setting, on one thread, with nothing else of this run beside it."""

from pathlib import Path

from skem import splits, threads, training
from skem.files import plain_errors, read_arrays, write_table

threads.limit_process(1)
with plain_errors():
    labels = {key: snakemake.wildcards[key] for key in ("dataset", "method", "setting")}
    features = {Path(path).stem: read_arrays(path) for path in snakemake.input}
    rows = []
    if all(features.values()):
        trials = splits.trials(
            labels["dataset"], snakemake.params.spec, features, ["all"], [0], snakemake.params.seed
        )
        start = splits.seed(snakemake.params.seed, labels["dataset"], 0, 0, "start")
        seconds = training.seconds_per_pass(
            next(trials), random_state=start, passes=snakemake.params.passes, **snakemake.params.setting
        )
        rows = [labels | {"pass": p, "threads": 1, "seconds": s} for p, s in enumerate(seconds, start=2)]
    write_table(snakemake.output[0], rows)
