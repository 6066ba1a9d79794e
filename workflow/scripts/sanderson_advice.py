"""Held-out likelihood against what the paper advises in numbers, or starts by two metrics."""

import pandas as pd

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.papers.sanderson2017 import advice, data
from skem.repro.training import splits

threads.limit_process(1)
with plain_errors():
    params, rows = snakemake.params, []
    if all(read_json(path)["available"] for path in snakemake.input):
        X = data.rows(params.entry, splits.seed(params.seed, params.dataset), params.n_rows)
        K, seed = params.entry["n_components"], splits.seed(params.seed, "sanderson2017")
        if params.work == "advice":
            rows = advice.advice(params.dataset, X, K, params.setup, seed)
        else:
            rows = advice.starts(X, K, params.setup, params.ridge, seed)
    write_table(snakemake.output[0], pd.DataFrame(rows))
    environment.record(snakemake.output)
