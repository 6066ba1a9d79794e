"""The distances that clusters are made by, as units in which they are Euclidean."""

from __future__ import annotations

import numpy as np

from skem.estimators._units import common_scale, feature_moments

METRICS = ("euclidean", "mahalanobis")
"""Of all features as they are, or each in units of its standard deviation (Sanderson and Curtin 2017, eq. 20)."""


def metric_units(X: np.ndarray, weights: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray, float]:
    """The shift and scale, (m,) each, with which distances between rows (X - shift) / scale are those of the metric.

    Euclidean ones are so but for one factor, ``scale[0]``. Third comes the mean variance of the features in these units.

    Raises
    ------
    ValueError
        A constant feature, which has no Mahalanobis distance, or one that spreads too far or too little for float64.
    """
    shift, squares, constant = feature_moments(X, weights)
    spread = np.where(constant, 0.0, np.sqrt(squares / weights.sum()))
    if metric == "euclidean":
        scale = common_scale(spread)
        return shift, scale, float(np.mean((spread / scale) ** 2))
    # Of many rows the rounding of the mean may be more than a few digits.
    for j in np.flatnonzero(spread <= 1e-6 * np.abs(shift)):
        if not constant[j] and X[:, j].min() < X[:, j].max():
            continue
        raise ValueError(
            f'metric="mahalanobis" divides by the standard deviation of each feature, and feature {j} is constant: '
            'leave it out, or set metric="euclidean"'
        )
    return shift, spread, 1.0
