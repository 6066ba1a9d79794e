"""Discriminative training: from fitted mixtures to mixtures that decide better.

The product of mixtures is tempered: with z_c = beta sum_r log p_r(x|c) + log p(c) and q(c|x) = softmax(z), the objective is,
in nats per sample,

    1/N sum_n w_n sum_c t_nc log p(c|x_n)  -  strength beta KL(initialisation || mixtures).

The targets t are one for the class of a sample, or smoothed, and p(c|x) = (1 - e) q(c|x) + e p(c) with the background e. The
divergence is of the complete data, a sample and its component, given its class, summed over feature blocks.

The derivative in log N(x; mu_k, P_k) of block r is s_k = beta sum_c (t_c - q(c|x)) r_kc for e = 0, with r_kc the responsibility of k
in class c. The gradient thus consists of the sums of EM about the means, with signed responsibilities. The gradient of minus the
divergence consists of the expected sums of samples drawn from the initialisation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller

import numpy as np

from skem.engine import compiled
from skem.engine.covariances import CovarianceType
from skem.engine.density import ClassMixtures, log_normal, weighted_sums
from skem.engine.linalg import exponentials, logarithms
from skem.engine.parameters import FLOAT64, Gaussians, Mixture, Statistics
from skem.engine.rows import Rows
from skem.engine.threads import Workers

CHUNK_ROWS = 512
"""Samples per chunk: intermediate results of a chunk are kept for all blocks."""


@dataclass(frozen=True, eq=False)
class TrainingState:
    """The result of one iteration.

    Attributes
    ----------
    mixtures : list of Mixture
    log_likelihood : float
        Weighted mean of log q(c|x): of these mixtures, or on batches of the mixtures before the step of each batch.
    finished : bool
        True after the last iteration: no step raises the objective, or it overflowed.
    overflown : bool
        True if the objective overflowed; the mixtures are then those of the iteration before.
    """

    mixtures: list[Mixture]
    log_likelihood: float
    finished: bool = False
    overflown: bool = False


class BlockGradient:
    """log p(x|c) of one feature block, and the signed sums of its components.

    Attributes
    ----------
    columns : ndarray of int, shape (m,)
    gaussians : Gaussians
    weights : ndarray of shape (K, L)
        Components and their weights as last set by `use`.
    """

    gaussians: Gaussians
    weights: np.ndarray

    def __init__(self, columns: np.ndarray, covariance_type: CovarianceType) -> None:
        self.columns, self._type = columns, covariance_type

    def use(self, weights: np.ndarray, gaussians: Gaussians) -> None:
        """Set the parameters: weights (K, L) and Gaussians."""
        self.weights, self.gaussians, self._classes = weights, gaussians, ClassMixtures(weights)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """log p(x|c), (L, n) in float64, of samples x (M, n) with all features, computed in the type of x."""
        self._x = np.ascontiguousarray(x[self.columns])
        self._joint = log_normal(self._x, self.gaussians)
        self._log_densities = self._classes.exact(self._joint)
        return self._log_densities

    def backward(self, errors: np.ndarray) -> Statistics:
        """Signed sums over the samples of the last `forward`, for the derivatives ``errors`` (L, n) in its result."""
        kernels, dtype, components = compiled.kernels(), self._joint.dtype, self._classes.components
        signed, by_pair = np.empty_like(self._joint), np.zeros(len(components))
        classes = self._log_densities.astype(dtype), np.ascontiguousarray(errors, dtype=dtype)
        scratch = np.empty((2, kernels.tile_samples(dtype)), dtype)
        pairs = self._classes.pairs(dtype)
        kernels.signed_responsibilities(self._joint, pairs, classes, (signed, by_pair), scratch)
        sums = weighted_sums(self._x, self.gaussians.means, signed, self._type)
        counts = np.zeros(self.weights.shape)
        counts[components, self._classes.classes] = by_pair
        return Statistics(counts, sums.offsets, sums.scatter)


@dataclass(frozen=True, eq=False)
class Objective:
    """The objective of discriminative training.

    Attributes
    ----------
    rows : Rows
    columns : sequence of ndarray of int
        The features of each block.
    start : sequence of Mixture
        Initialisation, from which the divergence is measured.
    covariance_type : CovarianceType
    dtype : numpy dtype
        Type of the computation where it is exact enough for the mixtures; float64 elsewhere.
    beta : float
        One over the temperature of the product.
    smoothing : float
        Share of each target that is spread over all classes.
    background : float
        Share e of p(c|x) that is p(c). It bounds the influence of a far sample.
    strength : float
        Factor of the divergence.
    log_prior : ndarray of shape (L,)
    workers : Workers
        Threads that share the blocks. The result does not depend on their number.
    """

    rows: Rows
    columns: Sequence[np.ndarray]
    start: Sequence[Mixture]
    covariance_type: CovarianceType
    dtype: np.dtype
    beta: float
    smoothing: float
    background: float
    strength: float
    log_prior: np.ndarray
    workers: Workers

    @cached_property
    def class_shares(self) -> np.ndarray:
        """Shares of the classes in the weighted samples, (L,)."""
        return np.bincount(self.rows.codes, weights=self.rows.weights) / self.rows.total_weight

    def blocks(self, mixtures: Sequence[Mixture]) -> list[BlockGradient]:
        """Feature blocks with the parameters of some mixtures; weights that are zero stay zero."""
        blocks = []
        for columns, mixture in zip(self.columns, mixtures, strict=True):
            blocks.append(BlockGradient(columns, self.covariance_type))
            blocks[-1].use(
                mixture.weights, self.covariance_type.gaussians(mixture.means, mixture.covariances)
            )
        return blocks

    def dtype_for(self, blocks: Sequence[BlockGradient]) -> np.dtype:
        """Type of the computation with the present parameters of the blocks."""
        if self.dtype == FLOAT64:
            return FLOAT64
        extent = self.rows.extent
        safe = all(
            block.gaussians.is_float32_safe(block.weights, float(extent[block.columns].max()))
            for block in blocks
        )
        return self.dtype if safe else FLOAT64

    def expected_sums(self, mixture: Mixture, factor: float, about: np.ndarray) -> Statistics:
        """Expected sums about some means (K, m) of one sample drawn from a mixture, times ``factor`` beta."""
        counts, shifts = mixture.weights * (factor * self.beta * self.class_shares), mixture.means - about
        n_k = counts.sum(axis=1)
        covariances = self.covariance_type.of_components(mixture.covariances, *shifts.shape)
        second = covariances + self.covariance_type.squares(shifts)
        scatter = self.covariance_type.scatter((second.T * n_k).T)
        return Statistics(counts, n_k[:, None] * shifts, scatter)

    def mean(
        self, blocks: Sequence[BlockGradient], indices: np.ndarray
    ) -> tuple[float, float, list[Statistics]]:
        """Weighted means over some samples: of sum_c t_c log p(c|x), of log q(c_n|x_n), and the gradient of the first.

        Parameters
        ----------
        blocks : sequence of BlockGradient
        indices : ndarray of int, shape (n,)

        Returns
        -------
        objective, log_likelihood : float
        gradient : list of Statistics
        """
        rows, objective, log_likelihood = self.rows, 0.0, 0.0
        gradient: list[Statistics] = []
        dtype = self.dtype_for(blocks)
        all_weights = rows.weights[indices] / rows.weights[indices].sum()
        for begin in range(0, len(indices), CHUNK_ROWS):
            part = slice(begin, begin + CHUNK_ROWS)
            chunk, weights = indices[part], all_weights[part]
            x = rows.read(np.arange(rows.X.shape[1]), chunk, dtype)
            by_block = self.workers.map(methodcaller("forward", x), blocks)
            log_proba = log_softmax(self.beta * np.sum(by_block, axis=0).T + self.log_prior)
            targets = np.full(log_proba.shape, self.smoothing / log_proba.shape[1])
            own = np.arange(len(chunk)), rows.codes[chunk]
            targets[own] += 1.0 - self.smoothing
            bounded = bounded_log_proba(log_proba, self.log_prior, self.background)
            # An impossible class has log p(c|x) = -inf, and a target of zero.
            of_samples = (targets * np.where(targets > 0, bounded, 0.0)).sum(axis=1)
            objective += float((weights * of_samples).sum())
            log_likelihood += float((weights * log_proba[own]).sum())
            # The share of each target that the background does not explain: all of it for e = 0.
            explained = targets * (1.0 - self.background) * exponentials(log_proba - bounded)
            errors = explained - exponentials(log_proba) * explained.sum(axis=1, keepdims=True)
            errors = (errors * (self.beta * weights[:, None])).T
            added = self.workers.map(methodcaller("backward", errors), blocks)
            gradient = added if not gradient else [a + b for a, b in zip(gradient, added, strict=True)]
        return objective, log_likelihood, gradient


def log_softmax(values: np.ndarray) -> np.ndarray:
    """The logarithm of the softmax of each row of values (n, L)."""
    shifted = values - values.max(axis=1, keepdims=True)
    return shifted - logarithms(exponentials(shifted).sum(axis=1, keepdims=True))


def bounded_log_proba(log_proba: np.ndarray, log_prior: np.ndarray, background: float) -> np.ndarray:
    """The logarithm of (1 - e) q(c|x) + e p(c), in the shape of ``log_proba``."""
    if background == 0:
        return log_proba
    return np.logaddexp(math.log1p(-background) + log_proba, math.log(background) + log_prior)
