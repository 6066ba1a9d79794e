"""Distances of clusters, as units in which they are Euclidean."""

from __future__ import annotations

import numpy as np

from skem.estimators._units import common_scale, feature_moments

METRICS = ("euclidean", "mahalanobis")
"""Distances of features in input units, or in units of their standard deviations (Sanderson and Curtin 2017, eq. 20)."""


def metric_units(X: np.ndarray, weights: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Shift and scale (m,) of units in which the metric is Euclidean, and the mean variance in them.

    For "euclidean" distances differ by the factor ``scale[0]``.
    """
    shift, squares, constant = feature_moments(X, weights)
    spread = np.where(constant, 0.0, np.sqrt(squares / weights.sum()))
    if metric == "euclidean":
        scale = common_scale(spread)
        return shift, scale, float(np.mean((spread / scale) ** 2))
    # With many samples the rounding of the mean may reach more than a few digits.
    for j in np.flatnonzero(spread <= 1e-6 * np.abs(shift)):
        if not constant[j] and X[:, j].min() < X[:, j].max():
            continue
        raise ValueError(
            f'metric="mahalanobis" divides by the standard deviation of each feature, and feature {j} is constant: '
            'leave it out, or set metric="euclidean"'
        )
    return shift, spread, 1.0
