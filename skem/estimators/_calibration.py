"""Temperature calibration of a product of feature blocks."""

from __future__ import annotations

import math

import numpy as np
from scipy import special
from scipy.optimize import minimize_scalar

from skem.engine.discriminative import bounded_log_proba, log_softmax
from skem.engine.linalg import exponentials
from skem.estimators._units import ROUNDING

MIN_TEMPERATURE, MAX_TEMPERATURE = 1e-2, 1e6

PRIOR_STD = 1.0
"""Standard deviation of the prior on log T, which dominates if there are few samples."""


def tempered(
    log_joint: np.ndarray, log_prior: np.ndarray, temperature: float, background: float
) -> np.ndarray:
    """Compute log p(c|x), shape (n, L), where p(c|x) = (1 - e) q(c|x) + e p(c) and q(c|x) is proportional to p(x, c)^(1/T).

    The background e bounds the log-loss of a sample far from all components.
    """
    return bounded_log_proba(special.log_softmax(log_joint / temperature, axis=1), log_prior, background)


def fitted_temperature(
    log_joint: np.ndarray,
    log_prior: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    background: float,
    expected: float = 1.0,
) -> float:
    """Fit the temperature T of `tempered` probabilities to the log-loss (Guo et al. 2017, section 4.2), with a prior on log T.

    ``log_joint`` (n, L) is log p(x, c), ``codes`` (n,) are the classes, and ``expected`` is the median of the prior. Samples of
    classes with prior zero are ignored: their log-loss is infinite at any temperature.
    """
    possible = np.isfinite(log_prior)
    used = possible[codes]
    log_joint, log_prior = log_joint[np.ix_(used, possible)], log_prior[possible]
    codes, weights = (np.cumsum(possible) - 1)[codes[used]], weights[used]
    own, all_weights = (np.arange(len(codes)), codes), np.append(weights, 1.0)

    def loss(log_temperature: float) -> float:
        log_proba = log_softmax(log_joint / math.exp(log_temperature))
        log_scores = bounded_log_proba(log_proba[own], log_prior[codes], background)
        # A pseudo-sample with typical features and a random class, because n samples may contain no error by chance.
        log_scores = np.append(
            log_scores, _median((log_proba * exponentials(log_prior)).sum(axis=1), weights)
        )
        penalty = 0.5 * ((log_temperature - math.log(expected)) / PRIOR_STD) ** 2
        return penalty - float((all_weights * log_scores).sum())

    # A bounded loss may have several minima: search a grid, then refine.
    grid = np.linspace(math.log(MIN_TEMPERATURE), math.log(MAX_TEMPERATURE), 38)
    best = grid[int(np.argmin([loss(value) for value in grid]))]
    step = grid[1] - grid[0]
    refined = minimize_scalar(loss, bounds=(best - step, best + step), method="bounded")
    return math.exp(refined.x)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """Compute the weighted median, the lower of two: rounded sums of weights decide nothing."""
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weights[order])
    half = 0.5 * (1 - ROUNDING) * cumulated[-1]
    return float(values[order[np.searchsorted(cumulated, half)]])
