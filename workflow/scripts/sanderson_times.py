"""Seconds of whole fits of a data set, or of all that is measured on the rows of Figure 2. Runs alone."""

import pandas as pd

from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.papers.sanderson2017 import data, times
from skem.repro.peers import from_kmeans
from skem.repro.peers.engines import draw
from skem.repro.training import splits

with plain_errors():
    params, setup = snakemake.params, snakemake.params.setup
    seed = splits.seed(params.seed, "sanderson2017", "times")
    rows, others = [], []
    if all(read_json(path)["available"] for path in snakemake.input):
        if params.work == "fits":
            X = data.rows(params.entry, splits.seed(params.seed, snakemake.wildcards.dataset), params.n_rows)
        else:
            size = params.n_rows, setup["n_features"], setup["n_components"]
            X = draw(*size, "float64", seed)[0]
        K = setup["n_components"]
        request = from_kmeans.Request(K, params.kmeans_iter, setup["em_iter"], params.floor, seed)
        engines = from_kmeans.ENGINES
        # Drawn rows: of a data set a few may have constant features.
        few, *_ = draw(2000, X.shape[1], 2, "float64", seed)
        for name in ("skem_diag", "skem_full"):  # compiles, so that nobody is timed cold
            engines[name].fit(few, from_kmeans.Request(2, 1, 2, 1e-3, 0))
        if params.work == "fits":
            rows = times.fit_times(
                snakemake.wildcards.dataset, X, request, params.passes, engines, params.rounds
            )
        else:
            n_cores = environment.describe()["machine"]["cores"]
            rows = times.figure2(X, request, setup["threads"], n_cores, engines, params.rounds)
            equal = [n for n in setup["threads"] if n <= min(n_cores, 2)]
            kmeans = times.kmeans("synthetic-1m", X, K, params.kmeans_iter, equal, params.rounds, seed)
            others = [{"about": "kmeans"} | row for row in kmeans]
            others += [{"about": "seeds"} | row for row in times.seeds(X, K, params.rounds, seed)]
        for round, seconds in enumerate(times.exponentials(len(X), K, params.rounds)):
            others.append({"about": "exp", "dataset": rows[0]["dataset"], "round": round, "seconds": seconds})
    write_table(snakemake.output.fits, pd.DataFrame(rows))
    write_table(snakemake.output.others, pd.DataFrame(others))
    environment.record(snakemake.output)
