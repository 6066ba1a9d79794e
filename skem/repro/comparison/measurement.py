"""Measurements of classifiers: decisions, probabilities, recognition of outliers, and seconds of one core."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score

from skem import metrics
from skem.repro.training.classifiers import log_proba
from skem.repro.training.histories import Histories

SEED = "frontier"
"""First word of the seeds' keys. Another one would change every number."""

EPSILON = float(np.finfo(np.float64).eps)
"""Least probability in a log-loss, as in scikit-learn: an exact zero costs 36.04 nats."""

Samples = tuple[NDArray[Any], NDArray[Any]]
"""Features (n, M) and labels (n,), from zero on."""


class Case(NamedTuple):
    """A fit. Outliers are test samples of a class or data set that the training samples lack."""

    keys: Mapping[str, Any]  # columns of its rows, such as the number of the run
    estimator: BaseEstimator
    train: Samples
    test: Samples
    is_outlier: NDArray[np.bool_] | None = None  # (n_test,)


def margin(estimator: BaseEstimator, X: ArrayLike) -> NDArray[np.float64]:
    """Lead of the first class over the second; of two classes, the distance from the boundary, (n,)."""
    decision = np.asarray(estimator.decision_function(X))
    if decision.ndim == 1:
        return np.abs(decision)
    largest = np.partition(decision, -2, axis=1)[:, -2:]
    return largest[:, 1] - largest[:, 0]


SCORES: dict[str, Callable[[Any, ArrayLike], NDArray[np.float64]]] = {
    "density": lambda model, X: model.score_samples(X),
    "density_after": lambda model, X: logsumexp(model.class_log_density(X) + np.log(model.priors_), axis=1),
    "certainty": lambda model, X: model.predict_log_proba(X).max(axis=1),
    "margin": margin,
}
"""Scores of a fitted model and samples, which should be low for outliers; titles are in `configuration.SCORES`."""


def measure(keys: Mapping[str, Any], cases: Iterable[Case], scores: Sequence[str] = ()) -> Histories:
    """Fit the classifier of each case: a row with its decisions, or a row for each of the `SCORES` of outliers.

    Rows have ``keys``, those of the case, n_train and n_features. Seconds are CPU seconds of all threads together. Predictions,
    which outliers have none of, are arrays over the test samples of all cases: the key of the case, label, predicted, log_loss.
    """
    found, predictions = Histories(), []
    for case in cases:
        (X, y), sizes = case.test, {"n_train": len(case.train[1]), "n_features": case.train[0].shape[1]}
        begun = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an iteration limit is part of a method
            fitted = case.estimator.fit(*case.train)
            trained = process_time()
            values = [SCORES[name](fitted, X) for name in scores]
            predicted = None if scores else fitted.predict(X)
        seconds = {"fit": trained - begun, "predict": process_time() - trained}
        found.seconds.append({**keys, **case.keys} | seconds)
        for name, value in zip(scores, values, strict=True):
            row = {**keys, "score": name, **case.keys} | sizes
            found.history.append(row | {"auroc": float(roc_auc_score(case.is_outlier, -value))})
        if predicted is not None:
            decided, losses = decisions(fitted, case.test, predicted)
            found.history.append({**keys, **case.keys} | sizes | {"n_test": len(y)} | decided)
            ((_, number),) = case.keys.items()
            numbers = np.full(len(y), number, dtype=np.int16)
            predictions.append((numbers, y.astype(np.int16), predicted.astype(np.int16), losses))
    if predictions:
        names = *case.keys, "label", "predicted", "log_loss"
        arrays = map(np.concatenate, zip(*predictions, strict=True))
        found.predictions = dict(zip(names, arrays, strict=True))
    return found


def decisions(
    fitted: BaseEstimator, test: Samples, predicted: NDArray[Any]
) -> tuple[dict[str, float], NDArray[np.float64]]:
    """Evaluate on test samples: accuracy (%), log_loss (nats), calibration_error (%, 15 bins), and the log-losses (n,).

    The latter three are NaN without probabilities. Log-losses are those of scikit-learn's ``log_loss``, with probabilities
    between `EPSILON` and one less `EPSILON`.
    """
    X, y = test
    scores = {
        "accuracy": 100 * float(np.mean(predicted == y)),
        "log_loss": np.nan,
        "calibration_error": np.nan,
    }
    posterior = log_proba(fitted, X)
    if posterior is None:
        return scores, np.full(len(y), np.nan)
    posterior, codes = posterior.astype(np.float64), np.searchsorted(fitted.classes_, y)
    losses = -np.clip(posterior[np.arange(len(codes)), codes], np.log(EPSILON), np.log1p(-EPSILON))
    scores["log_loss"] = float(losses.mean())
    scores["calibration_error"] = 100 * metrics.expected_calibration_error(codes, posterior)
    return scores, losses
