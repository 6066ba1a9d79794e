"""Initialisation with more or fewer components than a fitted model has, and nearly the same density."""

from __future__ import annotations

import numpy as np

from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.linalg import longest_axes
from skem.engine.parameters import Mixture


def split_components(mixture: Mixture, covariance_type: str, n_components: int) -> Mixture:
    """Split the heaviest component until there are enough.

    Its two parts have half of its weight each. Their means lie half a standard deviation to either side along its longest axis.
    The weight of a component is its mean over classes.
    """
    weights, means, covariances = mixture.weights.copy(), mixture.means, mixture.covariances
    K, m = means.shape
    steps = _half_steps(COVARIANCE_TYPES[covariance_type].of_components(covariances, K, m))
    while len(weights) < n_components:
        k = int(weights.mean(axis=1).argmax())
        weights = np.concatenate([weights, 0.5 * weights[k : k + 1]])
        weights[k] *= 0.5
        means = np.vstack([means, means[k] + steps[k]])
        means[k] -= steps[k]
        steps = np.concatenate([steps, steps[k : k + 1]])
        if covariance_type != "tied":
            covariances = np.concatenate([covariances, covariances[k : k + 1]])
    return Mixture(weights, means, covariances)


def without_lightest(mixture: Mixture, covariance_type: str) -> Mixture:
    """The mixture without the component of least weight; the weights of the others sum to one."""
    kept = np.delete(np.arange(len(mixture.weights)), mixture.weights.mean(axis=1).argmin())
    weights, covariances = mixture.weights[kept], mixture.covariances
    if covariance_type != "tied":
        covariances = covariances[kept]
    return Mixture(weights / weights.sum(axis=0), mixture.means[kept], covariances)


def double_components(mixture: Mixture, covariance_type: str) -> Mixture:
    """Split every component in two parts of half its weight, with its mean and, unless tied, its covariance.

    The means of the parts lie half a standard deviation to either side along the longest axis.
    """
    weights, means, covariances = mixture.weights, mixture.means, mixture.covariances
    steps = _half_steps(COVARIANCE_TYPES[covariance_type].of_components(covariances, *means.shape))
    if covariance_type in ("full", "diag"):
        squares = steps[:, :, None] * steps[:, None] if covariance_type == "full" else steps**2
        covariances = covariances - squares
    if covariance_type != "tied":
        covariances = np.concatenate([covariances, covariances])
    return Mixture(
        np.concatenate([0.5 * weights, 0.5 * weights]), np.vstack([means - steps, means + steps]), covariances
    )


def _half_steps(components: np.ndarray) -> np.ndarray:
    """Half a standard deviation along the longest axis of covariances (K, m, m), or variances (K, m); shape (K, m)."""
    if components.ndim == 2:
        n_features, largest = components.shape[1], components.max(axis=1, keepdims=True)
        # Standardised features have one variance but for rounding.
        longest = n_features - 1 - (components[:, ::-1] > (1 - 1e-9) * largest).argmax(axis=1)
        return np.where(np.arange(n_features) == longest[:, None], 0.5 * np.sqrt(components), 0.0)
    variances, axes = longest_axes(components)
    return 0.5 * np.sqrt(variances)[:, None] * axes
