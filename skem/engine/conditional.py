"""log p(c|x) of a product of mixtures, and its gradient: the two matrix products of EM with signed responsibilities.

The product is tempered: with z_c = beta sum_r log p_r(x|c) + log p(c) and p(c|x) = softmax(z), the criterion is
sum_c t_c log p(c|x), with targets t that are one for the class of a row, or smoothed. Its derivative in log N(x; mu_k, P_k)
of block r is s_k = beta sum_c (t_c - p(c|x)) r_kc, with r_kc the responsibility of k in class c. So T += s Phi' are sums
like those of EM, of which some are negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from skem.engine import compiled
from skem.engine.covariance_type import CovarianceType
from skem.engine.density import LEAST_LOG_RATIO
from skem.engine.free_parameters import ClassWeights
from skem.engine.rows import Rows
from skem.engine.threads import Workers

CHUNK_ROWS = 512
"""Rows worked on at a time: of these all blocks are kept in memory."""


class NaturalParameters(NamedTuple):
    """Of a block: w (K, H) with log N(x; mu_k, P_k) = w_k . phi(x), and log pi of each pair (A,)."""

    w: np.ndarray
    log_weights: np.ndarray


class SignedSums(NamedTuple):
    """The gradient of a criterion in `NaturalParameters`: (K, H) and (A,)."""

    sums: np.ndarray
    counts: np.ndarray


@dataclass
class ConditionalBlock:
    """One block of features.

    Attributes
    ----------
    columns : ndarray of int, shape (m,)
    weights : ClassWeights
    covariance_type : CovarianceType
    dtype : numpy dtype
        In which to compute.
    """

    columns: np.ndarray
    weights: ClassWeights
    covariance_type: CovarianceType
    dtype: np.dtype

    def use(self, parameters: NaturalParameters) -> None:
        """Compute with these parameters from now on."""
        # What all components have in common moves no p(c|x), and without it float32 has more digits left for the rest.
        self._w = (parameters.w - parameters.w.mean(axis=0)).astype(self.dtype)
        self._log_weights = parameters.log_weights.astype(self.dtype)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """log p_r(x|c), (L, n) in float64, up to a number per row; ``x``, (M, n), has all features."""
        block, n = np.ascontiguousarray(x[self.columns]), x.shape[1]
        self._phi = self.covariance_type.features(block)
        self._joint = self._w @ self._phi
        result = np.empty((len(self.weights.borders) - 1, n))
        compiled.kernels().class_log_densities(self._joint, *self._pairs, self._least, result)
        return result

    def backward(self, log_densities: np.ndarray, errors: np.ndarray) -> SignedSums:
        """The signed sums of the rows of the last `forward`, for the errors beta (t - p), (L, n)."""
        signed, counts = np.empty_like(self._joint), np.zeros(len(self.weights.components))
        compiled.kernels().signed_responsibilities(
            self._joint,
            *self._pairs,
            self._least,
            log_densities.astype(self.dtype),
            errors.astype(self.dtype),
            signed,
            counts,
        )
        return SignedSums((signed @ self._phi.T).astype(np.float64), counts)

    @property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.weights.components, self.weights.borders, self._log_weights

    @property
    def _least(self) -> np.floating:
        return self.dtype.type(LEAST_LOG_RATIO[self.dtype])


@dataclass
class ConditionalModel:
    """p(c|x) of all blocks together.

    Attributes
    ----------
    blocks : sequence of ConditionalBlock
    log_prior : ndarray of shape (L,)
    beta : float
        One over the temperature of the product.
    smoothing : float
        Share of each target that is spread over all classes.
    background : float
        Share e of p(c|x) that is p(c): the criterion has log((1 - e) p(c|x) + e p(c)), which a far sample cannot dominate.
    workers : Workers
        Who works on the blocks; the result does not depend on how many they are.
    """

    blocks: Sequence[ConditionalBlock]
    log_prior: np.ndarray
    beta: float
    smoothing: float
    background: float
    workers: Workers

    def criterion(
        self, rows: Rows, indices: np.ndarray, *, gradient: bool = True, noise: np.ndarray | None = None
    ) -> tuple[float, float, list[SignedSums]]:
        """Of some rows: the weighted sums of sum_c t_c log p(c|x) and of log p(c_n|x_n), and the gradient of the first.

        Parameters
        ----------
        rows : Rows
        indices : ndarray of int, shape (n,)
        gradient : bool
            Whether the signed sums of each block are asked for.
        noise : ndarray of shape (M, n), optional
            Added to the features.
        """
        criterion, log_likelihood = 0.0, 0.0
        total: list[SignedSums] = []
        everything = np.arange(rows.features.X.shape[1])
        for begin in range(0, len(indices), CHUNK_ROWS):
            chunk = indices[begin : begin + CHUNK_ROWS]
            x = rows.features.read(everything, chunk, self.blocks[0].dtype)
            if noise is not None:
                x += noise[:, begin : begin + CHUNK_ROWS].astype(x.dtype)
            by_block = self.workers.map(partial(_forward, x), self.blocks)
            log_proba = log_softmax(self.beta * np.sum(by_block, axis=0).T + self.log_prior, axis=1)
            targets = np.full(log_proba.shape, self.smoothing / log_proba.shape[1])
            own = np.arange(len(chunk)), rows.codes[chunk]
            targets[own] += 1.0 - self.smoothing
            weights = rows.weights[chunk]
            # A class that is impossible a priori has no part in it, even smoothed.
            bounded = bounded_log_proba(log_proba, self.log_prior, self.background)
            likely = np.where(targets > 0, bounded, 0.0)
            criterion += float(weights @ (targets * likely).sum(axis=1))
            log_likelihood += float(weights @ log_proba[own])
            if gradient:
                # The share of a target that the background does not explain; all of it where there is none.
                explained = targets * (1.0 - self.background) * np.exp(log_proba - bounded)
                errors = explained - np.exp(log_proba) * explained.sum(axis=1, keepdims=True)
                errors = (errors * (self.beta * weights[:, None])).T
                pairs = list(zip(self.blocks, by_block, strict=True))
                added = self.workers.map(partial(_backward, errors), pairs)
                total = added if not total else [_add(*both) for both in zip(total, added, strict=True)]
        return criterion, log_likelihood, total


def bounded_log_proba(log_proba: np.ndarray, log_prior: np.ndarray, background: float) -> np.ndarray:
    """The logarithm of (1 - e) p(c|x) + e p(c), shape (n, L)."""
    if background == 0:
        return log_proba
    return np.logaddexp(np.log1p(-background) + log_proba, np.log(background) + log_prior)


def _forward(x: np.ndarray, block: ConditionalBlock) -> np.ndarray:
    return block.forward(x)


def _backward(errors: np.ndarray, pair: tuple[ConditionalBlock, np.ndarray]) -> SignedSums:
    block, log_densities = pair
    return block.backward(log_densities, errors)


def _add(total: SignedSums, added: SignedSums) -> SignedSums:
    return SignedSums(total.sums + added.sums, total.counts + added.counts)
