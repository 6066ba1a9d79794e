"""Stepwise EM: one batch of rows at a time (Cappe and Moulines 2009).

Its statistics are running means of those of batches, s <- (1 - gamma) s + gamma s_batch, and each batch is followed by an
M-step. What the M-step maps to parameters maps back, so the parameters are all that is kept between batches.
"""

from __future__ import annotations

import numpy as np

from skem.engine import em
from skem.engine.covariance_type import CovarianceType
from skem.engine.moments import Moments
from skem.engine.parameters import Mixture
from skem.engine.problem import Problem


def step(problem: Problem, gamma: float) -> tuple[Mixture, float, float]:
    """The parameters after the rows of ``problem``, and their mean log-likelihood and objective before.

    Parameters
    ----------
    problem : Problem
        Of one class; its start are the parameters so far.
    gamma : float
        The share of this batch, in (0, 1].
    """
    previous, covariance_type = problem.start, problem.covariance_type
    (K, m), n = previous.means.shape, problem.parts.total_weight
    batch = em.statistics(problem, previous)
    added = _about(batch.sums, previous.means - batch.origins, covariance_type)
    scatter = np.array(covariance_type.dense(previous.covariances, K, m)) - problem.ridge * np.eye(m)
    running = covariance_type.of_scatter(scatter)
    running[:, -1] = 1.0
    sums = (1 - gamma) * previous.weights * running + gamma * added / n
    counts = sums[:, -1]
    alive = counts > problem.active_rows
    counts = np.where(alive, counts, 0.0)
    phi = sums / np.where(alive, counts, 1.0)[:, None]
    offsets = np.where(alive[:, None], phi[:, covariance_type.linear(m)], 0.0)
    means = previous.means + offsets
    covariances, *_ = covariance_type.maximise(
        Moments(phi, offsets, means, counts), previous.covariances, problem.ridge, problem.variance_floor
    )
    mixture = Mixture((counts / counts.sum())[:, None], means, covariances)
    return mixture, batch.log_likelihood, batch.objective


def _about(sums: np.ndarray, shift: np.ndarray, covariance_type: CovarianceType) -> np.ndarray:
    """Sums of phi(x - shift), (K, H), from those of phi(x), for a ``shift`` (K, m) of each component."""
    n, linear = sums[:, -1:], covariance_type.linear(shift.shape[1])
    means = sums[:, linear] / np.where(n > 0, n, 1.0)

    def phi(x: np.ndarray) -> np.ndarray:
        return covariance_type.features(x.T).T

    # The products of (x - s) are those of x, less twice the mixed ones, which are what phi(x + s) has more, plus those of s.
    mixed = phi(means + shift) - phi(means) - phi(shift)
    moved = sums + n * (phi(shift) - mixed)
    moved[:, linear] = sums[:, linear] - n * shift
    moved[:, -1:] = n
    return moved
