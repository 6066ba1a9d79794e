"""EM on samples with missing values, which are NaN (Ghahramani and Jordan 1994).

The E-step replaces missing values by their conditional means under each component, and adds their conditional covariances to
the scatter (see ``missing``). Without missing values it equals the E-step of ``em``, penalties included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skem.engine.density import log_sum_exp
from skem.engine.em import State
from skem.engine.missing import Regression, dense_covariances, groups
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
    observed : ndarray of bool, shape (m,)
    x : ndarray of shape (n, m)
    weights : ndarray of shape (n,)
    """

    code: int
    observed: np.ndarray
    x: np.ndarray
    weights: np.ndarray


def _class_groups(rows: Rows, columns: np.ndarray) -> list[_ClassGroup]:
    return [
        _ClassGroup(
            c, group.observed, rows.features.read(columns, group.indices).T, rows.weights[group.indices]
        )
        for c, (begin, stop) in enumerate(zip(rows.borders[:-1], rows.borders[1:], strict=True))
        for group in groups(rows.features, columns, np.arange(begin, stop))
    ]


def iterations(problem: Problem, max_iter: int) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` EM iterations on one feature block, as ``em.iterations`` does."""
    rows, columns = problem.parts.all_rows, problem.columns
    class_groups, total = _class_groups(rows, columns), rows.total_weight
    # The caller subtracts the log-volume of all features; missing ones have none, so it is added back.
    log_scale = np.log(rows.features.scale[columns])
    volume = (
        log_scale.sum() - sum(g.weights.sum() * log_scale[g.observed].sum() for g in class_groups) / total
    )
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


class _GroupSums(NamedTuple):
    """Expected statistics of a group, for the k components with a weight in its class.

    Attributes
    ----------
    log_likelihood, objective : float
    counts : ndarray of shape (k,)
        Sums of responsibilities.
    offsets : ndarray of shape (k, m)
        Weighted sums of x - mu_k.
    scatter : ndarray of shape (k, m, m)
        Weighted sums of (x - mu_k) (x - mu_k)^T.
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
        regression = Regression(self.means, self.covariances, group.observed)
        log_joint, deviations = regression(group.x)
        log_joint += self.log_weights
        responsibilities = log_joint - self.penalties
        penalised, largest = log_sum_exp(responsibilities)
        responsibilities *= group.weights * np.exp(largest - penalised)
        counts = responsibilities.sum(axis=1)
        scatter = np.swapaxes(deviations * responsibilities[:, :, None], 1, 2) @ deviations
        if not group.observed.all():
            missing = np.flatnonzero(~group.observed)
            scatter[:, missing[:, None], missing] += counts[:, None, None] * regression.covariances
        return _GroupSums(
            float(group.weights @ log_sum_exp(log_joint)[0]),
            float(group.weights @ penalised),
            counts,
            (responsibilities[:, None] @ deviations)[:, 0],
            scatter,
        )


def _e_step(problem: Problem, mixture: Mixture, class_groups: list[_ClassGroup]) -> Statistics:
    """Sum the statistics about the means over all samples."""
    (K, m), L = mixture.means.shape, mixture.weights.shape[1]
    classes, scatter = _class_mixtures(problem, mixture), np.zeros((K, m, m))
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
    dense = dense_covariances(mixture, problem.covariance_type)
    penalties = np.zeros(mixture.weights.shape)
    penalties += 0.5 * problem.ridge * np.trace(np.linalg.inv(dense), axis1=1, axis2=2)[:, None]
    if problem.log_sharing is not None:
        penalties -= problem.log_sharing
    classes = []
    for c, weights in enumerate(mixture.weights.T):
        used = np.flatnonzero(weights)
        log_weights = np.log(weights[used, None])
        classes.append(
            _ClassMixture(used, mixture.means[used], dense[used], log_weights, penalties[used, c, None])
        )
    return classes
