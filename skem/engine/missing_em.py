"""EM on samples with missing values, which are NaN (Ghahramani and Jordan 1994).

The E-step replaces missing values by their conditional means under each component, and adds their conditional covariances to
the scatter (see ``missing``). Without missing values it equals the E-step of ``em``, penalties included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from skem.engine.covariances import CovarianceType
from skem.engine.density import log_sum_exp
from skem.engine.em import State
from skem.engine.missing import Group, component_covariances, groups, regression
from skem.engine.parameters import Mixture, Statistics
from skem.engine.problem import Problem
from skem.engine.rows import Features, Rows


def filled(rows: Rows) -> Rows:
    """Replace missing values by the means of their class, for initialisations from samples."""
    features = rows.features
    X = np.array(features.X if features.order is None else features.X[features.order])
    for begin, stop in zip(rows.borders[:-1], rows.borders[1:], strict=True):
        x, observed, weights = X[begin:stop], ~np.isnan(X[begin:stop]), rows.weights[begin:stop]
        means = weights @ np.where(observed, x, 0.0) / (weights @ observed)
        # Rounding must not move the mean of a constant feature.
        smallest = x.min(axis=0, where=observed, initial=np.inf)
        largest = x.max(axis=0, where=observed, initial=-np.inf)
        X[begin:stop] = np.where(observed, x, np.clip(means, smallest, largest))
    return Rows(Features(X, None, features.shift, features.scale, keep=True), rows.weights, rows.borders)


class _ClassGroup(NamedTuple):
    """Samples of a class with the same missing features of a feature block.

    Attributes
    ----------
    code : int
        Index of the class.
    group : Group
    x : ndarray of shape (n, m)
    weights : ndarray of shape (n,)
    """

    code: int
    group: Group
    x: np.ndarray
    weights: np.ndarray


def _class_groups(rows: Rows, columns: np.ndarray, covariance_type: CovarianceType) -> list[_ClassGroup]:
    return [
        _ClassGroup(c, group, rows.features.read(columns, group.indices).T, rows.weights[group.indices])
        for c, (begin, stop) in enumerate(zip(rows.borders[:-1], rows.borders[1:], strict=True))
        for group in groups(rows.features, columns, covariance_type, np.arange(begin, stop))
    ]


def iterations(problem: Problem, max_iter: int) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` EM iterations on one feature block, as ``em.iterations`` does."""
    rows, columns = problem.parts.all_rows, problem.columns
    class_groups, total = _class_groups(rows, columns, problem.covariance_type), rows.total_weight
    # The caller subtracts the log-volume of all features; missing ones have none, so it is added back.
    log_scale = np.log(rows.features.scale[columns])
    observed_volume = sum(_weighted(g.weights, g.group.sum_observed(log_scale)) for g in class_groups)
    volume = log_scale.sum() - observed_volume / total
    mixture = problem.start
    statistics = _e_step(problem, mixture, class_groups)
    first = statistics.objective / total + volume
    for iteration in range(1, max_iter + 1):
        mixture, _, _, n_singular, _ = problem.covariance_type.m_step(
            statistics, mixture, problem.constraints
        )
        statistics = _e_step(problem, mixture, class_groups)
        log_likelihood = statistics.log_likelihood / total + volume
        objective = statistics.objective / total + volume
        yield State(iteration, mixture, log_likelihood, objective, statistics.dtype, first, n_singular)


def _weighted(weights: np.ndarray, values: Any) -> float:
    """Sum of weights (n,) times values, one or (n,)."""
    return float(weights.sum() * values if np.ndim(values) == 0 else weights @ values)


class _GroupSums(NamedTuple):
    """Expected statistics of a group, for the k components with a weight in its class.

    Attributes
    ----------
    log_likelihood, objective : float
    counts : ndarray of shape (k,)
        Sums of responsibilities.
    offsets : ndarray of shape (k, m)
        Weighted sums of x - mu_k.
    scatter : ndarray of shape (k, m, m) or (k, m)
        Weighted sums of (x - mu_k) (x - mu_k)^T, or their diagonals.
    """

    log_likelihood: float
    objective: float
    counts: np.ndarray
    offsets: np.ndarray
    scatter: np.ndarray


class _ClassMixture(NamedTuple):
    """Components with a weight in a class; log-weights and penalties have shape (k, 1)."""

    components: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    log_weights: np.ndarray
    penalties: np.ndarray

    def expect(self, group: _ClassGroup) -> _GroupSums:
        """Run the E-step on a group."""
        conditional = regression(self.means, self.covariances, group.group.observed)
        log_joint, deviations = conditional(group.x)
        log_joint += self.log_weights
        responsibilities = log_joint - self.penalties
        penalised, largest = log_sum_exp(responsibilities)
        responsibilities *= group.weights * np.exp(largest - penalised)
        return _GroupSums(
            float(group.weights @ log_sum_exp(log_joint)[0]),
            float(group.weights @ penalised),
            responsibilities.sum(axis=1),
            (responsibilities[:, None] @ deviations)[:, 0],
            conditional.scatter(responsibilities, deviations),
        )


def _e_step(problem: Problem, mixture: Mixture, class_groups: list[_ClassGroup]) -> Statistics:
    """Sum the statistics about the means over all samples."""
    (K, m), L = mixture.means.shape, mixture.weights.shape[1]
    classes, scatter = (
        _class_mixtures(problem, mixture),
        np.zeros((K, *problem.covariance_type.identity(m).shape)),
    )
    total = Statistics(np.zeros((K, L)), np.zeros((K, m)), scatter)
    with problem.workers.imap(lambda group: classes[group.code].expect(group), class_groups) as sums:
        for group, added in zip(class_groups, sums, strict=True):
            components = classes[group.code].components
            total.log_likelihood += added.log_likelihood
            total.objective += added.objective
            total.counts[components, group.code] += added.counts
            total.offsets[components] += added.offsets
            scatter[components] += added.scatter
    total.scatter = problem.covariance_type.scatter(scatter)
    return total


def _class_mixtures(problem: Problem, mixture: Mixture) -> list[_ClassMixture]:
    covariances = component_covariances(mixture, problem.covariance_type)
    penalties = np.zeros(mixture.weights.shape)
    penalties += 0.5 * problem.ridge * _traces(covariances)[:, None]
    if problem.log_sharing is not None:
        penalties -= problem.log_sharing
    classes = []
    for c, weights in enumerate(mixture.weights.T):
        used = np.flatnonzero(weights)
        log_weights = np.log(weights[used, None])
        classes.append(
            _ClassMixture(used, mixture.means[used], covariances[used], log_weights, penalties[used, c, None])
        )
    return classes


def _traces(covariances: np.ndarray) -> np.ndarray:
    """Traces of the inverses of matrices (K, m, m), or of variances (K, m)."""
    if covariances.ndim == 2:
        return (1.0 / covariances).sum(axis=1)
    return np.trace(np.linalg.inv(covariances), axis1=1, axis2=2)
