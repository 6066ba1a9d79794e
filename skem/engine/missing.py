"""Densities of rows with missing values, which are NaN.

A row x with observed features o has log N(x_o; mu_o, P_oo) under a component, and what it misses, h, has the mean
mu_h + P_ho P_oo^-1 (x_o - mu_o) and the covariance P_hh - P_ho P_oo^-1 P_oh given the rest. Factors are the same for all rows
that miss the same features, so rows are grouped by these patterns, in each block of features by itself. A row that misses a
whole block says nothing there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from skem.engine import compiled, density
from skem.engine.covariances import CovarianceType
from skem.engine.density import Block, ClassMixtures
from skem.engine.parameters import LOG_2PI, Mixture
from skem.engine.rows import MAX_EXTENT, Features
from skem.engine.threads import Workers

ROWS = 256
"""Rows of a pattern that are worked on at a time."""


@dataclass(frozen=True)
class Group:
    """Rows that miss the same features of a block.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
    observed : ndarray of bool, shape (m,)
    """

    rows: np.ndarray
    observed: np.ndarray


def groups(features: Features, columns: np.ndarray, rows: np.ndarray | None = None) -> list[Group]:
    """Some rows, or all, by what they miss of a block, at most ``ROWS`` in each; without those that miss all of it.

    Raises
    ------
    ValueError
        A value too far out for its square in float64.
    """
    rows = np.arange(len(features.X)) if rows is None else rows
    X = features.X[rows if features.order is None else features.order[rows]][:, columns]
    with np.errstate(over="ignore"):
        extent = np.abs((X - features.shift[columns]) / features.scale[columns])
    far = np.argwhere(extent >= MAX_EXTENT)
    if len(far):
        n, i = far[0]
        raise ValueError(
            f"feature {columns[i]} is {extent[n, i]:.3g} spreads from the training mean: too far"
        )
    patterns, of_rows = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    order = np.argsort(of_rows.ravel(), kind="stable")
    borders = np.searchsorted(of_rows.ravel()[order], np.arange(len(patterns) + 1))
    return [
        Group(rows[order[begin : min(begin + ROWS, stop)]], observed)
        for observed, start, stop in zip(patterns, borders[:-1], borders[1:], strict=True)
        for begin in range(start, stop, ROWS)
        if observed.any()
    ]


class Regression:
    """The missing features of a pattern given the observed ones, under each component.

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
        self._factors = compiled.matrices().marginal_factors(
            np.ascontiguousarray(covariances), np.flatnonzero(observed)
        )
        self._roots = np.diagonal(self._factors, axis1=1, axis2=2)
        if np.isnan(self._roots).any():
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
        return within - np.swapaxes(self._whitened, 1, 2) @ self._whitened

    def _log_density(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `log_density`; and x_o - mu_o, whitened and as it is, (K, o, n) each."""
        offsets = x.T[self._observed] - self._means[:, self._observed, None]
        z = offsets.copy()
        compiled.matrices().solve_lower(self._factors, z)
        log_scale = 0.5 * z.shape[1] * LOG_2PI + np.log(self._roots).sum(axis=1)
        return -0.5 * np.einsum("kon,kon->kn", z, z) - log_scale[:, None], z, offsets

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """log N(x_o; mu_o, P_oo) of rows ``x`` (n, m), shape (K, n)."""
        return self._log_density(x)[0]

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of rows ``x`` (n, m): log N(x_o; mu_o, P_oo), (K, n), and rows less the means, what misses predicted, (K, n, m)."""
        log_density, z, offsets = self._log_density(x)
        deviations = np.empty((len(self._means), *x.shape))
        deviations[:, :, self._observed] = np.swapaxes(offsets, 1, 2)
        if not self._observed.all():
            deviations[:, :, ~self._observed] = np.swapaxes(z, 1, 2) @ self._whitened
        return log_density, deviations


def dense_covariances(mixture: Mixture, covariance_type: CovarianceType) -> np.ndarray:
    """The covariance matrices of all components, shape (K, m, m)."""
    return np.array(covariance_type.dense(mixture.covariances, *mixture.means.shape))


def log_densities(features: Features, block: Block, workers: Workers) -> np.ndarray:
    """log N(x_o; mu_o, P_oo) of each row under each component, shape (N, K); zero for rows that miss the whole block."""
    mixture, dense = block.mixture, dense_covariances(block.mixture, block.covariance_type)
    result = np.zeros((len(features.X), len(mixture.means)))

    def fill(group: Group) -> None:
        x = features.read(block.columns, group.rows).T
        result[group.rows] = Regression(mixture.means, dense, group.observed).log_density(x).T

    workers.map(fill, groups(features, block.columns))
    return result


def class_log_density(features: Features, blocks: Sequence[Block], workers: Workers) -> np.ndarray:
    """log p(x_o|c) summed over blocks, in input units: that of ``density``, but for rows that miss something.

    Returns
    -------
    ndarray of shape (N, L)
        A row without any value has zeros.
    """
    X, log_scale = features.X, np.log(features.scale)
    incomplete = np.isnan(X).any(axis=1)
    result = np.zeros((len(X), blocks[0].mixture.weights.shape[1]))
    if not incomplete.all():
        complete = Features(X[~incomplete], None, features.shift, features.scale)
        log_volumes = [float(log_scale[block.columns].sum()) for block in blocks]
        result[~incomplete] = density.class_log_density(complete, blocks, workers, log_volumes)
    for block in blocks:
        dense, classes = dense_covariances(block.mixture, block.covariance_type), ClassMixtures(block.mixture)

        def add(
            group: Group, block: Block = block, dense: np.ndarray = dense, classes: ClassMixtures = classes
        ) -> None:
            regression = Regression(block.mixture.means, dense, group.observed)
            log_density = regression.log_density(features.read(block.columns, group.rows).T)
            volume = log_scale[block.columns[group.observed]].sum()
            result[group.rows] += (classes(log_density) - volume).T

        workers.map(add, groups(features, block.columns, np.flatnonzero(incomplete)))
    return result


def imputed(features: Features, block: Block, workers: Workers) -> np.ndarray:
    """The rows with the mean of what they miss given what they have, shape (N, m), in the units of the mixture of one class."""
    mixture, dense = block.mixture, dense_covariances(block.mixture, block.covariance_type)
    result = np.empty((len(features.X), len(block.columns)))
    with np.errstate(divide="ignore"):
        log_weights = np.log(mixture.weights)

    def fill(group: Group) -> None:
        x = features.read(block.columns, group.rows).T
        log_density, deviations = Regression(mixture.means, dense, group.observed)(x)
        log_joint = log_density + log_weights
        shares = np.exp(log_joint - logsumexp(log_joint, axis=0))
        mean = np.einsum("kn,knm->nm", shares, deviations + mixture.means[:, None])
        result[group.rows] = np.where(group.observed, x, mean)

    workers.map(fill, groups(features, block.columns))
    return result
