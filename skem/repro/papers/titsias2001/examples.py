"""The three synthetic examples of Titsias and Likas (2001), section II: shared, separate and unsupervised kernels.

The paper shows its data in figures 3 to 5 and gives no numbers; these are drawn after its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.engine.parameters import Mixture
from skem.estimators.gaussian_mixture import GaussianMixture
from skem.estimators.prbf import PRBFClassifier


@dataclass(frozen=True)
class Cloud:
    """A round Gaussian of one class."""

    label: int
    centre: tuple[float, float]
    spread: float
    share: float


FIGURES: dict[str, list[Cloud]] = {
    # Two Gaussians of the first class, one of the second: without labels a kernel goes to what lies close together.
    "figure3": [
        Cloud(0, (0.0, 1.6), 0.5, 0.25),
        Cloud(0, (0.0, -0.6), 0.5, 0.25),
        Cloud(1, (1.2, -0.6), 0.5, 0.5),
    ],
    # Two regions, in each many rows of one class and few of the other.
    "figure4": [
        Cloud(0, (-2.5, 0.0), 0.8, 0.42),
        Cloud(1, (-2.5, 0.0), 0.8, 0.08),
        Cloud(0, (2.5, 0.0), 0.8, 0.08),
        Cloud(1, (2.5, 0.0), 0.8, 0.42),
    ],
    # One Gaussian of the first class, beside one of two of the second that are far from each other.
    "figure5": [
        Cloud(0, (-1.5, 0.0), 0.7, 0.5),
        Cloud(1, (-3.0, 0.0), 0.7, 0.25),
        Cloud(1, (3.0, 0.0), 0.7, 0.25),
    ],
}


def draw(figure: str, n_rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of a figure, shapes (n, 2) and (n,).

    Parameters
    ----------
    figure : {"figure3", "figure4", "figure5"}
    n_rows : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    clouds = FIGURES[figure]
    which = rng.choice(len(clouds), size=n_rows, p=[cloud.share for cloud in clouds])
    centres, spreads = np.array([c.centre for c in clouds]), np.array([c.spread for c in clouds])
    X = centres[which] + rng.standard_normal((n_rows, 2)) * spreads[which, None]
    return X, np.array([cloud.label for cloud in clouds])[which]


def fits(
    X: NDArray[np.float64], y: NDArray[np.int64], seed: int
) -> dict[str, tuple[PRBFClassifier, Mixture]]:
    """Two spherical kernels trained in three ways from the same rows, and four kernels of separate mixtures.

    Returns
    -------
    dict
        "shared" (lambda = 1), "separate" (lambda = 0), "unsupervised" (EM on all rows, whatever the class; the weights
        of each class are then fitted to those kernels) and "separate, 4 kernels": a classifier and its kernels.
    """
    params: dict[str, Any] = {
        "covariance_type": "spherical",
        "standardize": False,
        "reg_covar": 0.0,
        "max_iter": 500,
        "tol": 1e-6,
        "random_state": seed,
    }
    found = {
        "shared": PRBFClassifier(2, sharing=1.0, **params).fit(X, y),
        "separate": PRBFClassifier(2, sharing=0.0, **params).fit(X, y),
        "separate, 4 kernels": PRBFClassifier(4, sharing=0.0, n_init=5, **params).fit(X, y),
    }
    # From the same rows of each class as the others.
    start = PRBFClassifier(2, sharing=1.0, **params | {"max_iter": 1, "tol": 0.0}).fit(X, y)
    kernels = GaussianMixture(
        2,
        covariance_type="spherical",
        init=(np.full(2, 0.5), start.means_, start.covariances_),
        reg_covar=0.0,
        max_iter=500,
        tol=1e-6,
    ).fit(X)
    posterior = kernels.predict_proba(X)
    weights = np.stack([posterior[y == c].mean(axis=0) for c in (0, 1)], axis=1)
    # One pass from there only to have a classifier; its kernels are then put back.
    model = PRBFClassifier(
        sharing=1.0,
        init=(weights, kernels.means_, kernels.covariances_),
        **params | {"max_iter": 1, "tol": 0.0},
    ).fit(X, y)
    model.blocks_ = [Mixture(weights, kernels.means_, kernels.covariances_)]
    found["unsupervised"] = model
    return {name: (model, model.blocks_[0]) for name, model in found.items()}


def measure(figure: str, n_rows: int, seed: int) -> list[dict[str, Any]]:
    """What each way of training is worth, on as many fresh rows.

    Returns
    -------
    list of dict
        model, log_likelihood (mean of log p(x|C_k), in nats), error (%), own (largest weight of a kernel in the first
        class) and apart (distance of the kernels from those of "separate", in units of the spread of the rows).
    """
    X, y = draw(figure, n_rows, seed)
    fresh, labels = draw(figure, n_rows, seed + 1)
    found = fits(X, y, seed % 2**31)
    reference = found["separate"][1]
    rows = []
    for name, (model, mixture) in found.items():
        density = model.class_log_density(fresh)[np.arange(n_rows), labels]
        row = {"model": name, "log_likelihood": float(density.mean())}
        row["error"] = 100 * float(np.mean(model.predict(fresh) != labels))
        row["own"] = float(mixture.weights[:, 0].max())
        if len(mixture.means) == 2:
            pairs = [
                np.linalg.norm(mixture.means[list(order)] - reference.means, axis=1)
                for order in ((0, 1), (1, 0))
            ]
            row["apart"] = float(min(pair.max() for pair in pairs) / X.std())
        rows.append(row)
    return rows
