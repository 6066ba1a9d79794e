"""EM on rows with missing values, which are NaN (Ghahramani and Jordan 1994).

Of a row x with observed features o and missing ones h the E-step knows log N(x_o; mu_o, P_oo), the conditional mean
mu_h + P_ho P_oo^-1 (x_o - mu_o) of what is missing, and its conditional covariance P_hh - P_ho P_oo^-1 P_oh. The last is the
same for all rows that miss the same features, so rows are grouped by these patterns. With nothing missing it is the E-step
of ``em``, penalty included, without its active sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from skem.engine.covariance_type import CovarianceType
from skem.engine.em import State
from skem.engine.linalg import LOG_2PI
from skem.engine.moments import Moments
from skem.engine.parameters import Mixture
from skem.engine.problem import Problem
from skem.engine.rows import Features
from skem.engine.threads import Workers

ROWS = 1024
"""Rows of a pattern that are worked on at a time."""


@dataclass(frozen=True)
class Group:
    """Rows that miss the same features.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
    observed : ndarray of bool, shape (m,)
    """

    rows: np.ndarray
    observed: np.ndarray


def groups(X: np.ndarray) -> list[Group]:
    """The rows of ``X`` (N, m) by what they miss, at most ``ROWS`` in each."""
    patterns, of_rows = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    order = np.argsort(of_rows.ravel(), kind="stable")
    borders = np.searchsorted(of_rows.ravel()[order], np.arange(len(patterns) + 1))
    return [
        Group(order[begin : min(begin + ROWS, stop)], observed)
        for observed, start, stop in zip(patterns, borders[:-1], borders[1:], strict=True)
        for begin in range(start, stop, ROWS)
    ]


class Regression:
    """The missing features of a pattern given the observed ones, under each component.

    Parameters
    ----------
    means : ndarray of shape (K, m)
    covariances : ndarray of shape (K, m, m)
    observed : ndarray of bool, shape (m,)
    """

    def __init__(self, means: np.ndarray, covariances: np.ndarray, observed: np.ndarray) -> None:
        self._means, self._covariances, self._observed = means, covariances, observed
        self._factors = np.linalg.cholesky(covariances[:, observed][:, :, observed])

    @cached_property
    def _whitened(self) -> np.ndarray:
        """L^-1 P_oh, shape (K, o, h)."""
        cross = self._covariances[:, self._observed][:, :, ~self._observed]
        return np.stack(
            [solve_triangular(L, P, lower=True) for L, P in zip(self._factors, cross, strict=True)]
        )

    @cached_property
    def covariances(self) -> np.ndarray:
        """P_hh - P_ho P_oo^-1 P_oh, shape (K, h, h)."""
        missing = ~self._observed
        within = self._covariances[:, missing][:, :, missing]
        return within - np.swapaxes(self._whitened, 1, 2) @ self._whitened

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of rows ``x`` (n, m): log N(x_o; mu_o, P_oo), (K, n), and rows less the means, what misses predicted, (K, n, m)."""
        n, m = x.shape
        deviations = np.empty((len(self._means), n, m))
        log_density = np.empty((len(self._means), n))
        missing = ~self._observed
        for k, (mean, L) in enumerate(zip(self._means, self._factors, strict=True)):
            offsets = (x - mean)[:, self._observed]
            z = solve_triangular(L, offsets.T, lower=True)
            log_density[k] = -0.5 * (len(L) * LOG_2PI + (z**2).sum(axis=0)) - np.log(L.diagonal()).sum()
            deviations[k][:, self._observed] = offsets
            if missing.any():
                deviations[k][:, missing] = z.T @ self._whitened[k]
        return log_density, deviations


def log_densities(
    features: Features, mixture: Mixture, covariance_type: CovarianceType, workers: Workers
) -> np.ndarray:
    """log N(x_o; mu_o, P_oo) of each row under each component, shape (N, K)."""
    dense = covariance_type.dense(mixture.covariances, *mixture.means.shape)
    result = np.empty((len(features.X), len(mixture.means)))

    def fill(group: Group) -> None:
        result[group.rows] = Regression(mixture.means, dense, group.observed)(_read(features, group))[0].T

    for _ in workers.map(fill, groups(features.X)):
        pass
    return result


