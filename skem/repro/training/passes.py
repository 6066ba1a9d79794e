"""From a trial to the rows of the history, one per pass of EM."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skem.engine.threads import single_threaded
from skem.estimators.gaussian_mixture import GaussianMixture
from skem.metrics import expected_calibration_error, scores, shared_proportion
from skem.repro.training import classifiers
from skem.repro.training.classifiers.shared_kernel import ENTRIES as MODELS
from skem.repro.training.histories import Histories, Rows, trials_of
from skem.repro.training.settings import Work
from skem.repro.training.splits import Arrays, Trial


def train(
    trial: Trial, model: str, params: dict[str, Any], random_state: int
) -> tuple[Rows, Rows, NDArray[np.int16]]:
    """Fit a model and record what it is worth after every pass.

    Parameters
    ----------
    trial : Trial
    model : str
        "skem", "pskem", "mda"; or the name of a baseline, for which the points of its grid, the preset
        last, take the place of passes.
    params : dict
        Parameters of the estimator. ``init`` may also be "em": the weights, means and covariances of an
        ordinary Gaussian mixture fitted to each block, whatever the class, by ten passes from k-means.
    random_state : int

    Returns
    -------
    history : list of dict
        One row per pass; ``shared_proportion`` as in Pulford 2022, section 3.3; ``kept``: how many covariances
        the passes so far could not replace, as their successors were singular; after the last pass
        ``condition``: the largest condition number of a covariance.
    seconds : list of dict
        One row per pass: wall and CPU seconds of the pass alone, evaluation left out.
    predictions : ndarray of int16, shape (n_test,)
        Test predictions after the pass with the best validation accuracy, or, without validation rows, with
        the best test accuracy: what ``validated`` and ``best-pass`` report.
    """
    classes, y = np.unique(trial.y_train), np.concatenate([trial.y_validation, trial.y_test])
    unseen = np.setdiff1d(y, classes).tolist()
    if unseen:
        raise ValueError(f"classes without training rows: {unseen}")
    fits = (
        _passes(trial, model, params, random_state)
        if model in MODELS
        else _points(trial, model, random_state)
    )
    n_validation = len(trial.y_validation)
    parts = {"validation": slice(n_validation)} if n_validation else {}
    parts["test"] = slice(n_validation, None)
    # Both parts at once: what a model does before it looks at rows is done once a pass.
    X: Any = np.concatenate([trial.X_validation, trial.X_test])
    codes = np.searchsorted(classes, y)
    history, seconds = [], []
    best: tuple[float, ...] = (-np.inf,)
    predictions = np.empty(0, dtype=np.int16)
    wall, cpu = perf_counter(), process_time()
    for p, (fitted, known) in enumerate(fits, start=1):
        spent = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
        row = trial.keys() | {"pass": p} | known
        if p == 1 and model in MODELS:
            X = fitted._features(X, keep=True)
        log_proba = classifiers.log_proba(fitted, X)
        if log_proba is None:
            predicted = np.searchsorted(classes, fitted.predict(X))
        for part, rows in parts.items():
            if log_proba is None:
                found = {"accuracy": float(np.mean(predicted[rows] == codes[rows]))}
                found |= dict.fromkeys(("log_loss", "brier", "ece"), np.nan)
            else:
                found = scores(codes[rows], log_proba[rows])
                found["ece"] = expected_calibration_error(codes[rows], log_proba[rows])
            row |= {f"{part}_{name}": value for name, value in found.items()}
        history.append(row)
        seconds.append(trial.keys() | {"pass": p} | spent)
        value: tuple[float, ...] = (row["test_accuracy"],)
        if n_validation:
            value = (row["validation_accuracy"], -np.nan_to_num(row["validation_log_loss"]))
        if value > best:
            if log_proba is not None:
                predicted = log_proba.argmax(axis=1)
            best, predictions = value, predicted[parts["test"]].astype(np.int16)
        wall, cpu = perf_counter(), process_time()
    return history, seconds, predictions


def _passes(
    trial: Trial, model: str, params: dict[str, Any], random_state: int
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The estimator after each pass of EM, and what its parameters say."""
    if params.get("init") == "em":
        params = params | {"init": _ordinary_mixtures(trial, params, random_state)}
    estimator = MODELS[model].load()(random_state=random_state, **params)
    kept = 0
    previous: list[Any] = []
    for fitted in estimator.fit_passes(trial.X_train, trial.y_train):
        if previous:
            kept += sum(map(_kept, previous, fitted.blocks_))
        previous = fitted.blocks_
        known = {
            "kept": kept,
            "dtype": fitted.dtype_used_,
            "log_likelihood": fitted.log_likelihood_[-1],
            "objective": fitted.objective_[-1],
            "shared_proportion": shared_proportion([block.weights for block in fitted.blocks_]),
            "condition": np.nan,
        }
        if fitted.n_iter_ == estimator.max_iter:
            known["condition"] = max(_condition(block.covariances) for block in fitted.blocks_)
        yield fitted, known


