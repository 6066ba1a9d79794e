"""Supervised EM over class-sorted chunks, as a generator of immutable states, one per iteration.

With r_nk = p(k | x_n, c_n), the E-step (Pulford 2022, eq. 15) leaves sums about the present means,

    s0 = sum r,   s1 = sum r (x - mu),   S = sum r (x - mu) (x - mu)^T

and the M-step (eqs. 16 to 18) is

    pi_kc = s0_kc / sum_k s0_kc,   mu <- mu + s1/s0,   P <- S/s0 - (s1/s0) (s1/s0)^T + r I

A chunk holds samples of one class (but of little data all of them), so it needs only the components that class still uses: its
*active set*. A pair (component, class) leaves it for good when its expected count falls below ``ACTIVE_ROWS`` samples, and an
iteration gets cheaper as EM separates the classes. Leaving out n samples' worth of a pair costs about n nats in that iteration;
but a pair that only a far-off sample uses may grow back from 1e-20 samples to one within a few iterations.

The covariance regularisation is part of the model: with ``ridge`` = r, training uses log N(x; mu, P) - r/2 tr(P^-1), for which P = S + r I *is* the
M-step. The penalised log-likelihood, the ``objective``, therefore never falls but by rounding. A component may be reserved, in
part, for a class: ``log_sharing`` is added to its log-weights in the other classes in the E-step and nowhere else (Titsias and
Likas 2001, eqs. 27 to 37). It is one more penalty of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, count, islice
from typing import Any, NamedTuple

import numpy as np

from skem.engine import compiled, little
from skem.engine.covariances import Maximised
from skem.engine.density import (
    KernelArrays,
    float64_scratch,
    kernel_arrays,
    scratch_of,
    statistics_of,
    zero_sums,
)
from skem.engine.linalg import logarithms
from skem.engine.parameters import FLOAT64, SAFE32, Mixture, Statistics
from skem.engine.problem import Problem, chunks
from skem.engine.rows import Chunk, Reader, Rows
from skem.engine.threads import Scratch


class State(NamedTuple):
    """The result of one iteration.

    Attributes
    ----------
    n_iter : int
        Iterations done.
    mixture : Mixture
        The parameters after this iteration.
    log_likelihood : float
        Weighted mean over samples of log p(x|c) under these parameters, in nats.
    objective : float
        The same with the penalised densities; what EM maximises.
    dtype : numpy dtype
        Type of the log-densities.
    first_objective : float
        The objective of the parameters before the first iteration.
    n_singular : int
        Components whose covariance was singular in the M-step, and so is not what their samples have.
    """

    n_iter: int
    mixture: Mixture
    log_likelihood: float
    objective: float
    dtype: np.dtype
    first_objective: float
    n_singular: int = 0


def iterations(problem: Problem, max_iter: int) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` iterations of supervised EM on one block of features."""
    total, parameters = problem.parts.total_weight, initial(problem)
    statistics = e_step(problem, parameters)
    first = statistics.objective / total
    results = _results(problem, parameters, statistics, max_iter)
    for iteration, (parameters, statistics) in enumerate(islice(results, max_iter), 1):
        yield State(
            iteration,
            parameters.mixture,
            statistics.log_likelihood / total,
            statistics.objective / total,
            statistics.dtype,
            first,
            parameters.n_singular,
        )


def _results(
    problem: Problem, parameters: Maximised, statistics: Statistics, max_iter: int
) -> Iterator[tuple[Maximised, Statistics]]:
    """Yield the results of each M-step and E-step."""
    little_is_enough = True
    for iteration in count(1):
        if little_is_enough:
            little_is_enough = False
            for result in little.iterations(problem, parameters, statistics):
                little_is_enough, (parameters, statistics) = True, result
                yield result
        parameters = m_step(problem, statistics, parameters)
        statistics = e_step(problem, parameters, with_sums=iteration < max_iter)
        yield parameters, statistics


