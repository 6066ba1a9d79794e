"""Measurements of a classifier: decisions, probabilities, and seconds of one core."""

from __future__ import annotations

import warnings
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from skem import metrics
from skem.repro.training.classifiers import log_proba


def measure(
    estimator: BaseEstimator,
    train: tuple[NDArray[Any], NDArray[Any]],
    test: tuple[NDArray[Any], NDArray[Any]],
) -> tuple[dict[str, float], dict[str, float], NDArray[np.int16]]:
    """Fit a copy and look at the test rows once.

    Parameters
    ----------
    estimator : classifier
    train, test : tuple of ndarray of shape (n, M), ndarray of shape (n,)

    Returns
    -------
    scores : dict
        accuracy (%), log_loss (nats), calibration_error (%, 15 bins); the latter two are NaN without probabilities.
    seconds : dict
        fit and predict: of the processor, of all threads together.
    predicted : ndarray of int16, shape (n,)
        Positions in ``classes_``.
    """
    fitted, begun = clone(estimator), process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged is how good it is then
        fitted.fit(*train)
        trained = process_time()
        labels = fitted.predict(test[0])
    seconds = {"fit": trained - begun, "predict": process_time() - trained}
    scores = {
        "accuracy": 100 * float(np.mean(labels == test[1])),
        "log_loss": np.nan,
        "calibration_error": np.nan,
    }
    posterior = log_proba(fitted, test[0])
    if posterior is not None:
        codes = np.searchsorted(fitted.classes_, test[1])
        scores["log_loss"] = metrics.scores(codes, posterior)["log_loss"]
        scores["calibration_error"] = 100 * metrics.expected_calibration_error(codes, posterior)
    return scores, seconds, np.searchsorted(fitted.classes_, labels).astype(np.int16)
