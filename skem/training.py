"""From a trial to the rows of the history, one per pass of EM."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.classifiers import MDAClassifier, PSKEMClassifier, SKEMClassifier
from skem.metrics import expected_calibration_error, scores
from skem.splits import Trial

MODELS = {"skem": SKEMClassifier, "pskem": PSKEMClassifier, "mda": MDAClassifier}


def train(
    trial: Trial, model: str, params: dict[str, Any], n_features: int, random_state: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], NDArray[np.int16]]:
    """Fit a model and record what it is worth after every pass.

    Parameters
    ----------
    trial : Trial
    model : {"skem", "pskem", "mda"}
    params : dict
        Parameters of the estimator.
    n_features : int
        The first so many features are used.
    random_state : int

    Returns
    -------
    history : list of dict
        One row per pass.
    seconds : list of dict
        One row per pass: wall and CPU seconds of the pass alone, evaluation left out.
    predictions : ndarray of int16, shape (n_test,)
        Test predictions after the pass with the best validation accuracy, or, without validation rows, with
        the best test accuracy: what ``validated`` and ``best-pass`` report.

    Raises
    ------
    ValueError
        If there are fewer features than asked for.
    """
    if n_features > trial.X_train.shape[1]:
        raise ValueError(f"n_features={n_features}, but there are {trial.X_train.shape[1]} features")
    estimator = MODELS[model](random_state=random_state, **params)
    unseen = np.setdiff1d(np.concatenate([trial.y_validation, trial.y_test]), trial.y_train).tolist()
    if unseen:
        raise ValueError(f"classes without training rows: {unseen}")
    validated = len(trial.y_validation) > 0
    history, seconds = [], []
    best: tuple[float, ...] = (-np.inf,)
    predictions = np.empty(0, dtype=np.int16)
    passes = estimator.fit_passes(trial.X_train[:, :n_features], trial.y_train)
    wall, cpu = perf_counter(), process_time()
    for fitted in passes:
        spent = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
        row = trial.keys() | {
            "pass": fitted.n_iter_,
            "dtype": fitted.dtype_used_,
            "log_likelihood": fitted.log_likelihood_[-1],
            "objective": fitted.objective_[-1],
        }
        for part in ("validation", "test") if validated else ("test",):
            y = np.searchsorted(fitted.classes_, getattr(trial, f"y_{part}"))
            log_proba = fitted.predict_log_proba(getattr(trial, f"X_{part}")[:, :n_features])
            row |= {f"{part}_{name}": value for name, value in scores(y, log_proba).items()}
            row[f"{part}_ece"] = expected_calibration_error(y, log_proba)
        history.append(row)
        seconds.append(trial.keys() | {"pass": fitted.n_iter_} | spent)
        value = (
            (row["validation_accuracy"], -row["validation_log_loss"])
            if validated
            else (row["test_accuracy"],)
        )
        if value > best:
            best, predictions = value, log_proba.argmax(axis=1).astype(np.int16)
        wall, cpu = perf_counter(), process_time()
    return history, seconds, predictions


def seconds_per_pass(
    trial: Trial, model: str, params: dict[str, Any], n_features: int, random_state: int, passes: int
) -> list[float]:
    """Wall seconds of each of ``passes`` passes, after a first one that warms up and is left out."""
    # One pass more than is timed: the last one of a fit leaves out the sums that no M-step will use.
    estimator = MODELS[model](random_state=random_state, **params | {"max_iter": passes + 2})
    fit = estimator.fit_passes(trial.X_train[:, :n_features], trial.y_train)
    next(fit)
    seconds = []
    for _ in range(passes):
        start = perf_counter()
        next(fit)
        seconds.append(perf_counter() - start)
    fit.close()
    return seconds
