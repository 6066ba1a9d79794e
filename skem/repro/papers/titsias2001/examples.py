"""Job of Figures 3 to 5 of Titsias and Likas (2001), section II: shared, separate and unsupervised components.

The paper shows its data without numbers; these are drawn from its description.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skem.engine.parameters import Mixture
from skem.estimators.gaussian_mixture import GaussianMixture
from skem.estimators.prbf import PRBFClassifier
from skem.repro.papers.measured import Rows
from skem.repro.training import splits


class Cloud(NamedTuple):
    """A spherical Gaussian of one class."""

    label: int
    centre: tuple[float, float]
    spread: float
    share: float


FIGURES: dict[str, list[Cloud]] = {
    # Two Gaussians of the first class, one of the second: without labels a component covers both where they are close.
    "figure3": [
        Cloud(0, (0.0, 1.6), 0.5, 0.25),
        Cloud(0, (0.0, -0.6), 0.5, 0.25),
        Cloud(1, (1.2, -0.6), 0.5, 0.5),
    ],
    # Two regions, each with many samples of one class and few of the other.
    "figure4": [
        Cloud(0, (-2.5, 0.0), 0.8, 0.42),
        Cloud(1, (-2.5, 0.0), 0.8, 0.08),
        Cloud(0, (2.5, 0.0), 0.8, 0.08),
        Cloud(1, (2.5, 0.0), 0.8, 0.42),
    ],
    # One Gaussian of the first class, close to one of two distant ones of the second.
    "figure5": [
        Cloud(0, (-1.5, 0.0), 0.7, 0.5),
        Cloud(1, (-3.0, 0.0), 0.7, 0.25),
        Cloud(1, (3.0, 0.0), 0.7, 0.25),
    ],
}

PANELS = {
    "figure3": ("shared", "unsupervised"),
    "figure4": ("separate", "shared"),
    "figure5": ("separate", "shared"),
}
"""The paper's panels (a) and (b)."""

TITLES = {
    "shared": "two shared components (λ = 1)",
    "separate": "one component per class (λ = 0)",
    "unsupervised": "two components, without labels",
}


def examples(setup: Mapping[str, Any], seed: int) -> dict[str, Rows]:
    """Measure every figure over repetitions, and draw its panels, from a root seed."""
    rows = [
        {"figure": figure, "run": run} | row
        for figure in FIGURES
        for run in range(setup["repetitions"])
        for row in measure(figure, setup["n_rows"], splits.seed(seed, figure, run))
    ]
    seeds = {figure: splits.seed(seed, figure, 0) for figure in PANELS}
    return {"measured": rows, "panels": panels(setup["drawn_rows"], seeds)}


def draw(figure: str, n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw samples of a figure, (n, 2), and their classes, (n,)."""
    rng = np.random.default_rng(seed)
    labels, centres, spreads, shares = map(np.array, zip(*FIGURES[figure], strict=True))
    cloud = rng.choice(len(labels), size=n, p=shares)
    return centres[cloud] + rng.standard_normal((n, 2)) * spreads[cloud, None], labels[cloud]


def fits(
    X: NDArray[np.float64], y: NDArray[np.int64], seed: int
) -> dict[str, tuple[PRBFClassifier, Mixture]]:
    """Train two spherical components in three ways from the same samples, and four separate ones.

    "Unsupervised" is EM on all samples without classes; then the weights of each class are fitted. Each has a classifier and its
    components.
    """
    em: dict[str, Any] = {"covariance_type": "spherical", "reg_covar": 0.0, "max_iter": 500, "tol": 1e-6}
    params = em | {"standardize": False, "random_state": seed}
    found = {
        "shared": PRBFClassifier(2, sharing=1.0, **params).fit(X, y),
        "separate": PRBFClassifier(2, sharing=0.0, **params).fit(X, y),
        "separate, 4 components": PRBFClassifier(4, sharing=0.0, n_init=5, **params).fit(X, y),
    }
    once = params | {"sharing": 1.0, "max_iter": 1, "tol": 0.0}
    start = PRBFClassifier(2, **once).fit(X, y)
    mixture = GaussianMixture(2, init_params=(np.full(2, 0.5), start.means_, start.covariances_), **em).fit(X)
    posterior = mixture.predict_proba(X)
    weights = np.stack([posterior[y == c].mean(axis=0) for c in (0, 1)], axis=1)
    # One iteration makes a classifier; then its components are replaced.
    model = PRBFClassifier(init_params=(weights, mixture.means_, mixture.covariances_), **once).fit(X, y)
    model.blocks_ = [Mixture(weights, mixture.means_, mixture.covariances_)]
    found["unsupervised"] = model
    return {name: (model, model.blocks_[0]) for name, model in found.items()}


def measure(figure: str, n: int, seed: int) -> Rows:
    """Measure each way of training on as many test samples.

    ``own`` is the largest weight of a component in the first class, ``apart`` the distance of the components from those of "separate", in
    standard deviations of the samples.
    """
    X, y = draw(figure, n, seed)
    X_test, y_test = draw(figure, n, seed + 1)
    found = fits(X, y, seed % 2**31)
    reference = found["separate"][1]
    rows = []
    for name, (model, mixture) in found.items():
        density = model.class_log_density(X_test)[np.arange(n), y_test]
        row = {"model": name, "log_likelihood": float(density.mean())}
        row["error"] = 100 * float(np.mean(model.predict(X_test) != y_test))
        row["own"] = float(mixture.weights[:, 0].max())
        if len(mixture.means) == 2:
            orders = mixture.means, mixture.means[::-1]
            distances = [np.linalg.norm(means - reference.means, axis=1).max() for means in orders]
            row["apart"] = float(min(distances) / X.std())
        rows.append(row)
    return rows


def panels(n: int, seeds: Mapping[str, int]) -> Rows:
    """Return samples and components of the figures as `skem.plots.shared_components` draws them, from a seed per figure."""
    rows: Rows = []
    for figure, models in PANELS.items():
        X, y = draw(figure, n, seeds[figure])
        fitted = fits(X, y, seeds[figure] % 2**31)
        for model in models:
            panel = {"panel": f"Figure {figure[-1]}: {TITLES[model]}"}
            rows += [
                panel | {"class": float(c), "x": x[0], "y": x[1], "radius": np.nan}
                for x, c in zip(X, y, strict=True)
            ]
            mixture = fitted[model][1]
            shares = mixture.weights / mixture.weights.sum(axis=1, keepdims=True)
            for mean, variance, share in zip(mixture.means, mixture.covariances, shares, strict=True):
                # A component belongs to the class with nine tenths of its weight.
                owner = float(share.argmax()) if share.max() > 0.9 else np.nan
                component = {"class": owner, "x": mean[0], "y": mean[1], "radius": float(np.sqrt(variance))}
                rows.append(panel | component)
    return rows