def initial(problem: Problem) -> Maximised:
    """The initial parameters, as if an M-step had found them."""
    start = problem.start
    log_weights = logarithms(start.weights)
    gaussians = problem.covariance_type.gaussians(start.means, start.covariances)
    # Penalties of given covariances, not of those of an M-step, may differ by so much that log-densities lose their digits in float32.
    exact = bool(0.5 * problem.ridge * np.ptp(gaussians.traces) < SAFE32)
    return Maximised(start, log_weights, gaussians, 0, exact)


def is_singular(problem: Problem) -> bool:
    """True if the covariance of all samples is singular, with the regularisation of a problem of one component."""
    start = initial(problem)
    return m_step(problem, e_step(problem, start), start).n_singular > 0


def m_step(problem: Problem, statistics: Statistics, parameters: Maximised) -> Maximised:
    """The parameters (eqs. 16 to 18) after an E-step under ``parameters``, which is repeated in float64 if variances lost their digits."""
    found = problem.covariance_type.m_step(statistics, parameters.mixture, problem.constraints)
    if found.exact or statistics.dtype == FLOAT64:
        return found
    return m_step(problem, e_step(problem, parameters, dtype=FLOAT64), parameters)


def e_step(
    problem: Problem, parameters: Maximised, *, with_sums: bool = True, dtype: np.dtype | None = None
) -> Statistics:
    """The sums over all samples in a type, by default in float32 where samples are and that is exact enough."""
    extent = problem.extent  # refuses features too far out
    if dtype is None:
        dtype = problem.parts.dtype
        if dtype != FLOAT64:
            gaussians, weights = parameters.gaussians, parameters.mixture.weights
            safe = gaussians.is_float32_safe(weights, extent, pairs=problem.parts.reads_pairs)
            dtype = dtype if safe and parameters.exact else FLOAT64
    return problem.parts.fold(EStep(problem, parameters, dtype, with_sums), problem.workers)


class _ClassModel(NamedTuple):
    """The components that some classes use, as `kernels.e_step` takes them; ``components`` is None for all."""

    components: np.ndarray | None
    arrays: KernelArrays
    log_scales: np.ndarray
    log_weights: np.ndarray
    penalties: np.ndarray


