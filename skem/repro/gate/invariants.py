"""Statements that hold for every fit, whatever the reference says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

import skem

ROUNDING = 1e-9
"""Of sums of weights and of probabilities."""

FALLS = {"float64": 1e-9, "float32": 1e-5}
"""Fall of the objective per iteration that is rounding, relative to numbers above one."""


def raise_if_violated(model: Any, X: NDArray[Any]) -> None:
    """Raise ValueError if weights or probabilities of ``X`` do not sum to one, or a covariance is not positive definite."""
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, skem.GaussianMixture):
        mixtures = [(model.weights_, model.covariances_)]
    else:
        mixtures = [(block.weights, block.covariances) for block in getattr(model, "blocks_", [])]
    name = type(model).__name__
    for weights, covariances in mixtures:
        _raise_unless_one(f"{name}: the weights of a class", weights.sum(axis=0))
        matrices = covariances.ndim > 1 and covariances.shape[-1] == covariances.shape[-2]
        least = (np.linalg.eigvalsh(covariances) if matrices else covariances).min()
        if not least > 0:
            raise ValueError(
                f"{name}: a covariance has the eigenvalue {least}, and should be positive definite"
            )
    if hasattr(model, "predict_proba"):
        _raise_unless_one(f"{name}: the probabilities of a sample", model.predict_proba(X).sum(axis=1))


def _raise_unless_one(what: str, sums: NDArray[Any]) -> None:
    worst = float(np.atleast_1d(sums)[np.abs(sums - 1).argmax()])
    if not abs(worst - 1) <= ROUNDING:
        raise ValueError(f"{what} sum to {worst:.12g}, and should sum to one")


def raise_if_objective_falls(history: pd.DataFrame) -> None:
    """Raise ValueError if the objective of a fit falls from one iteration to the next; ``history`` has a row per iteration."""
    for keys, fit in history.groupby(["dataset", "method", "setting", "rows", "run", "fold"]):
        objective = fit.sort_values("iteration")["objective"].to_numpy()
        least = np.maximum(1, np.abs(objective[:-1])) * FALLS[fit["dtype"].iloc[-1]]
        if (np.diff(objective) < -least).any():
            raise ValueError(
                f"{'/'.join(map(str, keys))}: the objective falls by {-np.diff(objective).min():.3g}"
            )


def raise_unless_discriminant_analysis() -> None:
    """Raise ValueError if one component per class is not QDA, or LDA with one covariance for all, on scikit-learn's iris data."""
    X, y = load_iris(return_X_y=True)
    means = np.stack([X[y == c].mean(axis=0) for c in range(3)])
    P = np.cov(X.T)
    peers = {
        "full": ([P] * 3, QuadraticDiscriminantAnalysis()),
        "tied": (P, LinearDiscriminantAnalysis("lsqr")),
    }
    for covariance_type, (covariances, peer) in peers.items():
        init = np.eye(3), means, covariances
        ours = skem.SKEMClassifier(
            3,
            covariance_type=covariance_type,
            init_params=init,
            reg_covar=0.0,
            max_iter=1,
            priors="empirical",
        )
        probabilities = [model.fit(X, y).predict_proba(X) for model in (ours, peer)]
        difference = np.abs(np.subtract(*probabilities)).max()
        if not difference <= ROUNDING:
            raise ValueError(
                f"SKEM with one component per class and {covariance_type} covariances differs by {difference:.3g} from "
                f"{type(peer).__name__}"
            )
