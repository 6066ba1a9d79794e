"""Fit what the gate compares, for one data set; without data, an empty record."""

from skem.engine import threads
from skem.repro.files import plain_errors, read_json, write_json
from skem.repro.gate import cases
from skem.repro.training import feature_store
from skem.repro.training.features import prepare
from skem.repro.training.settings import Setting

threads.limit_process(1)
with plain_errors():
    dataset, work = snakemake.wildcards.dataset, snakemake.params.work
    spec, root = work["spec"], work["seed"]
    record = {}
    if read_json(snakemake.input[0])["available"]:
        settings = [Setting(**setting) for setting in work["settings"]]
        rows = [kind for setting in settings for kind in setting.rows]
        names = dict.fromkeys(feature_store.names(spec, rows, list(range(work["runs"]))))
        features = prepare(dataset, spec, list(names), root)
        record = cases.accuracies(dataset, settings, spec, features, root)
        if plain := work["mixtures"]:
            arrays = next(iter(features.values()))
            X = arrays["X" if "X" in arrays else "X_train"][:, : plain["n_features"]]
            record |= cases.mixtures(dataset, X, plain["n_components"], work["runs"], root)
    write_json(snakemake.output[0], record)
