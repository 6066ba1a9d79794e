"""Fine-tuning by stochastic gradient steps (Kingma and Ba, 2015) on free parameters, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from skem.engine import compiled
from skem.engine.conditional import ConditionalBlock, NaturalParameters, SignedSums
from skem.engine.covariance_type import CovarianceType
from skem.engine.fine_tuning import FineTuning, TunedState
from skem.engine.free_parameters import FreeParameters
from skem.engine.parameters import Mixture
from skem.engine.rows import Rows

FIRST_DECAY, SECOND_DECAY, FLOOR = 0.9, 0.999, 1e-8
"""Of the means of gradients and of their squares, and what is added to the root of the latter, as in the paper."""


@dataclass(frozen=True)
class Schedule:
    """How steps are taken.

    Attributes
    ----------
    n_passes : int
        The learning rate falls to zero along half a cosine over so many.
    batch_size : int
    learning_rate : float
    noise : float
        Deviation of Gaussian noise that is added to the features, in units of theirs.
    random_state : RandomState
        Of the order of rows, and the noise.
    """

    n_passes: int
    batch_size: int
    learning_rate: float
    noise: float
    random_state: np.random.RandomState


class _Block:
    """A block, its free parameters, and what is known of their gradients."""

    def __init__(
        self, tuning: FineTuning, block: ConditionalBlock, mixture: Mixture, pull: SignedSums
    ) -> None:
        self._block, self._pull = block, pull
        self._free = FreeParameters.of(mixture, tuning.covariance_type)
        self._theta = self._free.theta(mixture)
        self._first, self._second = np.zeros_like(self._theta), np.zeros_like(self._theta)
        self._use()

    def _use(self) -> None:
        w, log_weights, self._means = self._free.natural(self._theta)
        self._block.use(NaturalParameters(w, log_weights))

    def step(self, signed: SignedSums, n_rows: float, n_steps: int, rate: float) -> bool:
        """A step along the gradient of a batch of ``n_rows``, step number ``n_steps``; False, and none, where it overflowed."""
        sums, counts = (one / n_rows + pull for one, pull in zip(signed, self._pull, strict=True))
        gradient = self._free.gradient(self._theta, self._means, sums, counts)
        if not np.isfinite(gradient.sum()):
            return False
        compiled.factors().adam_step(
            self._theta,
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
        return self._free.mixture(self._theta)


def passes(tuning: FineTuning, mixtures: Sequence[Mixture], schedule: Schedule) -> Iterator[TunedState]:
    """Yield the state after each pass over the rows, from some mixtures."""
    rows, model, random_state = tuning.rows, tuning.model(mixtures), schedule.random_state
    blocks = [
        _Block(tuning, *arguments)
        for arguments in zip(model.blocks, mixtures, tuning.pulls(model), strict=True)
    ]
    spread = _deviations(rows)[:, None]
    n, n_steps, last = len(rows.codes), 0, list(mixtures)
    total_steps = schedule.n_passes * -(-n // schedule.batch_size)
    for _ in range(schedule.n_passes):
        order, log_likelihood = random_state.permutation(n), 0.0
        for begin in range(0, n, schedule.batch_size):
            batch, noise = order[begin : begin + schedule.batch_size], None
            if schedule.noise > 0:
                noise = schedule.noise * spread * random_state.standard_normal((len(spread), len(batch)))
            with np.errstate(over="ignore", invalid="ignore"):
                criterion, of_batch, signed = model.criterion(rows, batch, noise=noise)
                rate = schedule.learning_rate * 0.5 * (1.0 + np.cos(np.pi * n_steps / total_steps))
                n_steps += 1
                step = partial(_step, float(rows.weights[batch].sum()), n_steps, rate)
                steps = list(zip(blocks, signed, strict=True))
                finite = np.isfinite(criterion) and all(tuning.workers.map(step, steps))
            if not finite:
                yield TunedState(last, np.nan, finished=True, overflown=True)
                return
            log_likelihood += of_batch
        present = _mixtures(blocks, tuning.covariance_type)
        if present is None:
            yield TunedState(last, np.nan, finished=True, overflown=True)
            return
        last = present
        yield TunedState(last, log_likelihood / rows.total_weight)


def _mixtures(blocks: Sequence[_Block], covariance_type: CovarianceType) -> list[Mixture] | None:
    """The mixtures of the blocks; None where the last step went so far that one of them is none in float64."""
    try:
        with np.errstate(all="ignore"):
            mixtures = [block.mixture() for block in blocks]
    except np.linalg.LinAlgError:
        return None
    finite = all(np.isfinite(array).all() for m in mixtures for array in (m.weights, m.means, m.covariances))
    return mixtures if finite and all(covariance_type.regular(m.covariances) for m in mixtures) else None


def _step(n_rows: float, n_steps: int, rate: float, block: tuple[_Block, SignedSums]) -> bool:
    return block[0].step(block[1], n_rows, n_steps, rate)


def _deviations(rows: Rows) -> np.ndarray:
    """The standard deviation of each feature, (M,), in the engine's units."""
    return np.sqrt(np.var(rows.features.X, axis=0, dtype=np.float64)) / rows.features.scale
