"""The temperature of a product of blocks: how much of its evidence is evidence."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from skem.engine.discriminative import bounded_log_proba

COLDEST, HOTTEST = 1e-2, 1e6

DEVIATION = 1.0
"""Standard deviation of the prior on log T, which decides where the samples say little."""


def tempered(
    log_joint: np.ndarray, log_prior: np.ndarray, temperature: float, background: float
) -> np.ndarray:
    """log p(c|x) for p(c|x) = (1 - e) q(c|x) + e p(c), with q(c|x) in proportion to p(x, c)^(1/T), shape (n, L).

    The background e bounds the log-loss of a sample, however far it lies from all components.
    """
    return bounded_log_proba(log_softmax(log_joint / temperature, axis=1), log_prior, background)


def fitted_temperature(
    log_joint: np.ndarray,
    log_prior: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    background: float,
    expected: float = 1.0,
) -> float:
    """Fit the temperature T of `tempered` probabilities by log-loss and a prior on log T (Guo et al. 2017, section 4.2).

    Samples of classes whose prior is zero take no part: their log-loss is infinite at any temperature.

    Parameters
    ----------
    log_joint : ndarray of shape (n, L)
        log p(x, c).
    log_prior : ndarray of shape (L,)
    codes : ndarray of int, shape (n,)
    weights : ndarray of shape (n,)
    background : float
    expected : float
        Median of the prior on T.
    """
    possible = np.isfinite(log_prior)
    rows = possible[codes]
    log_joint, log_prior = log_joint[np.ix_(rows, possible)], log_prior[possible]
    codes, weights = (np.cumsum(possible) - 1)[codes[rows]], weights[rows]
    all_weights = np.append(weights, 1.0)

    def loss(log_temperature: float) -> float:
        log_proba = log_softmax(log_joint / np.exp(log_temperature), axis=1)
        own = bounded_log_proba(log_proba, log_prior, background)[np.arange(len(codes)), codes]
        # One sample more, with the features of a typical one and any class: n samples may show no mistake by chance.
        own = np.append(own, _median(log_proba @ np.exp(log_prior), weights))
        return 0.5 * ((log_temperature - np.log(expected)) / DEVIATION) ** 2 - float(all_weights @ own)

    # The background makes the loss bounded, and may give it several minima: the best of a grid, refined.
    grid = np.linspace(np.log(COLDEST), np.log(HOTTEST), 38)
    best = grid[int(np.argmin([loss(value) for value in grid]))]
    step = grid[1] - grid[0]
    refined = minimize_scalar(loss, bounds=(best - step, best + step), method="bounded")
    return float(np.exp(refined.x))


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(cumulated, 0.5 * cumulated[-1])]])
