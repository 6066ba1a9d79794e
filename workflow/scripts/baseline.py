"""Fit baselines, their hyper-parameters chosen on validation rows or their presets, and record what they are worth."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors
from skem.repro.training import feature_store, rivals
from skem.repro.training.histories import Histories

threads.limit_process(1)
with plain_errors():
    params = snakemake.params
    kind = "all" if params.preset else "part"
    features = feature_store.read(snakemake.input, params.spec, [kind], params.runs)
    found = Histories()
    for method in params.methods if features else []:
        found.add(
            rivals.fit_baseline(
                method,
                snakemake.wildcards.dataset,
                params.spec,
                features,
                params.runs,
                params.seed,
                preset=params.preset,
                n_features=params.n_features,
                max_rows=params.max_rows.get(method),
                select_rows=params.select_rows,
            )
        )
    found.write(snakemake.output.history, snakemake.output.seconds, snakemake.output.predictions)
    environment.record(snakemake.output)
