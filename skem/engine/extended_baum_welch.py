"""Extended Baum-Welch: the M-step of training by mutual information (Gopalakrishnan et al. 1991; Normandin 1991).

The sums of an M-step of EM are replaced by signed sums plus D times the expected sums of a sample drawn from the present
mixture. A large D is a short step along the gradient, which raises the objective.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from skem.engine.covariances import Constraints
from skem.engine.discriminative import BlockGradient, Objective, TrainingState
from skem.engine.linalg import logarithms, product
from skem.engine.parameters import Gaussians, Mixture, Statistics

FIRST_D, GREATER, LESS, LARGEST_D = 1.0, 2.0, 0.7, 1e6
"""D over beta of the first iteration, its factor after a step that fails and after one that succeeds, and its upper limit."""

LEAST_SHARE = 0.1
"""Least share of a variance in any direction, or on batches of a weight, that remains after a step."""


def line_search(objective: Objective, mixtures: Sequence[Mixture], max_iter: int) -> Iterator[TrainingState]:
    """Yield the state after each iteration of one step on all samples, from some mixtures.

    D grows until the objective rises, and shrinks after a step, so the objective never falls.
    """
    present, blocks = list(mixtures), objective.blocks(mixtures)
    indices, D = np.arange(len(objective.rows.codes)), FIRST_D

    def evaluated(candidates: Sequence[Mixture]) -> tuple[float, float, list[Statistics]]:
        """The objective, the mean of log q(c|x), and the gradient of the objective."""
        penalty, pulls = 0.0, []
        for block, mixture, start in zip(blocks, candidates, objective.start, strict=True):
            gaussians = objective.covariance_type.gaussians(mixture.means, mixture.covariances)
            block.use(mixture.weights, gaussians)
            pulls.append(objective.expected_sums(start, objective.strength, mixture.means))
            penalty += _expected_log_density(pulls[-1], mixture.weights, block.gaussians)
        value, log_likelihood, gradient = objective.mean(blocks, indices)
        return value + penalty, log_likelihood, [a + b for a, b in zip(gradient, pulls, strict=True)]

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        value, log_likelihood, gradient = evaluated(present)
    for _ in range(max_iter):
        while True:
            with (
                suppress(np.linalg.LinAlgError),
                np.errstate(over="ignore", invalid="ignore", divide="ignore"),
            ):
                candidates = [
                    _after_step(objective, *pair, D) for pair in zip(present, gradient, strict=True)
                ]
                if (new := evaluated(candidates))[0] > value:
                    break
            D *= GREATER
            if not D < LARGEST_D:
                yield TrainingState(present, log_likelihood, True, overflown=not np.isfinite(value))
                return
        present, (value, log_likelihood, gradient) = candidates, new
        D *= LESS
        yield TrainingState(present, log_likelihood)


def _expected_log_density(sums: Statistics, weights: np.ndarray, gaussians: Gaussians) -> float:
    """sum_kc n_kc log pi_kc + sum_k n_k E[log N(x; mu_k, P_k)], from expected sums about the means."""
    used, U, S = weights > 0, gaussians.whiteners, sums.scatter
    squares = (product(U, S) * U).sum() if U.ndim == 3 else (U**2 * S).sum()
    of_weights = (sums.counts[used] * logarithms(weights[used])).sum()
    of_scales = (sums.counts.sum(axis=1) * gaussians.log_scales).sum()
    return float(of_weights + of_scales - 0.5 * squares)


def _after_step(objective: Objective, mixture: Mixture, gradient: Statistics, D: float) -> Mixture:
    """The M-step of EM (Pulford 2022, eqs. 16 to 18) on the sums for D; LinAlgError if the step is too long."""
    sums = gradient + objective.expected_sums(mixture, D, mixture.means)
    if not (sums.counts[mixture.weights > 0] > 0).all():
        raise np.linalg.LinAlgError("a count is not positive")
    candidate = objective.covariance_type.m_step(sums, mixture, Constraints()).mixture
    new, old = (
        objective.covariance_type.of_components(each.covariances, *mixture.means.shape)
        for each in (candidate, mixture)
    )
    objective.covariance_type.factors(new - LEAST_SHARE * old)
    return candidate


def on_batches(
    objective: Objective,
    mixtures: Sequence[Mixture],
    *,
    max_iter: int,
    batch_size: int,
    learning_rate: float,
    random_state: np.random.RandomState,
) -> Iterator[TrainingState]:
    """Yield the state after each iteration of one step per batch, from some mixtures.

    Parameters
    ----------
    objective : Objective
    mixtures : sequence of Mixture
    max_iter : int
        Iterations, over which the steps fall to zero along half a cosine.
    batch_size : int
    learning_rate : float
        Largest step of a component in its Fisher metric, at most 0.5, with which covariances stay positive definite.
    random_state : RandomState
        Source of the order of samples.
    """
    rows, present = objective.rows, list(mixtures)
    blocks, last = objective.blocks(mixtures), present
    n, n_steps = len(rows.codes), 0
    total_steps = max_iter * -(-n // batch_size)
    for _ in range(max_iter):
        order, log_likelihood = random_state.permutation(n), 0.0
        for begin in range(0, n, batch_size):
            batch = order[begin : begin + batch_size]
            decay = 0.5 * (1.0 + math.cos(math.pi * n_steps / total_steps))
            n_steps += 1
            step = partial(_batch_step, objective, learning_rate, decay)
            try:
                with np.errstate(all="ignore"):
                    _, mean, gradient = objective.mean(blocks, batch)
                    steps = list(zip(blocks, present, objective.start, gradient, strict=True))
                    present = objective.workers.map(step, steps)
            except np.linalg.LinAlgError:
                yield TrainingState(last, np.nan, True, overflown=True)
                return
            log_likelihood += mean * float(rows.weights[batch].sum())
        last = present
        yield TrainingState(last, log_likelihood / rows.total_weight)


def _batch_step(
    objective: Objective,
    rate: float,
    decay: float,
    arguments: tuple[BlockGradient, Mixture, Mixture, Statistics],
) -> Mixture:
    """A step of one feature block on a batch; LinAlgError if it overflows.

    D of component k is beta max(1, |g_k| / rate) / decay, with |g_k| the length of its gradient. So no component moves by
    more than the learning rate, and a far sample cannot break it.
    """
    block, mixture, start, sums = arguments
    if objective.strength:
        sums = sums + objective.expected_sums(start, objective.strength, mixture.means)
    expected = objective.expected_sums(mixture, 1.0, mixture.means)
    lengths = _lengths(sums, expected, block.gaussians.whiteners)
    if not np.isfinite(lengths).all():
        raise np.linalg.LinAlgError("the gradient overflowed")
    steps = decay * rate / np.maximum(lengths, rate)
    added = Statistics(
        # A class may have few samples of a component, and keeps a share of their weight.
        np.maximum(steps[:, None] * sums.counts, (LEAST_SHARE - 1.0) * expected.counts),
        steps[:, None] * sums.offsets,
        steps.reshape(-1, *[1] * (sums.scatter.ndim - 1)) * sums.scatter,
    )
    maximised = objective.covariance_type.m_step(expected + added, mixture, Constraints())
    block.use(maximised.mixture.weights, maximised.gaussians)
    return maximised.mixture


def _lengths(sums: Statistics, expected: Statistics, U: np.ndarray) -> np.ndarray:
    """Length of each component's gradient in its Fisher metric, relative to its expected samples: (K,), or (1,) for a tied mixture."""
    g_k, n_k = (each.counts.sum(axis=1) for each in (sums, expected))
    n_k = np.where(n_k > 0, n_k, 1.0)
    if U.ndim == 3:
        shifts = product(U, sums.offsets[:, :, None])[:, :, 0]
        scatter = product(product(U, sums.scatter), np.swapaxes(U, 1, 2))
    else:
        shifts, scatter = U * sums.offsets, U**2 * sums.scatter
    unit = np.eye(U.shape[1]) if U.ndim == 3 else np.ones((1, U.shape[1]))
    squares = (sums.counts**2 / np.where(expected.counts > 0, expected.counts, 1.0)).sum(axis=1) / n_k
    squares += (shifts**2).sum(axis=1) / n_k**2
    if len(scatter) < len(n_k):
        squares = np.array([(n_k * squares).sum() / n_k.sum()])
        g_k, n_k = np.array([g_k.sum()]), np.array([n_k.sum()])
    excess = (scatter.reshape(len(n_k), *unit.shape) - g_k[:, None, None] * unit).reshape(len(n_k), -1)
    return np.sqrt(squares + 0.5 * (excess**2).sum(axis=1) / n_k**2)
