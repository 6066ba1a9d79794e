"""From a conventional method and its trials to the rows of a history."""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import perf_counter, process_time
from typing import Any

from skem.repro.training import baselines, splits
from skem.repro.training.histories import Histories
from skem.repro.training.splits import Arrays


def fit_baseline(
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
                on_validation = {key: tried[-1][f"validation_{key}"] for key in scores}
                if fitted is not estimator:
                    on_validation = baselines.evaluate(fitted, trial.X_validation, trial.y_validation)
                row |= {f"validation_{key}": value for key, value in on_validation.items()}
            row |= {f"test_{key}": value for key, value in scores.items()}
            row |= {"log_likelihood": float("nan"), "objective": float("nan")}
            row |= {"dtype": str(trial.X_train.dtype), "chosen": json.dumps(chosen, sort_keys=True)}
            found.history.append(row | {"warnings": " | ".join(tried[-1]["warnings"])})
            found.seconds.append(keys | trial.keys() | {"pass": 1} | spent)
            found.keep(trial, predicted, f"{name}:")
    return found
