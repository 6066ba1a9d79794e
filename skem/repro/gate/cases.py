"""Fits of ``config/experiments/regress.yaml``, and plain mixtures of the same data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skem.engine.covariances import COVARIANCE_TYPES
from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro import protocols
from skem.repro.gate.comparison import Record
from skem.repro.training import feature_store, iterations, splits
from skem.repro.training.features import prepare
from skem.repro.training.settings import Setting

SERIES = ["dataset", "method", "setting"]
SEED = 0
MIXTURES = {
    "ionosphere": {"n_components": 4, "n_features": 32},
    "mnist_half": {"n_components": 20, "n_features": 12},
}
"""Components of plain mixtures, and the leading features of run 0 that they are fitted to, with one initialisation per run."""


def measure(dataset: str, work: Mapping[str, Any]) -> Record:
    """Fit all configurations of a data set, and plain mixtures.

    ``work`` has the configurations (``settings``), the recipe of the features (``spec``) and ``runs``. Cases are
    "dataset/method/setting", under the protocol ``nested`` "dataset/method".
    """
    spec = work["spec"]
    settings = [Setting(**setting) for setting in work["settings"]]
    kinds = [kind for setting in settings for kind in setting.rows]
    names = dict.fromkeys(feature_store.names(spec, kinds, list(range(work["runs"]))))
    features = prepare(dataset, spec, list(names), SEED)
    fits = [iterations.fit_setting(setting, features, setting.runs, SEED, keep=False) for setting in settings]
    history = pd.DataFrame([row for fit in fits for row in fit.history])
    record = _quantities(history)
    if dataset in MIXTURES:
        first = next(iter(features.values()))
        X = first["X" if "X" in first else "X_train"][:, : MIXTURES[dataset]["n_features"]]
        record |= _mixtures(dataset, X, work["runs"])
    return record


def _quantities(history: pd.DataFrame) -> Record:
    """Accuracy under every protocol, and objective, log-loss and number of the final iteration."""
    record: Record = {}
    configurations = history.groupby("method")["setting"].nunique()
    for protocol in protocols.PROTOCOLS:
        runs = protocols.per_run(protocols.select(history, protocol))
        for key, group in runs.groupby(SERIES[:2] if protocol == "nested" else SERIES, sort=False):
            # A method with one configuration has the same accuracies under "validation_selected_iteration".
            if protocol != "nested" or configurations[key[1]] > 1:
                record.setdefault("/".join(key), {})[protocol] = group["test_accuracy"].tolist()
    final = history[history["rows"] == "all"].sort_values("iteration")
    final = final.drop_duplicates([*SERIES, "run", "fold"], keep="last")
    for key, group in final.groupby(SERIES, sort=False):
        means = group.groupby("run")[["log_likelihood", "objective", "test_log_loss", "iteration"]].mean()
        means = means.rename(columns={"iteration": "iterations", "test_log_loss": "log_loss"})
        record["/".join(key)] |= means.to_dict("list")
    return record


def _mixtures(dataset: str, X: NDArray[Any], runs: int) -> Record:
    """Plain mixtures of every covariance type, which end by their tolerance."""
    record: Record = {}
    for covariance_type in COVARIANCE_TYPES:
        quantities = record[f"{dataset}/mixture/{covariance_type}"] = {"log_likelihood": [], "iterations": []}
        for run in range(runs):
            model = GaussianMixture(
                MIXTURES[dataset]["n_components"],
                covariance_type=covariance_type,
                init_params="sample",
                reg_covar=1e-3,
                max_iter=50,
                random_state=splits.seed(SEED, dataset, run, "mixture"),
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X)
            quantities["log_likelihood"].append(float(model.log_likelihood_[-1]))
            quantities["iterations"].append(float(model.n_iter_))
    return record
