"""Log-odds of classes: scores that order samples as probabilities do, without ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from skem.estimators._array_api import namespace_of

RESOLVED = -float(np.log(np.finfo(np.float64).eps))
"""Log-odds in nats from which on 1 - p vanishes beside one in float64, about 36."""


def log_odds(log_proba: Any) -> Any:
    """Log-odds of each class, log p - log(1 - p), with their excess over `RESOLVED` compressed to its logarithm.

    The compression is strictly increasing. It keeps samples far from all training data, whose log-odds can be thousands of
    nats, from dominating a calibration. Two classes have the log-odds (n,) of the second one, more have (n, L).
    """
    xp = namespace_of(log_proba)
    if log_proba.shape[1] == 2:
        odds = log_proba[:, 1] - log_proba[:, 0]
    else:
        # The complement of a probability near one is the sum of the others. At most one class of a sample is as probable.
        near_one = log_proba > -0.25
        others = logsumexp(xp.where(near_one, -xp.inf, log_proba), axis=1, keepdims=True)
        complement = xp.log1p(-xp.exp(xp.where(near_one, -1.0, log_proba)))
        odds = log_proba - xp.where(near_one, others, complement)
    largest = float(np.finfo(np.float64).max)
    size = xp.clip(xp.abs(odds), 0.0, largest)
    excess = xp.clip(size - RESOLVED, 0.0, largest)
    return xp.sign(odds) * (xp.clip(size, 0.0, RESOLVED) + xp.log1p(excess))