class EStep:
    """The E-step under one set of parameters. It holds no samples and can be pickled: it goes to where the samples are.

    Parameters
    ----------
    problem : Problem
        Only its model is kept.
    parameters : Maximised
    dtype : numpy dtype
        Type of the computation.
    with_sums : bool
        True if an M-step follows.

    Attributes
    ----------
    pairs : bool
        True if a component needs samples as pairs of numbers.
    gaussians : Gaussians
    log_weights : ndarray of shape (K, L)
    penalties : ndarray of shape (K, L) or (K, 1)
        Subtracted from log-densities in the objective.
    """

    def __init__(self, problem: Problem, parameters: Maximised, dtype: np.dtype, with_sums: bool) -> None:
        self.columns, self.dtype, self._with_sums = problem.columns, dtype, with_sums
        gaussians = self.gaussians = parameters.gaussians
        self._whitening, arrays = kernel_arrays(gaussians, dtype)
        *_, self._narrow, _ = arrays
        self.pairs = gaussians.needs_pairs(dtype)
        penalties = (0.5 * problem.ridge * gaussians.traces)[:, None]
        if problem.log_sharing is not None:
            penalties = penalties - problem.log_sharing
        self.log_weights, self.penalties = parameters.log_weights, penalties
        self._model = _ClassModel(None, arrays, gaussians.log_scales, parameters.log_weights, penalties)
        K, m = gaussians.means.shape
        self._n_products = K * problem.covariance_type.n_products(m)
        self._scatter_shape = problem.covariance_type.scatter_shape(K, m)
        self._models: dict[tuple[int, int], _ClassModel] = {}

    def __getstate__(self) -> dict[str, Any]:
        # They are made again sooner than sent.
        return vars(self) | {"_models": {}}

    def chunks(self, rows: Rows) -> list[Chunk]:
        """The chunks of a part; the models of their classes are made here, by one thread."""
        of_part = chunks(rows, self._n_products)
        for chunk in of_part:
            self._model_of(chunk.classes)
        return of_part

    def _model_of(self, classes: slice) -> _ClassModel:
        key = classes.start, classes.stop
        if key not in self._models:
            self._models[key] = self._new_model(classes)
        return self._models[key]

    def _new_model(self, classes: slice) -> _ClassModel:
        whole = self._model
        if classes.stop - classes.start == whole.log_weights.shape[1]:
            return whole
        log_weights = np.ascontiguousarray(whole.log_weights[:, classes])
        penalties = whole.penalties
        if penalties.shape[1] > 1:
            penalties = np.ascontiguousarray(penalties[:, classes])
        active = (log_weights > -np.inf).any(axis=1)
        if active.all():
            return whole._replace(log_weights=log_weights, penalties=penalties)
        k = np.flatnonzero(active)
        arrays = tuple(array[k] for array in whole.arrays)
        return _ClassModel(k, arrays, whole.log_scales[k], log_weights[k], penalties[k])

    def of_chunk(self, rows: Rows, chunk: Chunk, read: Reader, scratch: Scratch) -> tuple[slice, Statistics]:
        """The classes of a chunk of samples, and the sums over it, for the components of these classes."""
        model, weights, (x, first) = self._model_of(chunk.classes), rows.weights[chunk.rows], read(chunk.rows)
        (k, C), m = model.log_weights.shape, model.arrays[0].shape[1]
        memory, kernels = scratch_of(scratch, k, m, x.dtype), compiled.kernels()
        if self._whitening is not None:
            x, first = self._whitening(x, first, len(weights), memory), 0
        first_size, *shape = self._scatter_shape
        sums = zero_sums(k, C, (min(first_size, k) if self._with_sums else 0, *shape))
        samples, numbers = (x, first, chunk.borders, weights), float64_scratch(k, x.dtype)
        log_likelihood, objective, exact = kernels.e_step(
            samples,
            model.arrays,
            (model.log_scales, model.log_weights, model.penalties, numbers),
            sums,
            memory,
        )
        if not exact:
            # The components that carry a sample without the penalties have none of it with them.
            without = model.log_scales, model.log_weights, np.zeros((k, 1)), numbers
            none = zero_sums(k, C, (0, *shape))
            log_likelihood, *_ = kernels.e_step(samples, model.arrays, without, none, memory)
        statistics = statistics_of(sums, m, self.dtype)
        statistics.log_likelihood, statistics.objective = log_likelihood, objective
        return chunk.classes, statistics

    def total(self, values: Iterable[tuple[slice, Statistics]]) -> Statistics:
        """The sums of a part from those of its chunks, in order, in the coordinates of the features."""
        values, whole = iter(values), self._model
        classes, total = next(values)
        if self._model_of(classes) is not whole:
            values = chain([(classes, total)], values)
            counts, offsets = np.zeros(whole.log_weights.shape), np.zeros(whole.arrays[0].shape)
            total = Statistics(counts, offsets, np.zeros(self._scatter_shape), dtype=self.dtype)
        for classes, added in values:
            model = self._model_of(classes)
            total.log_likelihood += added.log_likelihood
            total.objective += added.objective
            if self._with_sums:
                k = slice(None) if model.components is None else model.components
                total.counts[k, classes] += added.counts
                total.offsets[k] += added.offsets
                total.scatter[k if len(total.scatter) > 1 else slice(None)] += added.scatter
        return self._in_feature_coordinates(total) if self._with_sums else total

    def _in_feature_coordinates(self, sums: Statistics) -> Statistics:
        """The sums of whitened samples in those of features: x - mu = L (z - U mu)."""
        sums.narrow = self._narrow if self.pairs else None
        if self._whitening is not None:
            L = np.linalg.inv(self._whitening.whitener)
            scatter = L @ sums.scatter @ L.T
            # Rounding makes it asymmetric where samples are far out in the coordinates of a narrow start.
            sums.offsets, sums.scatter = sums.offsets @ L.T, (scatter + scatter.transpose(0, 2, 1)) / 2
        return sums
