"""Stepwise EM: one batch of samples at a time (Cappe and Moulines 2009).

Its statistics are running means of those of batches, s <- (1 - gamma) s + gamma s_batch, and each batch is followed by an
M-step. The M-step can be inverted: with the shares of the classes, the parameters are all that is kept between batches.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skem.engine import em
from skem.engine.covariances import Maximised
from skem.engine.given_start import raise_unless_finite
from skem.engine.parameters import FLOAT64, Statistics
from skem.engine.problem import Problem


def step(problem: Problem, gamma: float, shares: np.ndarray) -> em.State:
    """The parameters after the samples of ``problem``, and their mean log-likelihood and objective before.

    Parameters
    ----------
    problem : Problem
        Its ``start`` has the parameters so far.
    gamma : float
        The share of this batch, in (0, 1].
    shares : ndarray of shape (L,)
        Share of each class in the samples so far. Without samples, a class has the weights of all classes together, before this
        batch as well as after it.
    """
    weights = with_unseen(problem.start.weights, shares)
    previous, covariance_type = replace(problem.start, weights=weights), problem.covariance_type
    problem = replace(problem, start=previous)
    (K, m), n = previous.means.shape, problem.parts.total_weight
    components = covariance_type.of_components(previous.covariances, K, m)
    components = components - problem.ridge * covariance_type.identity(m)
    running = weights * shares
    scatter = covariance_type.scatter((components.T * running.sum(axis=1)).T)

    def maximised(batch: Statistics) -> Maximised:
        counts = (1 - gamma) * running + gamma * batch.counts / n
        seen = counts.any(axis=0)
        sums = Statistics(
            np.compress(seen, counts, axis=1),
            gamma * batch.offsets / n,
            (1 - gamma) * scatter + gamma * batch.scatter / n,
            dtype=batch.dtype,
        )
        found = covariance_type.m_step(sums, previous, problem.constraints)
        new = np.zeros_like(weights)
        new[:, seen] = found.mixture.weights
        mixture = replace(found.mixture, weights=with_unseen(new, counts.sum(axis=0)))
        return found._replace(mixture=mixture)

    start = em.initial(problem)
    batch = em.expectation(problem, start)
    found = maximised(batch)
    if not found.exact and batch.dtype != FLOAT64:
        batch = em.expectation(problem, start, dtype=FLOAT64)
        found = maximised(batch)
    raise_unless_finite(batch.objective)
    log_likelihood, objective = batch.log_likelihood / n, batch.objective / n
    return em.State(found.mixture, log_likelihood, objective, batch.dtype, objective, found.n_singular)


def with_unseen(weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """pi_kc (K, L), and sum_c pi_kc shares_c as those of a class whose share is zero."""
    return np.where(shares > 0, weights, (weights * shares).sum(axis=1)[:, None])
