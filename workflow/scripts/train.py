"""Fit the settings of a unit on a block of runs, and record every pass."""

from skem.engine import threads
from skem.repro.files import plain_errors, write_arrays, write_table
from skem.repro.training import feature_store, splits, views
from skem.repro.training.passes import MODELS, train

threads.limit_process(snakemake.threads)
with plain_errors():
    dataset, settings = snakemake.wildcards.dataset, snakemake.params.settings
    runs, root = feature_store.runs_of(snakemake.wildcards.block), snakemake.params.seed
    rows = [kind for setting in settings for kind in setting["rows"]]
    features = feature_store.read(snakemake.input, settings[0]["spec"], rows, runs)
    history, seconds, predictions = [], [], {}
    if features:
        for setting in settings:
            labels = {"dataset": dataset, "method": snakemake.wildcards.method, "setting": setting["name"]}
            for trial in splits.trials(dataset, setting["spec"], features, setting["rows"], runs, root):
                start = splits.seed(root, dataset, trial.run, trial.fold, "start")
                params = dict(setting["params"])
                if setting["model"] in MODELS:
                    params["n_jobs"] = snakemake.threads
                seen = views.view(
                    trial, setting["n_features"], params.get("n_blocks", 1), setting["spec"], start
                )
                passes, spent, predicted = train(seen, setting["model"], params, start)
                history += [labels | row for row in passes]
                seconds += [labels | row for row in spent]
                if len(settings) == 1:
                    predictions[f"{trial.rows}-{trial.run}-{trial.fold}"] = predicted
                    predictions[f"y-{trial.run}-{trial.fold}"] = trial.y_test.astype("int16")
    write_arrays(snakemake.output.predictions, predictions)
    write_table(snakemake.output.seconds, seconds)
    write_table(snakemake.output.history, history)
