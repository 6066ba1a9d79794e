"""Fit a baseline, its hyper-parameters chosen on validation rows or its preset, and record what it is worth."""

from skem.engine import threads
from skem.repro.files import plain_errors
from skem.repro.training import feature_store, rivals
from skem.repro.training.histories import Histories

threads.limit_process(1)
with plain_errors():
    params = snakemake.params
    kind = "all" if params.preset else "part"
    features = feature_store.read(snakemake.input, params.spec, [kind], params.runs)
    found = Histories()
    if features:
        found = rivals.fit_baseline(
            snakemake.wildcards.method,
            snakemake.wildcards.dataset,
            params.spec,
            features,
            params.runs,
            params.seed,
            preset=params.preset,
            n_features=params.n_features,
            max_rows=params.max_rows,
            select_rows=params.select_rows,
        )
    found.write(snakemake.output.history, snakemake.output.seconds, snakemake.output.predictions)
