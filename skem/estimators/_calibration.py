"""The temperature of a product of blocks: how much of its evidence is evidence."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax

COLDEST, HOTTEST = 1e-2, 1e6


def fitted_temperature(
    log_density: np.ndarray,
    log_prior: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    smoothing: float,
) -> float:
    """The temperature T of the least log-loss of p(c|x), in proportion to p(c) p(x|c)^(1/T) (Guo et al. 2017, section 4.2).

    Classes that cannot be have no part in it, nor have their rows, whose log-loss is infinite at any temperature.

    Parameters
    ----------
    log_density : ndarray of shape (n, L)
        log p(x|c).
    log_prior : ndarray of shape (L,)
    codes : ndarray of int, shape (n,)
    weights : ndarray of shape (n,)
    smoothing : float
        Share of each target that is spread over all classes: it keeps T from zero where all rows are right.
    """
    possible = np.isfinite(log_prior)
    if not possible.all():
        rows = possible[codes]
        log_density, log_prior = log_density[np.ix_(rows, possible)], log_prior[possible]
        codes, weights = (np.cumsum(possible) - 1)[codes[rows]], weights[rows]
    targets = np.full(log_density.shape, smoothing / log_density.shape[1])
    targets[np.arange(len(codes)), codes] += 1.0 - smoothing
    # Of the evidence only differences count; less the largest they are of a size.
    evidence = log_density - log_density.max(axis=1, keepdims=True)
    expected = (targets * evidence).sum(axis=1)

    def slope(log_beta: float) -> float:
        """The derivative of the log-loss in beta = 1/T, which grows with beta."""
        proba = np.exp(log_softmax(np.exp(log_beta) * evidence + log_prior, axis=1))
        return float(weights @ ((proba * evidence).sum(axis=1) - expected))

    low, high = -np.log(HOTTEST), -np.log(COLDEST)
    if slope(low) >= 0:
        return HOTTEST
    if slope(high) <= 0:
        return COLDEST
    return float(np.exp(-brentq(slope, low, high, xtol=1e-10)))
