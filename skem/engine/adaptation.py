"""Maximum a posteriori adaptation of a mixture to samples of a group (Reynolds, Quatieri and Dunn 2000, section 3.4)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from skem.engine import em
from skem.engine.parameters import FLOAT64, Mixture
from skem.engine.problem import Problem

PARTS = ("weights", "means", "covariances")
"""Parameters that can be adapted."""


def adapted(problem: Problem, relevance: float, n_samples: float, parts: Collection[str]) -> Mixture:
    """The mixture after one E-step and a convex combination with the parameters before (eqs. 11 to 14).

    With alpha_k = n_k / (n_k + r), n_k = sum of responsibilities, E_k their means over samples, and m_k the new mean, which is mu_k
    unless means are adapted:

        pi_k <- alpha_k n_k / n + (1 - alpha_k) pi_k, divided by the sum over components
        mu_k <- alpha_k E_k[x] + (1 - alpha_k) mu_k
        P_k  <- alpha_k E_k[(x - m_k) (x - m_k)^T] + (1 - alpha_k) (P_k + (mu_k - m_k) (mu_k - m_k)^T)

    For an adapted m_k the last line is eq. 13, which may be negative for another m_k. Sums are about mu_k here. A tied covariance is
    the mean of all P_k with weights n_k + r.

    Parameters
    ----------
    problem : Problem
        Its ``start`` is the mixture, without classes.
    relevance : float
        The relevance factor r > 0.
    n_samples : float
        n, the number of samples that ``problem`` stands for.
    parts : collection of str
        Some of ``PARTS``.
    """
    prior, covariance_type = problem.start, problem.covariance_type
    weights, shifts, covariances = prior.weights, np.zeros_like(prior.means), prior.covariances
    sums = em.expectation(problem, em.initial(problem), dtype=FLOAT64)
    scale = n_samples / problem.parts.total_weight
    n_k = scale * sums.counts
    total = n_k + relevance
    if "weights" in parts:
        weights = (n_k**2 / n_samples + relevance * weights) / total
        weights = weights / weights.sum()
    if "means" in parts:
        shifts = scale * sums.offsets / total
    if "covariances" in parts:
        before = covariance_type.of_components(covariances, *shifts.shape)
        between = (covariance_type.squares(shifts).T * total[:, 0]).T
        scatter = scale * sums.scatter + covariance_type.scatter(relevance * before - between)
        number = total[:, 0] if len(scatter) == len(total) else total.sum()
        covariances = covariance_type.compress((scatter.T / number).T)
    return Mixture(weights, prior.means + shifts, covariances)
