"""Densities of samples with missing values, which are NaN.

A sample x with observed features o has the log-density log N(x_o; mu_o, P_oo) under a component. Given x_o, its missing
features h have the mean mu_h + P_ho P_oo^-1 (x_o - mu_o) and the covariance P_hh - P_ho P_oo^-1 P_oh. Samples with the same
missing features share one factorisation, so each feature block groups samples by this pattern. A sample that misses a whole
feature block contributes nothing there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from skem.engine import compiled
from skem.engine.covariances import CovarianceType
from skem.engine.linalg import logarithms, product, transposed_product
from skem.engine.parameters import LOG_2PI, Mixture
from skem.engine.rows import Rows, sorting_order
from skem.engine.threads import Workers

GROUP_SIZE = 256
"""Maximum number of samples of a group."""


@dataclass(frozen=True, eq=False)
class Group:
    """Samples with the same missing features of a feature block.

    Attributes
    ----------
    indices : ndarray of int, shape (n,)
        Indices of the samples.
    observed : ndarray of bool, shape (m,) or (n, m)
        True for each feature with a value; for each sample unless all have the same.
    """

    indices: np.ndarray
    observed: np.ndarray

    def sum_observed(self, values: np.ndarray) -> Any:
        """The sum of the ``values`` (m,) of observed features: a number, or one for each sample (n,)."""
        return (self.observed * values).sum(axis=-1)


def groups(
    features: Rows,
    columns: np.ndarray,
    covariance_type: CovarianceType,
    indices: np.ndarray | None = None,
) -> list[Group]:
    """Group samples by their missing features of a feature block, at most ``GROUP_SIZE`` in each group.

    Diagonal covariances need no common factorisation, so their groups are of any samples. Samples without any value in the
    block are left out. By default, all samples are grouped.
    """
    features.extent  # noqa: B018  # refuses values whose squares overflow
    indices = np.arange(len(features.X)) if indices is None else indices
    X = features.X[indices if features.order is None else features.order[indices]][:, columns]
    observed = ~np.isnan(X)
    if covariance_type.diagonal:
        kept = np.flatnonzero(observed.any(axis=1))
        parts = (kept[begin : begin + GROUP_SIZE] for begin in range(0, len(kept), GROUP_SIZE))
        return [Group(indices[part], observed[part]) for part in parts]
    patterns, pattern_numbers = np.unique(observed, axis=0, return_inverse=True)
    order = sorting_order(pattern_numbers.ravel())
    borders = np.searchsorted(pattern_numbers.ravel()[order], np.arange(len(patterns) + 1))
    return [
        Group(indices[order[begin : min(begin + GROUP_SIZE, stop)]], pattern)
        for pattern, start, stop in zip(patterns, borders[:-1], borders[1:], strict=True)
        for begin in range(start, stop, GROUP_SIZE)
        if pattern.any()
    ]


class Regression:
    """Conditional distribution of the missing features given the observed ones, under each component.

    Parameters
    ----------
    means : ndarray of shape (K, m)
    covariances : ndarray of shape (K, m, m)
    observed : ndarray of bool, shape (m,)

    Raises
    ------
    numpy.linalg.LinAlgError
        A covariance that is not positive definite.
    """

    def __init__(self, means: np.ndarray, covariances: np.ndarray, observed: np.ndarray) -> None:
        self._means, self._covariances, self._observed = means, covariances, observed
        self._factors, self._log_dets = compiled.matrices().marginal_factors(
            np.ascontiguousarray(covariances), np.flatnonzero(observed)
        )
        if np.isnan(self._log_dets).any():
            raise np.linalg.LinAlgError("a covariance is not positive definite")

    @cached_property
    def _whitened(self) -> np.ndarray:
        """L^-1 P_oh, shape (K, o, h)."""
        cross = np.ascontiguousarray(self._covariances[:, self._observed][:, :, ~self._observed])
        compiled.matrices().solve_lower(self._factors, cross)
        return cross

    @cached_property
    def covariances(self) -> np.ndarray:
        """P_hh - P_ho P_oo^-1 P_oh, shape (K, h, h)."""
        missing = ~self._observed
        within = self._covariances[:, missing][:, :, missing]
        return within - transposed_product(self._whitened, self._whitened)

    def _log_density(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return `log_density`, and x_o - mu_o, whitened and plain, of shape (K, o, n) each."""
        offsets = x.T[self._observed] - self._means[:, self._observed, None]
        z = offsets.copy()
        compiled.matrices().solve_lower(self._factors, z)
        log_scale = 0.5 * z.shape[1] * LOG_2PI + self._log_dets
        return -0.5 * (z**2).sum(axis=1) - log_scale[:, None], z, offsets

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """Return log N(x_o; mu_o, P_oo) of samples ``x`` (n, m), shape (K, n)."""
        return self._log_density(x)[0]

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log-densities of samples ``x`` (n, m), shape (K, n), and their deviations from the means (K, n, m).

        Missing features have their conditional means.
        """
        log_density, z, offsets = self._log_density(x)
        deviations = np.empty((len(self._means), *x.shape))
        deviations[:, :, self._observed] = np.swapaxes(offsets, 1, 2)
        if not self._observed.all():
            deviations[:, :, ~self._observed] = transposed_product(z, self._whitened)
        return log_density, deviations

    def sums(self, responsibilities: np.ndarray, deviations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expected sums of r (x - mu), (K, m), and of r (x - mu) (x - mu)^T, (K, m, m), for weights r (K, n)."""
        weighted = deviations * responsibilities[:, :, None]
        scatter = transposed_product(weighted, deviations)
        if not self._observed.all():
            missing = np.flatnonzero(~self._observed)
            counts = responsibilities.sum(axis=1)
            scatter[:, missing[:, None], missing] += counts[:, None, None] * self.covariances
        return weighted.sum(axis=1), scatter


