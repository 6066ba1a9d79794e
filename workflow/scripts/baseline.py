"""Fit baselines, with hyperparameters selected on validation samples or presets, and record their results."""

from functools import partial

from skem.repro.jobs import recorded
from skem.repro.training import baselines, feature_store
from skem.repro.training.histories import Histories

with recorded(snakemake):
    params, dataset = snakemake.params, snakemake.wildcards.dataset
    job = params.job
    kind = "all" if job["preset"] else "part"
    features = feature_store.read(snakemake.input, params.spec, [kind], job["runs"])
    found = Histories()
    for method in job["methods"] if features else []:
        keys = {"dataset": dataset, "method": method, "setting": "preset" if job["preset"] else "default"}
        fit = partial(
            *(baselines.fit_baseline, method, dataset, params.spec, features, job["runs"], params.seed),
            preset=job["preset"],
            n_features=params.n_features,
            max_rows=job["max_rows"].get(method),
            select_rows=job["select_rows"],
        )
        found.attempt(keys, fit)
    found.write(snakemake.output.history, snakemake.output.seconds, snakemake.output.predictions)
