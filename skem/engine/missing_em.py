"""EM on rows with missing values, which are NaN (Ghahramani and Jordan 1994).

The E-step takes what a row misses for its conditional mean under each component, and adds its conditional covariance to the
scatter, see ``missing``. With nothing missing it is that of ``em``, penalties included; a class has the components that it
has a weight on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skem.engine import compiled
from skem.engine.density import log_sum_exp
from skem.engine.em import State
from skem.engine.missing import Regression, dense_covariances, groups
from skem.engine.moments import Moments
from skem.engine.parameters import Mixture
from skem.engine.problem import Problem
from skem.engine.rows import Features, Rows


def filled(rows: Rows) -> Rows:
    """The rows with the mean over their class for what is missing, which is what starts from rows take it for."""
    features = rows.features
    X = np.array(features.X if features.order is None else features.X[features.order])
    for begin, stop in zip(rows.borders[:-1], rows.borders[1:], strict=True):
        of_class, observed = X[begin:stop], ~np.isnan(X[begin:stop])
        weights = rows.weights[begin:stop]
        means = weights @ np.where(observed, of_class, 0.0) / (weights @ observed)
        # Rounding is not to take them out of the range, which of a constant feature is one value.
        least = of_class.min(axis=0, where=observed, initial=np.inf)
        means = np.clip(means, least, of_class.max(axis=0, where=observed, initial=-np.inf))
        X[begin:stop] = np.where(observed, of_class, means)
    return Rows(Features(X, None, features.shift, features.scale, keep=True), rows.weights, rows.borders)


class _ClassGroup(NamedTuple):
    """Rows of a class that miss the same features of a block.

    Attributes
    ----------
    code : int
        The class.
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
        _ClassGroup(c, group.observed, rows.features.read(columns, group.rows).T, rows.weights[group.rows])
        for c, (begin, stop) in enumerate(zip(rows.borders[:-1], rows.borders[1:], strict=True))
        for group in groups(rows.features, columns, np.arange(begin, stop))
    ]


def passes(problem: Problem, max_iter: int) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` passes of EM on one block of features, as ``em.passes`` does."""
    rows, columns = problem.parts.all_rows, problem.columns
    of_patterns, total = _class_groups(rows, columns), rows.total_weight
    # What is missing has no volume; whoever asks takes that of all features.
    log_scale = np.log(rows.features.scale[columns])
    volume = log_scale.sum() - sum(g.weights.sum() * log_scale[g.observed].sum() for g in of_patterns) / total
    mixture = problem.start
    statistics = _Statistics(problem, mixture, of_patterns)
    first = statistics.objective / total + volume
    for p in range(1, max_iter + 1):
        mixture, n_singular = statistics.maximise(problem)
        statistics = _Statistics(problem, mixture, of_patterns)
        log_likelihood = statistics.log_likelihood / total + volume
        objective = statistics.objective / total + volume
        yield State(p, mixture, log_likelihood, objective, np.dtype(np.float64), first, n_singular)


class _GroupSums(NamedTuple):
    """What the rows of a group add to the statistics, over what they may miss.

    Attributes
    ----------
    log_likelihood, objective : float
    counts : ndarray of shape (k,)
        Of the components that the class uses.
    offsets : ndarray of shape (k, m)
        Sums of x - mu_k.
    scatter : ndarray of shape (k, m, m)
        Sums of (x - mu_k) (x - mu_k)^T.
    """

    log_likelihood: float
    objective: float
    counts: np.ndarray
    offsets: np.ndarray
    scatter: np.ndarray


class _ClassMixture(NamedTuple):
    """The components that a class uses, with log-weights and penalties of shape (k, 1)."""

    components: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    log_weights: np.ndarray
    penalties: np.ndarray

    def expect(self, group: _ClassGroup) -> _GroupSums:
        """The E-step on the rows of a group."""
        regression = Regression(self.means, self.covariances, group.observed)
        log_joint, deviations = regression(group.x)
        log_joint += self.log_weights
        shares = log_joint - self.penalties
        penalised, largest = log_sum_exp(shares)
        shares *= group.weights * np.exp(largest - penalised)
        counts = shares.sum(axis=1)
        scatter = np.swapaxes(deviations * shares[:, :, None], 1, 2) @ deviations
        if not group.observed.all():
            missing = np.flatnonzero(~group.observed)
            scatter[:, missing[:, None], missing] += counts[:, None, None] * regression.covariances
        return _GroupSums(
            float(group.weights @ log_sum_exp(log_joint)[0]),
            float(group.weights @ penalised),
            counts,
            (shares[:, None] @ deviations)[:, 0],
            scatter,
        )


class _Statistics:
    """The E-step: counts (K, L), sums of x - mu_k and of its products, and likelihoods."""

    def __init__(self, problem: Problem, mixture: Mixture, of_patterns: list[_ClassGroup]) -> None:
        self._mixture = mixture
        (K, m), L = mixture.means.shape, mixture.weights.shape[1]
        classes = _class_mixtures(problem, mixture)
        self.log_likelihood = self.objective = 0.0
        self._counts, self._offsets, self._scatter = np.zeros((K, L)), np.zeros((K, m)), np.zeros((K, m, m))
        with problem.workers.imap(lambda group: classes[group.code].expect(group), of_patterns) as sums:
            for group, added in zip(of_patterns, sums, strict=True):
                components = classes[group.code].components
                self.log_likelihood += added.log_likelihood
                self.objective += added.objective
                self._counts[components, group.code] += added.counts
                self._offsets[components] += added.offsets
                self._scatter[components] += added.scatter

    def maximise(self, problem: Problem) -> tuple[Mixture, int]:
        """The M-step (Pulford 2022, eqs. 16-18), and how many components are singular.

        A component without rows stays as it was, with weight zero.
        """
        previous, covariance_type = self._mixture, problem.covariance_type
        sums = covariance_type.of_scatter(self._scatter)
        sums[:, problem.linear] = self._offsets
        sums[:, -1] = self._counts.sum(axis=1)
        weights, means, phi, offsets, n_k = compiled.components().expectations(
            self._counts.copy(), sums, previous.means, previous.means, problem.linear, problem.active_rows
        )
        covariances, _, singular = covariance_type.maximise(
            Moments(phi, offsets, means, n_k), previous.covariances, problem.ridge, problem.variance_floor
        )
        return Mixture(weights, means, covariances), int(singular.sum())


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
