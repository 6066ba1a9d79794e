"""Small fits, on scikit-learn's digits, of estimators and options that no experiment of the regression test trains."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

import skem
from skem import images
from skem.engine.covariances import COVARIANCE_TYPES
from skem.repro.gate.comparison import Record
from skem.repro.training.rbf import rbf_network

RUNS = 5
"""Splits and seeds of each case."""

discriminative = partial(
    skem.DiscriminativePSKEMClassifier,
    20,
    n_blocks=2,
    standardize=True,
    reg_covar=0.1,
    max_iter=5,
    discriminative_iter=5,
)
sdgm = partial(skem.SDGMClassifier, 2)

ESTIMATORS: dict[str, Callable[..., Any]] = {
    "discriminative/ebw": discriminative,
    "discriminative/batches": partial(
        discriminative, batch_size=100, strength=0.03, options={"smoothing": 0.01}
    ),
    "discriminative/auto": partial(discriminative, strength="auto", covariance_type="diag"),
    "k-means/euclidean": partial(skem.KMeans, 12),
    "k-means/mahalanobis": partial(skem.KMeans, 12, metric="mahalanobis"),
    "missing/mixture": partial(skem.GaussianMixture, 5, reg_covar=0.1, max_iter=20),
    "missing/skem": partial(skem.SKEMClassifier, 20, max_iter=10),
    "mixture/batches": partial(skem.GaussianMixture, 8, reg_covar=0.1),
    "mixture/path": partial(
        skem.GaussianMixturePath,
        skem.GaussianMixture(reg_covar=0.1, max_iter=20),
        n_components=[2, 4, 8],
        covariance_types=["full", "diag"],
    ),
    **{
        f"mixture/{kind}": partial(
            skem.GaussianMixture, 8, covariance_type=kind, init_params="sample", reg_covar=1e-3, max_iter=50
        )
        for kind in COVARIANCE_TYPES
    },
    "prbf": partial(skem.PRBFClassifier, 20, max_iter=10),
    "rbf network": partial(rbf_network, 12),
    "sdgm/poly2": partial(sdgm, max_iter=30),
    "sdgm/primal": partial(sdgm, form="primal", max_iter=30),
    "sdgm/rbf": partial(sdgm, kernel="rbf", max_iter=5, em_iter=5),
    "skem/early stopping": partial(skem.SKEMClassifier, 20, early_stopping=True),
    "skem/sharing": partial(skem.SKEMClassifier, 20, options={"sharing": 0.3}, max_iter=10),
}

RECIPES = {
    "images/deskew": images.Deskew(),
    "images/standardised": images.ImageStandardizer(),
    "images/windows": images.WindowPCA(size=4, step=2, n_components=3),
}


def _digits(name: str, run: int) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Digits averaged over 2 x 2 pixels in random order, and the number of training samples."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(run).permutation(len(y))
    X, y = X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)[order], y[order]
    half = len(y) // 2
    if name.startswith("missing/"):
        X[np.random.default_rng(run).random(X.shape) < 0.1] = np.nan
    if name.startswith(
        "sdgm/"
    ):  # of two classes 60 training samples and four features, for a fit of a second
        train, test = (np.flatnonzero(np.isin(part, (3, 8))) for part in (y[:half], y[half:]))
        chosen, half = np.concatenate([train[:60], half + test]), 60
        X, y = X[chosen][:, 4:8], y[chosen]
    return X, y, half


def _measure(name: str, run: int) -> dict[str, float]:
    """Fit one case and return its quantities."""
    if name in RECIPES:
        pixels = load_digits().images[run::RUNS].astype(np.float32)
        return {"features": np.abs(RECIPES[name].fit_transform(pixels)).mean()}
    X, y, half = _digits(name, run)
    model = ESTIMATORS[name](random_state=run)
    if name == "mixture/batches":
        for batch in np.array_split(X[:half], 4):
            model.partial_fit(batch)
        return {"log_likelihood": model.score(X[half:])}
    model.fit(X[:half], y[:half])
    if isinstance(model, skem.KMeans):
        return {"inertia": model.inertia_, "iterations": model.n_iter_}
    if isinstance(model, skem.GaussianMixture):
        return {"log_likelihood": model.score(X[half:]), "iterations": model.n_iter_}
    if isinstance(model, skem.GaussianMixturePath):
        best = model.best_estimator_
        return {"log_likelihood": best.score(X[half:]), "n_components": best.n_components}
    values = {"accuracy": model.score(X[half:], y[half:])}
    if hasattr(model, "predict_proba"):
        values["log_loss"] = log_loss(y[half:], model.predict_proba(X[half:]), labels=model.classes_)
    if hasattr(model, "temperature_"):
        values["temperature"] = model.temperature_
    for quantity in ("objective", "log_likelihood"):
        if hasattr(model, f"{quantity}_"):
            values[quantity] = getattr(model, f"{quantity}_")[-1]
    return values


def measure(prefix: str = "") -> Record:
    """Fit every case whose name begins with ``prefix``; cases of the record are "digits/name"."""
    record: Record = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in filter(lambda name: name.startswith(prefix), [*ESTIMATORS, *RECIPES]):
            fits = [_measure(name, run) for run in range(RUNS)]
            record[f"digits/{name}"] = {key: [float(fit[key]) for fit in fits] for key in fits[0]}
    return record
