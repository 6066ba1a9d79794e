"""Supervised EM, as a generator of immutable states, one per iteration.

`e_step` and `m_step` are its equations (Pulford 2022, eqs. 15 to 18) in NumPy. Fits compute the same by `expectation` and
`maximisation`, about the present means: with sums s0 = sum r, s1 = sum r (x - mu) and S = sum r (x - mu) (x - mu)^T, the M-step is

    pi_kc = s0_kc / sum_k s0_kc,   mu <- mu + s1/s0,   P <- S/s0 - (s1/s0) (s1/s0)^T + r I

The covariance regularisation is part of the model: with ``ridge`` = r, training uses log N(x; mu, P) - r/2 tr(P^-1), for which P = S + r I *is* the
M-step. The penalised log-likelihood, the ``objective``, therefore never falls but by rounding. A component may be reserved, in
part, for a class: ``log_sharing`` is added to its log-weights in the other classes in the E-step and nowhere else (Titsias and
Likas 2001, eqs. 27 to 37). It is one more penalty of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from skem.engine import little
from skem.engine.covariances import Maximised
from skem.engine.expectation import Expectation
from skem.engine.given_start import raise_if_far
from skem.engine.linalg import logarithms
from skem.engine.parameters import FLOAT64, LOG_2PI, SAFE32, Mixture, Statistics
from skem.engine.problem import Problem


def e_step(X: np.ndarray, y: np.ndarray, mixture: Mixture, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """r_nk = p(k | x_n, y_n) (eq. 15), shape (n, K), and the penalised log p(x_n | y_n), shape (n,), for full covariances."""
    log_joint = np.log(mixture.weights[:, y].T)
    for k, (mu, P) in enumerate(zip(mixture.means, mixture.covariances, strict=True)):
        U = np.linalg.inv(np.linalg.cholesky(P))
        z = (X - mu) @ U.T
        log_joint[:, k] += np.log(np.diag(U)).sum() - 0.5 * (len(mu) * LOG_2PI + (z**2).sum(axis=1))
        log_joint[:, k] -= 0.5 * ridge * (U**2).sum()
    log_density = logsumexp(log_joint, axis=1)
    return np.exp(log_joint - log_density[:, None]), log_density


def m_step(X: np.ndarray, y: np.ndarray, r: np.ndarray, ridge: float) -> Mixture:
    """pi_kc (eq. 16), mu_k (eq. 17) and P_k (eq. 18) from responsibilities (n, K)."""
    counts = np.stack([r[y == c].sum(axis=0) for c in range(y.max() + 1)], axis=1)
    n_k = counts.sum(axis=1)
    means = r.T @ X / n_k[:, None]
    offsets = X[:, None] - means
    covariances = np.einsum("nk,nki,nkj->kij", r, offsets, offsets) / n_k[:, None, None]
    return Mixture(counts / counts.sum(axis=0), means, covariances + ridge * np.eye(X.shape[1]))


class State(NamedTuple):
    """The result of one iteration.

    Attributes
    ----------
    mixture : Mixture
        The parameters after this iteration.
    log_likelihood : float
        Weighted mean over samples of log p(x|c) under these parameters, in nats.
    objective : float
        The same with the penalised densities; what EM maximises.
    dtype : numpy dtype
        Type of the log-densities.
    first_objective : float
        The objective of the parameters before the first iteration.
    n_singular : int
        Components whose covariance was singular in the M-step, and so is not what their samples have.
    """

    mixture: Mixture
    log_likelihood: float
    objective: float
    dtype: np.dtype
    first_objective: float
    n_singular: int = 0


def iterations(problem: Problem, max_iter: int) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` iterations of supervised EM on one block of features."""
    total = problem.parts.total_weight
    # The caller subtracts the log-volume of all features.
    volume = problem.parts.missing_log_volume(problem.columns, problem.covariance_type)
    parameters = initial(problem)
    statistics = expectation(problem, parameters)
    first = statistics.objective / total + volume
    of_little, is_little = little.iterations(problem, parameters, statistics), False
    for iteration in range(1, max_iter + 1):
        result = next(of_little, None)
        if result is None:
            parameters = maximisation(problem, statistics, parameters)
            statistics = expectation(problem, parameters, with_sums=iteration < max_iter)
            if is_little:  # but for the last iteration
                of_little = little.iterations(problem, parameters, statistics)
        else:
            parameters, statistics = result
        is_little = result is not None
        yield State(
            parameters.mixture,
            statistics.log_likelihood / total + volume,
            statistics.objective / total + volume,
            statistics.dtype,
            first,
            parameters.n_singular,
        )


def initial(problem: Problem) -> Maximised:
    """The initial parameters, as if an M-step had found them."""
    start = problem.start
    raise_if_far(start, problem.extent)
    log_weights = logarithms(np.ascontiguousarray(start.weights))
    gaussians = problem.covariance_type.gaussians(start.means, start.covariances)
    # Penalties of given covariances, not of those of an M-step, may differ by so much that log-densities lose their digits in float32.
    exact = bool(0.5 * problem.ridge * np.ptp(gaussians.traces) < SAFE32)
    return Maximised(start, log_weights, gaussians, 0, exact)


def is_singular(problem: Problem) -> bool:
    """True if the covariance of all samples is singular, with the regularisation of a problem of one component."""
    start = initial(problem)
    return maximisation(problem, expectation(problem, start), start).n_singular > 0


def maximisation(problem: Problem, statistics: Statistics, parameters: Maximised) -> Maximised:
    """The parameters after an E-step under ``parameters``, which is repeated in float64 if variances lost their digits."""
    found = problem.covariance_type.m_step(statistics, parameters.mixture, problem.constraints)
    if found.exact or statistics.dtype == FLOAT64:
        return found
    return maximisation(problem, expectation(problem, parameters, dtype=FLOAT64), parameters)


def expectation(
    problem: Problem, parameters: Maximised, *, with_sums: bool = True, dtype: np.dtype | None = None
) -> Statistics:
    """The sums over all samples in a type, by default in float32 where samples are and that is exact enough."""
    extent = problem.extent  # refuses features too far out
    if dtype is None:
        dtype = problem.parts.dtype
        if dtype != FLOAT64:
            gaussians, weights = parameters.gaussians, parameters.mixture.weights
            safe = gaussians.is_float32_safe(weights, extent, pairs=problem.parts.reads_pairs)
            dtype = dtype if safe and parameters.exact else FLOAT64
    return problem.parts.fold(Expectation(problem, parameters, dtype, with_sums), problem.workers)
