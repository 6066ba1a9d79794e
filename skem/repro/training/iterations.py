"""From a trial to the rows of a history, one per iteration of EM."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skem.engine.threads import single_threaded
from skem.metrics import shared_proportion
from skem.repro.environment import node
from skem.repro.training import classifiers, splits
from skem.repro.training.classifiers.shared_kernel import ENTRIES as MODELS
from skem.repro.training.histories import Histories, Rows
from skem.repro.training.settings import Setting
from skem.repro.training.splits import Arrays, Trial


def trials_of(
    setting: Setting, features: dict[str, Arrays], rows: Sequence[str], runs: Sequence[int], root: int
) -> Iterator[tuple[Trial, int]]:
    """Yield every trial with the setting's own features, and the seed of its initialisation."""
    for trial in splits.trials(setting.dataset, setting.spec, features, rows, runs, root):
        start = splits.seed(root, setting.dataset, trial.run, trial.fold, "start")
        yield splits.view(trial, setting.n_features, setting.n_blocks, setting.spec, start), start


def fit_setting(
    setting: Setting,
    features: dict[str, Arrays],
    runs: Sequence[int],
    root: int,
    n_jobs: int = 1,
    *,
    keep: bool,
) -> Histories:
    """Fit a setting on some runs, a row for every iteration; ``keep`` the predictions, which take much memory."""
    found = Histories()
    threads = {"n_jobs": n_jobs} if setting.model in MODELS else {}
    for trial, start in trials_of(setting, features, setting.rows, runs, root):
        history, seconds, predicted = train(trial, setting.model, setting.params | threads, start)
        found.history += [setting.keys | setting.record | row for row in history]
        found.seconds += [setting.keys | row for row in seconds]
        if keep:
            found.keep(trial, predicted)
    return found


def train(
    trial: Trial, model: str, params: dict[str, Any], random_state: int
) -> tuple[Rows, Rows, NDArray[np.int16]]:
    """Fit a model and evaluate it after every iteration; a baseline at each point of its grid, the preset last.

    Returns the history, the wall and CPU seconds of the iterations without the evaluation (a row per iteration each), and test
    predictions after the iteration with the best validation accuracy or, without validation samples, the best test accuracy,
    as ``validation_selected_iteration`` and ``test_selected_iteration`` report. Of the history, ``shared_proportion`` is that of
    Pulford 2022, section 3.3; ``kept`` the number of covariances that iterations so far could not replace, as their successors were singular;
    ``condition``, after the last iteration, the largest condition number of a covariance.
    """
    trial.raise_if_unseen()
    fit = _iterations if model in MODELS else _points
    n_validation = len(trial.y_validation)
    parts = {"validation": slice(n_validation)} if n_validation else {}
    parts["test"] = slice(n_validation, None)
    # Both parts at once: a model factorises its covariances once per iteration.
    X: Any = np.concatenate([trial.X_validation, trial.X_test])
    codes = np.searchsorted(np.unique(trial.y_train), np.concatenate([trial.y_validation, trial.y_test]))
    history, seconds = [], []
    best: tuple[float, ...] = (-np.inf,)
    predictions = np.empty(0, dtype=np.int16)
    wall, cpu = perf_counter(), process_time()
    for p, (fitted, known) in enumerate(fit(trial, model, params, random_state), start=1):
        spent = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
        if p == 1 and model in MODELS:
            X = fitted._features(X, keep=True)
        row = trial.keys() | {"iteration": p} | known
        predicted, posterior = classifiers.decide(fitted, X)
        for part, rows in parts.items():
            own = None if posterior is None else posterior[rows]
            scored = classifiers.evaluate(codes[rows], predicted[rows], own)
            row |= {f"{part}_{name}": value for name, value in scored.items()}
        history.append(row)
        seconds.append(trial.keys() | {"iteration": p} | spent)
        value: tuple[float, ...] = (row["test_accuracy"],)
        if n_validation:
            value = (row["validation_accuracy"], -np.nan_to_num(row["validation_log_loss"]))
        if value > best:
            best, predictions = value, predicted[parts["test"]]
        wall, cpu = perf_counter(), process_time()
    return history, seconds, predictions


def _iterations(
    trial: Trial, model: str, params: dict[str, Any], random_state: int
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the estimator after each iteration of EM, and quantities of its parameters."""
    estimator = MODELS[model].build(random_state=random_state, **params)
    kept = 0
    previous: list[Any] = []
    for fitted in estimator.fit_iterations(trial.X_train, trial.y_train):
        blocks = fitted.blocks_
        kept += sum(map(_kept, previous, blocks))
        previous = blocks
        is_last = fitted.n_iter_ == estimator.max_iter
        yield (
            fitted,
            {
                "kept": kept,
                "dtype": fitted.dtype_used_,
                "log_likelihood": fitted.log_likelihood_[-1],
                "objective": fitted.objective_[-1],
                "shared_proportion": shared_proportion([block.weights for block in blocks]),
                "condition": max(_condition(block.covariances) for block in blocks) if is_last else np.nan,
            },
        )


def _kept(before: Any, after: Any) -> int:
    """Number of covariances that EM left unchanged, although samples use them, as their successors were singular."""
    if after.covariances.ndim < 3:
        return 0  # one covariance for all, or variances
    same = (before.covariances == after.covariances).all(axis=(1, 2))
    # Converged components keep their means and weights, too.
    moved = (before.means != after.means).any(axis=1) | (before.weights != after.weights).any(axis=1)
    return int((same & moved & (after.weights.sum(axis=1) > 0)).sum())


def _condition(covariances: NDArray[np.float64]) -> float:
    if covariances.ndim < 2 or covariances.shape[-1] != covariances.shape[-2]:
        return float("nan")  # diagonal or spherical: only their input units make them ill-conditioned
    values = np.linalg.eigvalsh(covariances)
    with np.errstate(divide="ignore"):
        return float((values[..., -1] / np.maximum(values[..., 0], 0.0)).max())


def _points(
    trial: Trial, model: str, params: dict[str, Any], random_state: int
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield a baseline fitted at each point of its grid, the preset last; once if there is no grid."""
    known = {"dtype": str(trial.X_train.dtype), "log_likelihood": np.nan, "objective": np.nan}
    with single_threaded():
        for point in reversed(classifiers.find(model).points() or [{}]):
            estimator = classifiers.make(model, random_state=random_state, **point | {"standardize": False})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                yield estimator.fit(trial.X_train, trial.y_train), known


def timed(setting: Setting, features: dict[str, Arrays], n_iterations: int, root: int) -> Histories:
    """Measure wall seconds of each iteration of the first trial, after a first one that warms up and is left out."""
    trial, random_state = next(trials_of(setting, features, ["all"], [0], root))
    # One more than is timed: the last iteration of a fit leaves out the sums that no M-step will use.
    params = setting.params | {"max_iter": n_iterations + 2}
    estimator = MODELS[setting.model].build(random_state=random_state, **params)
    labels = setting.keys | setting.record | {"threads": 1, "node": node()}
    found, fit = Histories(), estimator.fit_iterations(trial.X_train, trial.y_train)
    next(fit)
    for iteration in range(2, n_iterations + 2):
        start = perf_counter()
        next(fit)
        found.seconds.append(labels | {"iteration": iteration, "seconds": perf_counter() - start})
    fit.close()
    return found
