"""Initialisation with more components than a fitted model has, and nearly the same density."""

from __future__ import annotations

import numpy as np

from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.parameters import Mixture


def split_components(mixture: Mixture, covariance_type: str, n_components: int) -> Mixture:
    """Split the heaviest component until there are enough.

    Its two parts have half of its weight each. Their means lie half a standard deviation to either side along its longest axis.
    The weight of a component is its mean over classes.
    """
    weights, means, covariances = mixture.weights.copy(), mixture.means, mixture.covariances
    K, m = means.shape
    dense = np.array(COVARIANCE_TYPES[covariance_type].dense(covariances, K, m))
    while len(weights) < n_components:
        k = int(weights.mean(axis=1).argmax())
        values, vectors = np.linalg.eigh(dense[k])
        # The sign of an eigenvector depends on rounding.
        axis = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
        step = 0.5 * np.sqrt(values[-1]) * axis
        weights = np.concatenate([weights, 0.5 * weights[k : k + 1]])
        weights[k] *= 0.5
        means = np.vstack([means, means[k] + step])
        means[k] -= step
        dense = np.concatenate([dense, dense[k : k + 1]])
        if covariance_type != "tied":
            covariances = np.concatenate([covariances, covariances[k : k + 1]])
    return Mixture(weights, means, covariances)
