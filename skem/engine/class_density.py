"""Log-densities of rows under fitted mixtures: of components, and of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.linalg.lapack import dtrtri

from skem.engine.covariance_type import CovarianceType
from skem.engine.density import LEAST_SUM, LogDensity, LogJoint, log_sum_exp
from skem.engine.linalg import LOG_2PI
from skem.engine.parameters import MATRICES, Mixture
from skem.engine.rounding import RoundingBound
from skem.engine.rows import Features
from skem.engine.threads import Workers, single_threaded

FEW_ROWS = 32
"""Samples up to which whitening takes less time than what products of quadratic features need of the components and samples."""


@dataclass(frozen=True)
class Block:
    """A fitted mixture and the features it is of; its factors are made once, when they are first used.

    Attributes
    ----------
    columns : ndarray of int, shape (m,)
    mixture : Mixture
    covariance_type : CovarianceType
    """

    columns: np.ndarray
    mixture: Mixture
    covariance_type: CovarianceType

    @cached_property
    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        """See `CovarianceType.natural`."""
        return self.covariance_type.natural(self.mixture.means, self.mixture.covariances)

    @cached_property
    def whitening(self) -> tuple[np.ndarray, np.ndarray]:
        """L^-1 of each matrix P_k = L L^T, (K, m, m) or, if all have one, (m, m); and log N(mu_k; mu_k, P_k), (K,) or ()."""
        covariances = self.mixture.covariances
        m = covariances.shape[-1]
        inverses = np.linalg.cholesky(covariances)
        log_scales = -0.5 * m * LOG_2PI - np.log(np.diagonal(inverses, axis1=-2, axis2=-1)).sum(axis=-1)
        for factor in inverses.reshape(-1, m, m):
            factor[:] = dtrtri(factor, lower=1)[0]
        return inverses, log_scales

    def log_normal(self, x: np.ndarray) -> np.ndarray:
        """log N(x; mu_k, P_k), (K, n) in float64, for few samples x (m, n) and covariances that are matrices."""
        inverses, log_scales = self.whitening
        offsets = x[:, None] - self.mixture.means.T[:, :, None]  # (m, K, n)
        if inverses.ndim == 2:  # one product for all components
            z = (inverses @ offsets.reshape(len(x), -1)).reshape(offsets.shape)
        else:
            z = (inverses @ offsets.transpose(1, 0, 2)).transpose(1, 0, 2)
        return log_scales.reshape(-1, 1) - 0.5 * (z * z).sum(axis=0)


def class_log_density(
    features: Features, blocks: Sequence[Block], workers: Workers, log_volumes: Sequence[float]
) -> np.ndarray:
    """log p(x|c) summed over blocks, Pulford 2022, eqs. 1 and 36.

    Parameters
    ----------
    features : Features
        In the units of the mixtures.
    blocks : sequence of Block
    workers : Workers
    log_volumes : sequence of float
        What is to be taken off the log-density of each block.

    Returns
    -------
    ndarray of shape (n, L), float64, one class after the other in memory
    """
    # Factors of large covariances differ in last bits from one number of BLAS threads to another.
    with single_threaded():
        densities = [
            (_ComponentDensity(features, block, workers), ClassMixtures(block.mixture)) for block in blocks
        ]
        # Rows of classes: what is done with classes next, column by column, is several times faster.
        result = np.zeros((blocks[0].mixture.weights.shape[1], len(features.X)))

        def add(chunk: slice) -> None:
            total, common = result[:, chunk], np.full(len(features.X[chunk]), -sum(log_volumes))
            for components, classes in densities:
                log_density, common_of_block = classes(*components(chunk))
                total += log_density
                common += common_of_block
            total += common

        workers.map(add, features.chunks)
    return result.T


def fill_log_density(
    result: np.ndarray,
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    features: Features,
    block: Block,
    workers: Workers,
) -> None:
    """Fill ``result`` (n, ...) with ``function(log_density, common)`` of each chunk of samples.

    ``log_density``, shape (K, n_chunk), is log N(x; mu_k, P_k) of all components less ``common``, shape (n_chunk,).
    """
    with single_threaded():
        density = _ComponentDensity(features, block, workers)

        def fill(chunk: slice) -> None:
            result[chunk] = function(*density(chunk))

        workers.map(fill, features.chunks)


class _ComponentDensity:
    """The log-densities of all components for a chunk of rows, (K, n_chunk), and what they have in common."""

    def __init__(self, features: Features, block: Block, workers: Workers) -> None:
        bound = RoundingBound(features, block.columns, block.covariance_type, workers)
        self._block, self._read = block, partial(features.read, block.columns)
        self._log_joint = None
        if block.covariance_type.family != MATRICES or len(features.X) > FEW_ROWS:
            density = LogDensity(block.mixture, bound, features.X.dtype, parameters=block.natural)
            self._log_joint = LogJoint(density, slice(None), np.zeros((len(block.mixture.means), 1)))
            self._read = partial(self._read, dtype=density.dtype)

    def __call__(self, chunk: slice) -> tuple[np.ndarray, np.ndarray]:
        x = self._read(chunk)
        if self._log_joint is None:
            return self._block.log_normal(x), np.zeros(x.shape[1])
        return self._log_joint(x)


class ClassMixtures:
    """From log N(x; mu_k, P_k) of a chunk to log p(x|c), for one block."""

    def __init__(self, mixture: Mixture) -> None:
        self._weights = mixture.weights
        K, L = mixture.weights.shape
        self._active = [np.flatnonzero(mixture.weights[:, c]) for c in range(L)]
        self._log_weights = [np.log(mixture.weights[active, c]) for c, active in enumerate(self._active)]
        self._few_active = sum(map(len, self._active)) <= 2 * K

    def _exact(self, log_density: np.ndarray, c: int) -> np.ndarray:
        joint = log_density[self._active[c]] + self._log_weights[c].astype(log_density.dtype)[:, None]
        return log_sum_exp(joint)[0]

    def __call__(self, log_density: np.ndarray, common: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For log-densities of shape (K, n_chunk) less ``common``: those of classes, (L, n_chunk), less another such row."""
        if self._few_active:
            return np.stack([self._exact(log_density, c) for c in range(len(self._active))]), common
        # One exponential per component serves all classes, but for rows a class finds all but impossible.
        density = log_density.copy()
        _, largest = log_sum_exp(density)
        mixed = self._weights.T.astype(density.dtype) @ density
        least = LEAST_SUM[density.dtype]
        impossible = mixed < least if mixed.min() < least else None
        with np.errstate(divide="ignore"):
            result = np.log(mixed, out=mixed)
        if impossible is not None:
            result = result.astype(np.float64, copy=False)
            for c in np.flatnonzero(impossible.any(axis=1)).tolist():
                exact = self._exact(log_density[:, impossible[c]], c)
                result[c, impossible[c]] = exact - largest[impossible[c]]
        return result, largest.astype(np.float64) + common