def _kept(before: Any, after: Any) -> int:
    """Covariances that a pass left as they were though rows use them: what EM does with one that turned singular."""
    if after.covariances.ndim < 3:
        return 0  # one covariance for all, or variances
    same = (before.covariances == after.covariances).all(axis=(1, 2))
    # What converged stays as it was in every respect.
    moved = (before.means != after.means).any(axis=1) | (before.weights != after.weights).any(axis=1)
    return int((same & moved & (after.weights.sum(axis=1) > 0)).sum())


def _condition(covariances: NDArray[np.float64]) -> float:
    if covariances.ndim < 2 or covariances.shape[-1] != covariances.shape[-2]:
        return float("nan")  # diagonal or spherical: only their input units make them ill-conditioned
    values = np.linalg.eigvalsh(covariances)
    with np.errstate(divide="ignore"):
        return float((values[..., -1] / np.maximum(values[..., 0], 0.0)).max())


def _ordinary_mixtures(trial: Trial, params: dict[str, Any], random_state: int) -> list[Any]:
    """A start for each sequential block from all classes together, the same weights for each class."""
    n_classes = len(np.unique(trial.y_train))
    starts = []
    for columns in np.array_split(np.arange(trial.X_train.shape[1]), params.get("n_blocks", 1)):
        mixture = GaussianMixture(
            params["n_components"],
            init="kmeans",
            max_iter=10,
            tol=0.0,
            reg_covar=params["reg_covar"],
            random_state=random_state,
        ).fit(trial.X_train[:, columns])
        weights = np.repeat(mixture.weights_[:, None], n_classes, axis=1)
        starts.append((weights, mixture.means_, mixture.covariances_))
    return starts


def _points(trial: Trial, name: str, random_state: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A baseline fitted at each point of its grid, the preset last; once, where there is nothing to choose."""
    known = {"dtype": str(trial.X_train.dtype), "log_likelihood": np.nan, "objective": np.nan}
    with single_threaded():
        for point in reversed(classifiers.find(name).points() or [{}]):
            estimator = classifiers.make(name, random_state=random_state, **point | {"standardize": False})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                yield estimator.fit(trial.X_train, trial.y_train), known


def seconds_per_pass(
    trial: Trial, model: str, params: dict[str, Any], random_state: int, passes: int
) -> list[float]:
    """Wall seconds of each of ``passes`` passes, after a first one that warms up and is left out."""
    # One pass more than is timed: the last one of a fit leaves out the sums that no M-step will use.
    estimator = MODELS[model].load()(random_state=random_state, **params | {"max_iter": passes + 2})
    fit = estimator.fit_passes(trial.X_train, trial.y_train)
    next(fit)
    seconds = []
    for _ in range(passes):
        start = perf_counter()
        next(fit)
        seconds.append(perf_counter() - start)
    fit.close()
    return seconds


def fit_setting(
    work: Work, features: dict[str, Arrays], runs: Sequence[int], root: int, n_jobs: int = 1, *, keep: bool
) -> Histories:
    """Fit a setting on some runs, a row for every iteration; ``keep`` the predictions, which take much memory."""
    found, labels = Histories(), work.labels()
    keys = {key: labels[key] for key in ("dataset", "method", "setting")}
    for trial, start in trials_of(work, features, work.rows, runs, root):
        params = dict(work.params)
        if work.record["model"] in MODELS:
            params["n_jobs"] = n_jobs
        history, seconds, predicted = train(trial, work.record["model"], params, start)
        found.history += [labels | row for row in history]
        found.seconds += [keys | row for row in seconds]
        if keep:
            found.keep(trial, predicted)
    return found
