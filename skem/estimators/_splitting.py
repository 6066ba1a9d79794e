"""From a mixture to one with more components, which begins as much the same density."""

from __future__ import annotations

import numpy as np

from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.parameters import Mixture


def split_components(mixture: Mixture, covariance_type: str, n_components: int) -> Mixture:
    """A mixture with more components.

    The heaviest component becomes two with half of its weight each, half a standard deviation to either side along its
    longest axis; and so on until there are enough.

    Parameters
    ----------
    mixture : Mixture
        In units in which its features are of one size. Of weights the mean over classes counts.
    covariance_type : str
        Of its covariances.
    n_components : int
        At least K.
    """
    weights, means, covariances = mixture.weights.copy(), mixture.means, mixture.covariances
    K, m = means.shape
    dense = np.array(COVARIANCE_TYPES[covariance_type].dense(covariances, K, m))
    while len(weights) < n_components:
        k = int(weights.mean(axis=1).argmax())
        values, vectors = np.linalg.eigh(dense[k])
        # Which of the two directions is a matter of rounding.
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
