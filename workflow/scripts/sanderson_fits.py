"""Fits of a data set of Table 1, and of all folds but one where they are asked for."""

import pandas as pd

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.papers.sanderson2017 import data, fits
from skem.repro.peers import from_kmeans
from skem.repro.peers.engines import mean_log_likelihood
from skem.repro.training import splits

threads.limit_process(1)
with plain_errors():
    params, dataset = snakemake.params, snakemake.wildcards.dataset
    rows = []
    if all(read_json(path)["available"] for path in snakemake.input):
        X = data.rows(params.entry, splits.seed(params.seed, dataset), params.n_rows)
        request = from_kmeans.Request(
            params.entry["n_components"],
            params.kmeans_iter,
            params.em_iter,
            params.floor,
            splits.seed(params.seed, "sanderson2017"),
        )
        engines = from_kmeans.ENGINES
        if params.work == "fits":
            rows = fits.fits(dataset, X, params.methods, request, engines, mean_log_likelihood)
        elif params.work == "heldout":
            rows = fits.heldout(
                dataset, X, params.methods, params.n_folds, request, engines, mean_log_likelihood
            )
        else:
            rows = fits.by_ridge(dataset, X, params.setup, request, engines, mean_log_likelihood)
    write_table(snakemake.output[0], pd.DataFrame(rows))
    environment.record(snakemake.output)
