"""Accuracy of PSKEM against lambda on images, and with the start of Pulford (2022), which knows no groups."""

import numpy as np

from skem import PSKEMClassifier
from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.training import feature_store, splits

threads.limit_process(1)
with plain_errors():
    dataset, setup, root = snakemake.wildcards.dataset, snakemake.params.setup, snakemake.params.seed
    spec, runs = snakemake.params.spec, list(range(setup["runs"]))
    features = feature_store.read(snakemake.input, spec, ["all"], runs)
    blocks, components = setup["params"]["n_blocks"], setup["params"]["n_components"]
    setting = f"{blocks}x{setup['n_features'] // blocks}-K{components}"
    # Without data one row, for a panel that says so.
    rows = [{"dataset": dataset, "setting": setting, "sharing": np.nan, "pass": np.nan, "accuracy": np.nan}]
    if features:
        rows = []
        for trial in splits.trials(dataset, spec, features, ["all"], runs, root):
            columns = slice(setup["n_features"])
            seed = splits.seed(root, dataset, trial.run, trial.fold, "start")
            for sharing in (*setup["sharings"], None):
                init = "uniform" if sharing is None else "class"
                model = PSKEMClassifier(sharing=sharing, init=init, random_state=seed, **setup["params"])
                fitted = model.fit(trial.X_train[:, columns], trial.y_train)
                right = fitted.predict(trial.X_test[:, columns]) == trial.y_test
                row = {"dataset": dataset, "setting": setting, "run": trial.run}
                row |= {"sharing": np.nan if sharing is None else sharing, "pass": fitted.n_iter_}
                rows.append(row | {"accuracy": 100 * float(right.mean())})
    write_table(snakemake.output[0], rows)
    environment.record(snakemake.output)