class Independent:
    """`Regression` for variances (K, m): missing features keep their means and variances.

    ``observed`` may have the shape (n, m), for samples with different missing features.
    """

    def __init__(self, means: np.ndarray, variances: np.ndarray, observed: np.ndarray) -> None:
        self._means, self._variances, self._observed = means, variances, observed
        if not (variances > 0).all():
            raise np.linalg.LinAlgError("a variance is not positive")

    @property
    def covariances(self) -> np.ndarray:
        """Variances of the missing features, shape (K, h), for ``observed`` of shape (m,)."""
        return self._variances[:, ~self._observed]

    def log_density(self, x: np.ndarray) -> np.ndarray:
        return self(x)[0]

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        observed = np.broadcast_to(self._observed, x.shape)
        deviations = np.where(observed, x - self._means[:, None], 0.0)
        squares = product(1.0 / self._variances[:, None], np.swapaxes(deviations**2, 1, 2))[:, 0]
        log_variances = LOG_2PI + logarithms(self._variances)
        return -0.5 * (squares + product(log_variances, observed.T.astype(float))), deviations

    def sums(self, responsibilities: np.ndarray, deviations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        missing = np.broadcast_to(~self._observed, deviations.shape[1:])
        r = responsibilities[:, None]
        offsets, squares = (product(r, terms)[:, 0] for terms in (deviations, deviations**2))
        return offsets, squares + product(responsibilities, missing.astype(float)) * self._variances


def regression(means: np.ndarray, covariances: np.ndarray, observed: np.ndarray) -> Regression | Independent:
    """The distribution of missing features, for covariance matrices or variances; see `CovarianceType.of_components`."""
    return (Regression if covariances.ndim == 3 else Independent)(means, covariances, observed)


def component_covariances(mixture: Mixture, covariance_type: CovarianceType) -> np.ndarray:
    """Return the covariances of all components, (K, m, m), or their variances, (K, m); a copy."""
    return np.array(covariance_type.of_components(mixture.covariances, *mixture.means.shape))


def imputed(
    features: Rows, columns: np.ndarray, mixture: Mixture, covariance_type: CovarianceType, workers: Workers
) -> np.ndarray:
    """Replace missing values by their conditional means under a mixture of one class, in its units; shape (N, m)."""
    covariances = component_covariances(mixture, covariance_type)
    result = np.empty((len(features.X), len(columns)))
    with np.errstate(divide="ignore"):
        log_weights = np.log(mixture.weights)

    def fill(group: Group) -> None:
        x = features.read(columns, group.indices).T
        log_density, deviations = regression(mixture.means, covariances, group.observed)(x)
        log_joint = log_density + log_weights
        responsibilities = np.exp(log_joint - logsumexp(log_joint, axis=0))
        mean = (responsibilities[:, :, None] * (deviations + mixture.means[:, None])).sum(axis=0)
        result[group.indices] = np.where(group.observed, x, mean)

    workers.map(fill, groups(features, columns, covariance_type))
    return result
