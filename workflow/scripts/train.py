"""Fit one setting on a block of runs, and record every pass."""

from pathlib import Path

from skem import configuration, splits, threads, training
from skem.files import plain_errors, read_arrays, write_arrays, write_table

threads.limit_process(snakemake.threads)
with plain_errors():
    labels = {key: snakemake.wildcards[key] for key in ("dataset", "method", "setting")}
    how = dict(snakemake.params.setting)
    rows = how.pop("rows")
    how["params"] = dict(how["params"], n_jobs=snakemake.threads)
    features = {Path(path).stem: read_arrays(path) for path in snakemake.input}
    history, seconds, predictions = [], [], {}
    if all(features.values()):
        for trial in splits.trials(
            labels["dataset"],
            snakemake.params.spec,
            features,
            rows,
            configuration.runs_of(snakemake.wildcards.block),
            snakemake.params.seed,
        ):
            start = splits.seed(snakemake.params.seed, labels["dataset"], trial.run, trial.fold, "start")
            passes, spent, predicted = training.train(trial, random_state=start, **how)
            history += [labels | row for row in passes]
            seconds += [labels | row for row in spent]
            predictions[f"{trial.rows}-{trial.run}-{trial.fold}"] = predicted
            predictions[f"y-{trial.run}-{trial.fold}"] = trial.y_test.astype("int16")
    write_arrays(snakemake.output.predictions, predictions)
    write_table(snakemake.output.seconds, seconds)
    write_table(snakemake.output.history, history)
