"""Who takes part, by name, and what is measured of each: decisions, probabilities, and seconds of one core."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skem
from skem import metrics
from skem.repro.frontier.machines import ChosenSVC
from skem.repro.frontier.settings import OURS
from skem.repro.frontier.stacking import ChosenDiscriminative, StackedBlocks
from skem.repro.training.baselines import GaussianMixtureClassifier, log_proba

_RIVALS: dict[str, tuple[Callable[..., BaseEstimator], bool]] = {
    "svm_rbf": (ChosenSVC, False),  # it standardises by itself
    "logistic_regression": (LogisticRegression, True),
    "lda": (LinearDiscriminantAnalysis, False),
    "qda": (QuadraticDiscriminantAnalysis, True),
    "knn": (KNeighborsClassifier, True),
    "gmm_per_class": (GaussianMixtureClassifier, True),
    "random_forest": (RandomForestClassifier, False),
    "hist_gradient_boosting": (HistGradientBoostingClassifier, False),
    "mlp": (MLPClassifier, True),
    "stacked_blocks": (StackedBlocks, False),
    "chosen_discriminative": (ChosenDiscriminative, False),
}
"""By name: the class, and whether features are standardised first unless ``standardize`` says otherwise."""


def make(model: str, params: Mapping[str, Any], random_state: int) -> BaseEstimator:
    """An unfitted classifier.

    Parameters
    ----------
    model : str
        A rival's name, or a class of this library as "skem.PSKEMClassifier".
    params : mapping
        Its parameters. Of a rival also ``standardize``, whether each feature is divided by its deviation first.
    random_state : int
        Passed on where the estimator has such a parameter.
    """
    params = dict(params)
    if model.startswith(f"{OURS}."):
        standardized, estimator = False, getattr(skem, model.removeprefix(f"{OURS}."))(**_as_python(params))
    else:
        kind, standardized = _RIVALS[model]
        if model != "svm_rbf":  # which has a parameter of that name
            standardized = params.pop("standardize", standardized)
        estimator = kind(**_as_python(params))
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=random_state)
    return make_pipeline(StandardScaler(), estimator) if standardized else estimator


def _as_python(params: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of a YAML file as tuples, which scikit-learn takes for sizes of layers and for grids."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in params.items()}


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
