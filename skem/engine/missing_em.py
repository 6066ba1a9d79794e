"""EM on samples with missing values, which are NaN (Ghahramani and Jordan 1994).

The E-step replaces missing values by their conditional means under each component, and adds their conditional covariances to
the scatter (see ``missing``). Without missing values it equals `Expectation`, penalties included.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skem.engine.covariances import CovarianceType
from skem.engine.density import log_sum_exp
from skem.engine.expectation import Expectation
from skem.engine.linalg import logarithms, weighted_sum
from skem.engine.missing import Group, component_covariances, groups, regression
from skem.engine.parameters import FLOAT64, Statistics
from skem.engine.parts import PartsInMemory
from skem.engine.rows import Rows
from skem.engine.threads import Workers


def filled(rows: Rows) -> Rows:
    """Replace missing values by the means of their class, for initialisations from samples."""
    X = np.array(rows.X if rows.order is None else rows.X[rows.order])
    for begin, stop in zip(rows.borders[:-1], rows.borders[1:], strict=True):
        x, observed, weights = X[begin:stop], ~np.isnan(X[begin:stop]), rows.weights[begin:stop]
        means = weighted_sum(weights, np.where(observed, x, 0.0)) / weighted_sum(weights, observed)
        # Rounding must not move the mean of a constant feature.
        smallest = x.min(axis=0, where=observed, initial=np.inf)
        largest = x.max(axis=0, where=observed, initial=-np.inf)
        X[begin:stop] = np.where(observed, x, np.clip(means, smallest, largest))
    return Rows(X, None, rows.shift, rows.scale, keep=True, weights=rows.weights, borders=rows.borders)


class _ClassSamples(NamedTuple):
    """Samples x (n, m) of class ``code`` with the same missing features of a feature block, and their weights (n,)."""

    code: int
    group: Group
    x: np.ndarray
    weights: np.ndarray


class _ClassMixture(NamedTuple):
    """Components with a weight in a class; log-weights and penalties have shape (k, 1)."""

    components: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    log_weights: np.ndarray
    penalties: np.ndarray

    def expect(self, group: _ClassSamples) -> Statistics:
        """The expected sums over a group; counts are (k,), and the scatter is that of each component."""
        conditional = regression(self.means, self.covariances, group.group.observed)
        log_joint, deviations = conditional(group.x)
        log_joint += self.log_weights
        responsibilities = log_joint - self.penalties
        penalised, _ = log_sum_exp(responsibilities)
        responsibilities *= group.weights / responsibilities.sum(axis=0)
        return Statistics(
            responsibilities.sum(axis=1),
            *conditional.sums(responsibilities, deviations),
            float((group.weights * log_sum_exp(log_joint)[0]).sum()),
            float((group.weights * penalised).sum()),
        )


class IncompleteParts(PartsInMemory):
    """Samples in memory with missing values: in each feature block, groups of samples of a class that miss the same features."""

    def __init__(self, *data: Any) -> None:
        super().__init__(*data)
        self.dtype, self.total_weight = FLOAT64, self.whole.total_weight
        self._groups: dict[tuple[bytes, bool], list[_ClassSamples]] = {}

    def _groups_of(self, columns: np.ndarray, covariance_type: CovarianceType) -> list[_ClassSamples]:
        key, rows = (columns.tobytes(), covariance_type.diagonal), self.whole
        if key not in self._groups:
            self._groups[key] = [
                _ClassSamples(c, group, rows.read(columns, group.indices).T, rows.weights[group.indices])
                for c, (begin, stop) in enumerate(zip(rows.borders[:-1], rows.borders[1:], strict=True))
                for group in groups(rows, columns, covariance_type, np.arange(begin, stop))
            ]
        return self._groups[key]

    def missing_log_volume(self, columns: np.ndarray, covariance_type: CovarianceType) -> float:
        log_scale = logarithms(self.whole.scale[columns])
        observed_volume = sum(
            (g.weights * g.group.sum_observed(log_scale)).sum()
            for g in self._groups_of(columns, covariance_type)
        )
        return log_scale.sum() - observed_volume / self.total_weight

    def fold(self, step: Expectation, workers: Workers) -> Statistics:
        """The sums about the means over all samples."""
        mixture, covariance_type = step.parameters.mixture, step.covariance_type
        (K, m), covariances = mixture.means.shape, component_covariances(mixture, covariance_type)
        penalties = step.penalties(step.parameters.gaussians.traces)
        penalties = np.broadcast_to(penalties, mixture.weights.shape)
        classes = []
        for c, weights in enumerate(mixture.weights.T):
            k = np.flatnonzero(weights)
            log_weights, of_class = logarithms(weights[k, None]), penalties[k, c, None]
            classes.append(_ClassMixture(k, mixture.means[k], covariances[k], log_weights, of_class))
        scatter = np.zeros((K, *covariance_type.identity(m).shape))
        total = Statistics(np.zeros(mixture.weights.shape), np.zeros((K, m)), scatter)
        groups = self._groups_of(step.columns, covariance_type)
        with workers.imap(lambda group: classes[group.code].expect(group), groups) as sums:
            for group, added in zip(groups, sums, strict=True):
                k = classes[group.code].components
                total.log_likelihood += added.log_likelihood
                total.objective += added.objective
                total.counts[k, group.code] += added.counts
                total.offsets[k] += added.offsets
                scatter[k] += added.scatter
        total.scatter = covariance_type.scatter(scatter)
        return total
