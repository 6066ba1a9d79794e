"""Discriminative fine-tuning: from fitted mixtures to ones that decide better.

What is maximised, in nats per row, is

    1/N sum_n w_n sum_c t_nc log p(c|x_n)  -  strength beta KL(start || mixtures)

with the divergence of the complete data, a row with its component, given its class, summed over blocks. Its gradient is that
of rows drawn from the start: their sums, known without drawing, are added to the signed ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skem.engine.conditional import ConditionalBlock, ConditionalModel, NaturalParameters, SignedSums
from skem.engine.covariance_type import CovarianceType
from skem.engine.free_parameters import ClassWeights
from skem.engine.parameters import Mixture
from skem.engine.rows import Rows
from skem.engine.threads import Workers


@dataclass(frozen=True)
class TunedState:
    """What is known after a pass.

    Attributes
    ----------
    mixtures : list of Mixture
    log_likelihood : float
        Weighted mean of log p(c|x) over the rows: of these mixtures, or as the steps of the pass came to each row.
    finished : bool
        Whether this was the last pass: no step raises the criterion, or it overflowed.
    overflown : bool
        Whether it did: the mixtures are then those of the pass before.
    """

    mixtures: list[Mixture]
    log_likelihood: float
    finished: bool = False
    overflown: bool = False


@dataclass(frozen=True)
class FineTuning:
    """What is maximised.

    Attributes
    ----------
    rows : Rows
    columns : sequence of ndarray of int
        The features of each block.
    start : sequence of Mixture
        What the mixtures are held near.
    covariance_type : CovarianceType
    dtype : numpy dtype
        In which to compute.
    beta : float
        One over the temperature of the product.
    smoothing : float
        Share of each target that is spread over all classes.
    background : float
        Share of p(c|x) that is the prior of the class, see `ConditionalModel`.
    strength : float
        Of the divergence from the start.
    log_prior : ndarray of shape (L,)
    workers : Workers
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

    @property
    def class_shares(self) -> np.ndarray:
        """Of the weighted rows, (L,)."""
        return np.bincount(self.rows.codes, weights=self.rows.weights) / self.rows.total_weight

    def model(self, mixtures: Sequence[Mixture]) -> ConditionalModel:
        """p(c|x) under mixtures; which of their weights are zero stays so."""
        blocks = [
            ConditionalBlock(columns, ClassWeights(mixture.weights), self.covariance_type, self.dtype)
            for columns, mixture in zip(self.columns, mixtures, strict=True)
        ]
        model = ConditionalModel(
            blocks, self.log_prior, self.beta, self.smoothing, self.background, self.workers
        )
        for block, mixture in zip(blocks, mixtures, strict=True):
            block.use(self.natural(mixture, block.weights))
        return model

    def natural(self, mixture: Mixture, weights: ClassWeights) -> NaturalParameters:
        w, _ = self.covariance_type.natural(mixture.means, mixture.covariances)
        return NaturalParameters(w, np.log(weights.pairs(mixture.weights)))

    def pulls(self, model: ConditionalModel) -> list[SignedSums]:
        """The gradient of minus the divergence, times its strength, for each block: sums of rows drawn from the start."""
        shares = self.strength * self.beta * self.class_shares
        return [
            complete_data_sums(mixture, shares, block.weights, self.covariance_type)
            for mixture, block in zip(self.start, model.blocks, strict=True)
        ]


def complete_data_sums(
    mixture: Mixture, shares: np.ndarray, weights: ClassWeights, covariance_type: CovarianceType
) -> SignedSums:
    """What EM would sum over a row drawn from a mixture, with a class drawn by ``shares`` (L,): phi and counts, expected."""
    K, m = mixture.means.shape
    dense = np.array(covariance_type.dense(mixture.covariances, K, m))
    phi = covariance_type.features(np.ascontiguousarray(mixture.means.T)).T + covariance_type.of_scatter(
        dense
    )
    counts = mixture.weights * shares
    return SignedSums(phi * counts.sum(axis=1)[:, None], weights.pairs(counts))
