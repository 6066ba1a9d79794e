"""Seconds per pass of some settings, on one thread, with nothing else of this run beside them."""

from skem.engine import threads
from skem.repro.files import plain_errors, write_table
from skem.repro.training import feature_store, passes, splits, views

threads.limit_process(1)
with plain_errors():
    dataset, root = snakemake.wildcards.dataset, snakemake.params.seed
    settings = snakemake.params.settings
    features = feature_store.read(snakemake.input, settings[0]["spec"], ["all"], [0])
    rows = []
    if features:
        start = splits.seed(root, dataset, 0, 0, "start")
        for setting in settings:
            trial = next(splits.trials(dataset, setting["spec"], features, ["all"], [0], root))
            seen = views.view(
                trial, setting["n_features"], setting["params"].get("n_blocks", 1), setting["spec"], start
            )
            seconds = passes.seconds_per_pass(
                seen, setting["model"], setting["params"], start, snakemake.params.passes
            )
            labels = {"dataset": dataset, "method": snakemake.wildcards.method, "setting": setting["name"]}
            rows += [labels | {"pass": p, "threads": 1, "seconds": s} for p, s in enumerate(seconds, start=2)]
    write_table(snakemake.output[0], rows)
