"""Stepwise EM: one batch of samples at a time (Cappe and Moulines 2009).

Its statistics are running means of those of batches, s <- (1 - gamma) s + gamma s_batch, and each batch is followed by an
M-step. The M-step can be inverted, so the parameters are all that is kept between batches.
"""

from __future__ import annotations

from skem.engine import em
from skem.engine.covariances import Maximised
from skem.engine.given_start import raise_unless_finite
from skem.engine.parameters import FLOAT64, Mixture, Statistics
from skem.engine.problem import Problem


def step(problem: Problem, gamma: float) -> tuple[Mixture, float, float]:
    """The parameters after the samples of ``problem``, and their mean log-likelihood and objective before.

    Parameters
    ----------
    problem : Problem
        Problem of one class; its ``start`` has the parameters so far.
    gamma : float
        The share of this batch, in (0, 1].
    """
    previous, covariance_type = problem.start, problem.covariance_type
    (K, m), n = previous.means.shape, problem.parts.total_weight
    components = covariance_type.of_components(previous.covariances, K, m)
    components = components - problem.ridge * covariance_type.identity(m)
    running = covariance_type.scatter((components.T * previous.weights[:, 0]).T)

    def maximised(batch: Statistics) -> Maximised:
        sums = Statistics(
            (1 - gamma) * previous.weights + gamma * batch.counts / n,
            gamma * batch.offsets / n,
            (1 - gamma) * running + gamma * batch.scatter / n,
            dtype=batch.dtype,
        )
        return covariance_type.m_step(sums, previous, problem.constraints)

    batch = em.expectation(problem, em.initial(problem))
    found = maximised(batch)
    if not found.exact and batch.dtype != FLOAT64:
        batch = em.expectation(problem, em.initial(problem), dtype=FLOAT64)
        found = maximised(batch)
    raise_unless_finite(batch.objective)
    return found.mixture, batch.log_likelihood / n, batch.objective / n