def imputed(
    features: Features, mixture: Mixture, covariance_type: CovarianceType, workers: Workers
) -> np.ndarray:
    """The rows with the mean of what they miss given what they have, shape (N, m), in the units of the mixture."""
    dense = covariance_type.dense(mixture.covariances, *mixture.means.shape)
    result = np.empty(features.X.shape)
    with np.errstate(divide="ignore"):
        log_weights = np.log(mixture.weights)

    def fill(group: Group) -> None:
        x = _read(features, group)
        log_density, deviations = Regression(mixture.means, dense, group.observed)(x)
        log_joint = log_density + log_weights
        shares = np.exp(log_joint - logsumexp(log_joint, axis=0))
        mean = np.einsum("kn,knm->nm", shares, deviations + mixture.means[:, None])
        result[group.rows] = np.where(group.observed, x, mean)

    for _ in workers.map(fill, groups(features.X)):
        pass
    return result


def _read(features: Features, group: Group) -> np.ndarray:
    """Rows of a group, shape (n, m)."""
    return (features.X[group.rows] - features.shift) / features.scale


def passes(problem: Problem, max_iter: int) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` passes of EM on rows of one class, as ``em.passes`` does."""
    rows = problem.parts.whole
    features, total = rows.features, rows.total_weight
    # What is missing has no volume; whoever asks takes that of all features.
    volume = float(rows.weights @ (np.isnan(features.X) @ np.log(features.scale))) / total
    mixture, of_patterns = problem.start, groups(features.X)
    statistics = _Statistics(problem, mixture, of_patterns)
    for p in range(1, max_iter + 1):
        mixture = statistics.maximise(problem)
        statistics = _Statistics(problem, mixture, of_patterns)
        log_likelihood = statistics.log_likelihood / total + volume
        objective = statistics.objective / total + volume
        yield State(p, mixture, log_likelihood, objective, np.dtype(np.float64))


class _Statistics:
    """The E-step: counts (K,), sums (K, H) of phi(x - mu_k) over rows and what they may miss, and likelihoods."""

    def __init__(self, problem: Problem, mixture: Mixture, of_patterns: list[Group]) -> None:
        self._mixture, covariance_type = mixture, problem.covariance_type
        K, m = mixture.means.shape
        rows = problem.parts.whole
        features, weights = rows.features, rows.weights
        dense = np.array(covariance_type.dense(mixture.covariances, K, m))
        penalties = 0.5 * problem.ridge * np.trace(np.linalg.inv(dense), axis1=1, axis2=2)[:, None]
        with np.errstate(divide="ignore"):
            log_weights = np.log(mixture.weights)

        def expect(group: Group) -> tuple[float, float, np.ndarray]:
            regression, w = Regression(mixture.means, dense, group.observed), weights[group.rows]
            log_density, deviations = regression(_read(features, group))
            log_joint = log_density + log_weights
            penalised = logsumexp(log_joint - penalties, axis=0)
            shares = w * np.exp(log_joint - penalties - penalised)
            sums = np.zeros((K, covariance_type.n_quadratic(m)))
            for k in np.flatnonzero(shares.any(axis=1)).tolist():
                x = np.ascontiguousarray(deviations[k].T)
                sums[k] = covariance_type.weighted_sums(x, shares[k : k + 1])[0]
            if not group.observed.all():
                missing = np.ix_(np.arange(K), ~group.observed, ~group.observed)
                spreads = np.zeros((K, m, m))
                spreads[missing] = regression.covariances
                sums += shares.sum(axis=1, keepdims=True) * covariance_type.of_scatter(spreads)
            return float(w @ logsumexp(log_joint, axis=0)), float(w @ penalised), sums

        self.log_likelihood = self.objective = 0.0
        self._sums = np.zeros((K, covariance_type.n_quadratic(m)))
        for log_likelihood, objective, sums in problem.workers.map(expect, of_patterns):
            self.log_likelihood += log_likelihood
            self.objective += objective
            self._sums += sums

    def maximise(self, problem: Problem) -> Mixture:
        """The M-step; a component without rows stays as it was, with weight zero."""
        previous, counts = self._mixture, self._sums[:, -1]
        alive = counts > problem.active_rows
        counts = np.where(alive, counts, 0.0)
        phi = self._sums / np.where(alive, counts, 1.0)[:, None]
        linear = problem.covariance_type.linear(previous.means.shape[1])
        offsets = np.where(alive[:, None], phi[:, linear], 0.0)
        means = previous.means + offsets
        covariances, _ = problem.covariance_type.maximise(
            Moments(phi, offsets, means, counts), previous.covariances, problem.ridge, problem.variance_floor
        )
        return Mixture((counts / counts.sum())[:, None], means, covariances)
