"""Choose a baseline's hyper-parameters on validation rows, fit it, and record what it is worth."""

import json
from time import perf_counter, process_time

from skem.engine import threads
from skem.repro.files import plain_errors, write_arrays, write_table
from skem.repro.training import baselines, feature_store, splits

threads.limit_process(1)
with plain_errors():
    dataset, method = snakemake.wildcards.dataset, snakemake.wildcards.method
    preset, root = snakemake.params.preset, snakemake.params.seed
    kind, setting = ("all", "preset") if preset else ("part", "default")
    spec, runs = snakemake.params.spec, snakemake.params.runs
    features = feature_store.read(snakemake.input, spec, [kind], runs)
    # scikit-learn does not notice where float32 is not exact enough.
    for arrays in features.values():
        arrays |= {
            key: a[:, : snakemake.params.n_features].astype("float64")
            for key, a in arrays.items()
            if key.startswith("X")
        }
    history, seconds, predictions = [], [], {}
    if features:
        for trial in splits.trials(dataset, spec, features, [kind], runs, root):
            wall, cpu = perf_counter(), process_time()
            estimator, chosen, tried = baselines.fit_selected(
                method,
                trial.X_train,
                trial.y_train,
                None if preset else trial.X_validation,
                None if preset else trial.y_validation,
                max_rows=snakemake.params.max_rows,
                select_rows=snakemake.params.select_rows,
                random_state=splits.seed(root, dataset, trial.run, trial.fold, "baseline"),
                grid=[] if preset else None,
            )
            spent = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
            for name, fitted in baselines.fitted(method, estimator):
                predicted, scores = baselines.predict_and_score(fitted, trial.X_test, trial.y_test)
                labels = {"dataset": dataset, "method": name, "setting": setting}
                row = labels | trial.keys() | {"pass": 1, "n_train": tried[-1]["n_train"]}
                if not preset:
                    on_validation = baselines.evaluate(fitted, trial.X_validation, trial.y_validation)
                    row |= {f"validation_{key}": value for key, value in on_validation.items()}
                row |= {f"test_{key}": value for key, value in scores.items()}
                row |= {"log_likelihood": float("nan"), "objective": float("nan")}
                row |= {"dtype": str(trial.X_train.dtype), "chosen": json.dumps(chosen, sort_keys=True)}
                history.append(row | {"warnings": " | ".join(tried[-1]["warnings"])})
                seconds.append(labels | trial.keys() | {"pass": 1} | spent)
                predictions[f"{name}:{kind}-{trial.run}-{trial.fold}"] = predicted
            predictions[f"y-{trial.run}-{trial.fold}"] = trial.y_test.astype("int16")
    write_arrays(snakemake.output.predictions, predictions)
    write_table(snakemake.output.seconds, seconds)
    write_table(snakemake.output.history, history)
