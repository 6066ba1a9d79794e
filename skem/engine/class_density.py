"""Log-densities of rows under fitted mixtures: of components, and of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from skem.engine.covariance_type import CovarianceType
from skem.engine.density import LEAST_SUM, LogDensity, LogJoint, log_sum_exp
from skem.engine.parameters import Mixture
from skem.engine.rounding import RoundingBound
from skem.engine.rows import Features
from skem.engine.threads import Workers, single_threaded


@dataclass(frozen=True)
class Block:
    """A fitted mixture and the features it is of.

    Attributes
    ----------
    columns : ndarray of int, shape (m,)
    mixture : Mixture
    covariance_type : CovarianceType
    """

    columns: np.ndarray
    mixture: Mixture
    covariance_type: CovarianceType


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


def map_log_density(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    features: Features,
    block: Block,
    workers: Workers,
) -> list[np.ndarray]:
    """``function(log_density, common)`` for each chunk of rows, with log N(x; mu_k, P_k) of all components.

    ``log_density`` has shape (K, n_chunk); ``common``, shape (n_chunk,), is to be added to each of its rows.
    """
    with single_threaded():
        density = _ComponentDensity(features, block, workers)
        return workers.map(lambda chunk: function(*density(chunk)), features.chunks)


class _ComponentDensity:
    """The log-densities of all components for a chunk of rows, (K, n_chunk), and what they have in common."""

    def __init__(self, features: Features, block: Block, workers: Workers) -> None:
        bound = RoundingBound(features, block.columns, block.covariance_type, workers)
        density = LogDensity(block.mixture, bound, features.X.dtype)
        self._log_density = LogJoint(density, slice(None), np.zeros((len(block.mixture.means), 1)))
        self._read = partial(features.read, block.columns, dtype=density.dtype)

    def __call__(self, chunk: slice) -> tuple[np.ndarray, np.ndarray]:
        return self._log_density(self._read(chunk))


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
