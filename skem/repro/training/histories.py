"""From settings and trials to the rows of a history, the same for whatever is trained: what every job writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

import numpy as np

from skem.repro.files import write_arrays, write_table
from skem.repro.training import baselines, passes, splits, views
from skem.repro.training.settings import Work
from skem.repro.training.splits import Arrays, Trial

Rows = list[dict[str, Any]]


def trials_of(
    work: Work, features: dict[str, Arrays], rows: Sequence[str], runs: Sequence[int], root: int
) -> Iterator[tuple[Trial, int]]:
    """Every trial as a setting sees it, and the seed of its start; rows, runs and root as for ``splits.trials``."""
    for trial in splits.trials(work.dataset, work.spec, features, list(rows), list(runs), root):
        start = splits.seed(root, work.dataset, trial.run, trial.fold, "start")
        yield views.view(trial, work.record["n_features"], work.record["n_blocks"], work.spec, start), start


@dataclass
class Histories:
    """The rows of a job, and the predictions that it keeps."""

    history: Rows = field(default_factory=list)
    seconds: Rows = field(default_factory=list)
    predictions: dict[str, np.ndarray] = field(default_factory=dict)

    def keep(self, trial: Trial, predicted: np.ndarray, name: str = "") -> None:
        """Predictions of a trial, by its rows, run and fold, beside the true classes."""
        at = f"{trial.run}-{trial.fold}"
        self.predictions[f"{name}{trial.rows}-{at}"] = predicted
        self.predictions[f"y-{at}"] = trial.y_test.astype("int16")

    def write(self, history: str, seconds: str, predictions: str) -> None:
        """The files of the job; the history last, as it is what others wait for."""
        write_arrays(predictions, self.predictions)
        write_table(seconds, self.seconds)
        write_table(history, self.history)


def of_settings(
    unit: Sequence[Work], features: dict[str, Arrays], runs: Sequence[int], root: int, n_jobs: int = 1
) -> Histories:
    """Fit settings on some runs, a row for every pass.

    Predictions are kept where there is one setting: of more they would take a hundred times the room of the history.
    """
    found = Histories()
    for work in unit:
        labels = work.labels()
        keys = {key: labels[key] for key in ("dataset", "method", "setting")}
        for trial, start in trials_of(work, features, work.rows, runs, root):
            params = dict(work.params)
            if work.record["model"] in passes.MODELS:
                params["n_jobs"] = n_jobs
            history, seconds, predicted = passes.train(trial, work.record["model"], params, start)
            found.history += [labels | row for row in history]
            found.seconds += [keys | row for row in seconds]
            if len(unit) == 1:
                found.keep(trial, predicted)
    return found


def of_baseline(
    method: str,
    dataset: str,
    spec: dict[str, Any],
    features: dict[str, Arrays],
    runs: Sequence[int],
    root: int,
    *,
    preset: bool,
    n_features: int | None = None,
    max_rows: int | None = None,
    select_rows: int | None = None,
) -> Histories:
    """Choose a baseline's hyper-parameters on validation rows, or take its preset, and fit it; one row each, as of a pass.

    Parameters
    ----------
    method, dataset : str
    spec : dict
        The data set's entry under ``features`` in the configuration.
    features, runs, root
        As for ``splits.trials``.
    preset : bool
        All training rows and no grid, as the papers had it.
    n_features : int, optional
        The first so many features.
    max_rows, select_rows : int, optional
        As for ``baselines.fit_selected``.
    """
    kind, setting = ("all", "preset") if preset else ("part", "default")
    # scikit-learn does not notice where float32 is not exact enough.
    features = {
        name: {
            key: a[:, :n_features].astype("float64") if key.startswith("X") else a for key, a in own.items()
        }
        for name, own in features.items()
    }
    found = Histories()
    for trial in splits.trials(dataset, spec, features, [kind], list(runs), root):
        wall, cpu = perf_counter(), process_time()
        estimator, chosen, tried = baselines.fit_selected(
            method,
            trial.X_train,
            trial.y_train,
            None if preset else trial.X_validation,
            None if preset else trial.y_validation,
            max_rows=max_rows,
            select_rows=select_rows,
            random_state=splits.seed(root, dataset, trial.run, trial.fold, "baseline"),
            grid=[] if preset else None,
        )
        spent = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
        for name, fitted in baselines.fitted(method, estimator):
            keys = {"dataset": dataset, "method": name, "setting": setting}
            predicted, scores = baselines.predict_and_score(fitted, trial.X_test, trial.y_test)
            row = keys | {"model": method} | trial.keys() | {"pass": 1, "n_train": tried[-1]["n_train"]}
            if not preset:
                on_validation = baselines.evaluate(fitted, trial.X_validation, trial.y_validation)
                row |= {f"validation_{key}": value for key, value in on_validation.items()}
            row |= {f"test_{key}": value for key, value in scores.items()}
            row |= {"log_likelihood": float("nan"), "objective": float("nan")}
            row |= {"dtype": str(trial.X_train.dtype), "chosen": json.dumps(chosen, sort_keys=True)}
            found.history.append(row | {"warnings": " | ".join(tried[-1]["warnings"])})
            found.seconds.append(keys | trial.keys() | {"pass": 1} | spent)
            found.keep(trial, predicted, f"{name}:")
    return found
