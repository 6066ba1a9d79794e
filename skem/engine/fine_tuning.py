"""Discriminative fine-tuning: from fitted mixtures to ones that decide better, by stochastic gradient steps.

What is maximised, in nats per row, is

    1/N sum_n w_n sum_c t_nc log p(c|x_n)  -  strength KL(start || mixtures)

with the divergence of the complete data, a row with its component, given its class, summed over blocks. It is the gradient
of so many rows drawn from the start: sums of EM that the steps add to the signed ones, known without drawing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skem.engine import compiled
from skem.engine.conditional import ConditionalBlock, ConditionalModel, NaturalParameters, SignedSums
from skem.engine.covariance_type import CovarianceType
from skem.engine.free_parameters import ClassWeights, FreeParameters
from skem.engine.parameters import Mixture
from skem.engine.rows import Rows
from skem.engine.threads import Workers

FIRST_DECAY, SECOND_DECAY, FLOOR = 0.9, 0.999, 1e-8
"""Of the means of gradients and of their squares, and what is added to the root of the latter (Kingma and Ba, 2015)."""


@dataclass(frozen=True)
class Schedule:
    """How steps are taken.

    Attributes
    ----------
    n_passes : int
        The learning rate falls to zero along a half cosine over so many.
    batch_size : int
    learning_rate : float
    strength : float
        Of the divergence from the start.
    noise : float
        Deviation of Gaussian noise that is added to the features, in units of their deviations.
    """

    n_passes: int
    batch_size: int
    learning_rate: float
    strength: float
    noise: float = 0.0


@dataclass(frozen=True)
class TunedState:
    """What is known after a pass.

    Attributes
    ----------
    mixtures : list of Mixture
    log_likelihood : float
        Weighted mean of log p(c|x) over the rows, each as the steps came to it.
    overflown : bool
        Whether the criterion or its gradient was not finite: these are the mixtures of the pass before, and the last ones.
    """

    mixtures: list[Mixture]
    log_likelihood: float
    overflown: bool


def complete_data_sums(
    mixture: Mixture, shares: np.ndarray, weights: ClassWeights, covariance_type: CovarianceType
) -> SignedSums:
    """What EM would sum over one row drawn from a mixture, its class by ``shares`` (L,): expectations of phi and counts."""
    K, m = mixture.means.shape
    dense = np.array(covariance_type.dense(mixture.covariances, K, m))
    phi = covariance_type.features(np.ascontiguousarray(mixture.means.T)).T + covariance_type.of_scatter(dense)
    counts = mixture.weights * shares
    return SignedSums(phi * counts.sum(axis=1)[:, None], weights.pairs(counts))


class _TunedBlock:
    """A block, its free parameters, and what Adam knows of their gradients."""

    def __init__(
        self, block: ConditionalBlock, free: FreeParameters, mixture: Mixture, pull: SignedSums
    ) -> None:
        self.block, self._free, self._pull = block, free, pull
        self.theta = free.theta(mixture)
        self._first, self._second = np.zeros_like(self.theta), np.zeros_like(self.theta)
        self._use()

    def _use(self) -> None:
        w, log_weights, self._means = self._free.natural(self.theta)
        self.block.use(NaturalParameters(w, log_weights))

    def step(self, signed: SignedSums, share: float, n_steps: int, rate: float) -> bool:
        """A step of Adam along the gradient of the criterion; whether that was finite, else nothing is done.

        Parameters
        ----------
        signed : SignedSums
            Of a batch of rows.
        share : float
            What makes a mean over rows of them.
        n_steps : int
            This one included.
        rate : float
            The learning rate.
        """
        gradient = self._free.gradient(
            self.theta,
            self._means,
            share * signed.sums + self._pull.sums,
            share * signed.counts + self._pull.counts,
        )
        if not np.isfinite(gradient.sum()):
            return False
        compiled.factors().adam_step(
            self.theta,
            gradient,
            self._first,
            self._second,
            (1.0 - FIRST_DECAY, 1.0 - SECOND_DECAY, FLOOR),
            rate / (1.0 - FIRST_DECAY**n_steps),
            1.0 / (1.0 - SECOND_DECAY**n_steps),
        )
        self._use()
        return True

    def mixture(self) -> Mixture:
        return self._free.mixture(self.theta)


@dataclass(frozen=True)
class FineTuning:
    """All that steps need beside a schedule.

    Attributes
    ----------
    rows : Rows
    columns : sequence of ndarray of int
        The features of each block.
    covariance_type : CovarianceType
    dtype : numpy dtype
        In which to compute.
    beta : float
        One over the temperature of the product.
    smoothing : float
        Share of each target that is spread over all classes.
    log_prior : ndarray of shape (L,)
    workers : Workers
    """

    rows: Rows
    columns: Sequence[np.ndarray]
    covariance_type: CovarianceType
    dtype: np.dtype
    beta: float
    smoothing: float
    log_prior: np.ndarray
    workers: Workers

    def passes(
        self,
        mixtures: Sequence[Mixture],
        start: Sequence[Mixture],
        schedule: Schedule,
        random_state: np.random.RandomState,
    ) -> Iterator[TunedState]:
        """Yield the state after each pass over the rows, from some mixtures, held near the ``start`` of all of them."""
        rows, codes = self.rows, self.rows.codes
        shares = np.bincount(codes, weights=rows.weights) / rows.total_weight
        blocks = []
        for columns, mixture, first in zip(self.columns, mixtures, start, strict=True):
            free = FreeParameters.of(mixture, self.covariance_type)
            block = ConditionalBlock(columns, free.weights, self.covariance_type, self.dtype)
            pull = complete_data_sums(
                first, schedule.strength * self.beta * shares, free.weights, self.covariance_type
            )
            blocks.append(_TunedBlock(block, free, mixture, pull))
        model = ConditionalModel(
            [tuned.block for tuned in blocks], self.log_prior, self.beta, self.smoothing, self.workers
        )
        spread = _deviations(rows)[:, None]
        n, n_steps, good = len(codes), 0, list(mixtures)
        total_steps = schedule.n_passes * -(-n // schedule.batch_size)
        for _ in range(schedule.n_passes):
            order, log_likelihood = random_state.permutation(n), 0.0
            for begin in range(0, n, schedule.batch_size):
                batch = order[begin : begin + schedule.batch_size]
                noise = None
                if schedule.noise > 0:
                    noise = schedule.noise * spread * random_state.standard_normal((len(spread), len(batch)))
                criterion, added, signed = model.criterion(rows, batch, noise=noise)
                rate = schedule.learning_rate * 0.5 * (1.0 + np.cos(np.pi * n_steps / total_steps))
                n_steps += 1
                steps = list(zip(blocks, signed, strict=True))
                batch_weight = float(rows.weights[batch].sum())
                finite = np.isfinite(criterion) and all(
                    self.workers.map(
                        lambda step, arguments=(1.0 / batch_weight, n_steps, rate): step[0].step(
                            step[1], *arguments
                        ),
                        steps,
                    )
                )
                if not finite:
                    yield TunedState(good, np.nan, True)
                    return
                log_likelihood += added
            good = [tuned.mixture() for tuned in blocks]
            yield TunedState(good, log_likelihood / rows.total_weight, False)


def _deviations(rows: Rows) -> np.ndarray:
    """The standard deviation of each feature, (M,), in the engine's units."""
    features = rows.features
    return np.sqrt(np.var(features.X, axis=0, dtype=np.float64)) / features.scale
