"""Errors of every method with some numbers of kernels; where lambda is chosen, of the ways to choose it."""

import pandas as pd

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.papers.titsias2001 import errors
from skem.repro.training import splits

threads.limit_process(1)
with plain_errors():
    entry, setup, root = snakemake.params.entry, snakemake.params.setup, snakemake.params.seed
    rows = []
    if read_json(snakemake.input[0])["available"]:
        m = entry["n_components"] if "validation_fraction" in setup else int(snakemake.wildcards.m)
        for trial in errors.folds(
            entry["source"], entry["scale"], setup["n_folds"], range(setup["repetitions"]), root
        ):
            seed = splits.seed(root, entry["source"], trial.run, trial.fold, "start")
            if "validation_fraction" in setup:
                rows += errors.choice_errors(
                    trial, m, setup["sharings"], setup["model"], setup["validation_fraction"], seed
                )
            else:
                rows += errors.fit_errors(trial, m, setup["sharings"], setup["model"], seed)
    labels = {"dataset": snakemake.wildcards.table}
    table = pd.DataFrame([labels | row for row in rows])
    keys = ["dataset", "n_components", "method", "run", "fold"]
    write_table(snakemake.output.seconds, table[[*keys, "seconds"]] if rows else table)
    write_table(snakemake.output.errors, table.drop(columns="seconds", errors="ignore"))
    environment.record(snakemake.output)
