"""Measurements of classifiers: decisions, probabilities, and seconds of one core."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from skem import metrics
from skem.repro.training.classifiers import log_proba
from skem.repro.training.histories import Histories

SEED = "frontier"
"""First word of the seeds' keys. Another one would change every number."""

EPSILON = float(np.finfo(np.float64).eps)
"""Least probability in a log-loss, as in scikit-learn: an exact zero costs 36.04 nats."""

Samples = tuple[NDArray[Any], NDArray[Any]]
"""Features (n, M) and labels (n,), from zero on."""

Fit = tuple[BaseEstimator, Samples, Samples]
"""A classifier, training samples and test samples."""


def measure_all(keys: Mapping[str, Any], counter: str, fits: Iterable[Fit]) -> Histories:
    """Measure each fit; rows have the ``keys`` and the number of the fit as ``counter``, "run" or "fold".

    Predictions are arrays over the test samples of all fits: ``counter``, label, predicted, log_loss.
    """
    found, predictions = Histories(), []
    for number, (estimator, train, test) in enumerate(fits):
        scores, seconds, predicted, log_loss = measure(estimator, train, test)
        row = {**keys, counter: number}
        sizes = {"n_train": len(train[1]), "n_features": train[0].shape[1], "n_test": len(test[1])}
        found.history.append(row | sizes | scores)
        found.seconds.append(row | seconds)
        numbers = np.full(len(predicted), number, dtype=np.int16)
        predictions.append((numbers, test[1].astype(np.int16), predicted.astype(np.int16), log_loss))
    names = counter, "label", "predicted", "log_loss"
    found.predictions = dict(zip(names, map(np.concatenate, zip(*predictions, strict=True)), strict=True))
    return found


def measure(
    estimator: BaseEstimator, train: Samples, test: Samples
) -> tuple[dict[str, float], dict[str, float], NDArray[Any], NDArray[np.float64]]:
    """Fit a copy and evaluate it on the test samples: scores, CPU seconds of all threads together, predictions, log-losses.

    Scores are accuracy (%), log_loss (nats) and calibration_error (%, 15 bins). The latter two, and the log-losses of the
    samples, are NaN without probabilities. Log-losses are those of scikit-learn's ``log_loss``, with probabilities between
    `EPSILON` and one less `EPSILON`.
    """
    fitted, begun = clone(estimator), process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an iteration limit is part of a method
        fitted.fit(*train)
        trained = process_time()
        predicted = fitted.predict(test[0])
    seconds = {"fit": trained - begun, "predict": process_time() - trained}
    scores = {"accuracy": 100 * float(np.mean(predicted == test[1]))}
    losses, scores["log_loss"], scores["calibration_error"] = np.full(len(predicted), np.nan), np.nan, np.nan
    posterior = log_proba(fitted, test[0])
    if posterior is not None:
        posterior, codes = posterior.astype(np.float64), np.searchsorted(fitted.classes_, test[1])
        true = posterior[np.arange(len(codes)), codes]
        losses = -np.clip(true, np.log(EPSILON), np.log1p(-EPSILON))
        scores["log_loss"] = float(losses.mean())
        scores["calibration_error"] = 100 * metrics.expected_calibration_error(codes, posterior)
    return scores, seconds, predicted, losses
