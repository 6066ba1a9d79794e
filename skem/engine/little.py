"""Iterations of EM on little data: those of ``em``, to the bit, in memory that is reused.

With some hundred samples the compiled loops take less time than what Python does about them, most of which is the same in every
iteration.
"""

from __future__ import annotations

from collections.abc import Iterator

from skem.engine import compiled
from skem.engine.covariances import Maximised, maximised
from skem.engine.density import arrange, empty_arrays, float64_scratch, scratch_of, statistics_of, zero_sums
from skem.engine.linalg import factorised
from skem.engine.parameters import FLOAT64, LARGEST32, SINGULAR, Mixture, Statistics
from skem.engine.parts import PartsInMemory
from skem.engine.problem import Problem, chunks
from skem.engine.threads import Scratch


def iterations(
    problem: Problem, parameters: Maximised, statistics: Statistics
) -> Iterator[tuple[Maximised, Statistics]]:
    """Yield the results of iterations; they end before one that needs more, such as a singular covariance.

    ``Statistics`` are overwritten in the next iteration but one.
    """
    parts, constraints, dtype = problem.parts, problem.constraints, statistics.dtype
    full = problem.covariance_type.name == "full" and constraints.floor <= constraints.ridge
    if not full or type(parts) is not PartsInMemory or len(parts.parts) > 1 or dtype != parts.dtype:
        return
    mixture, rows = parameters.mixture, parts.parts[0]
    (K, m), L = mixture.means.shape, parts.n_classes
    chunk, *others = chunks(rows, K * problem.covariance_type.n_products(m))
    if others:
        return
    kernels, is_float32 = compiled.kernels(), dtype != FLOAT64
    samples = (*rows.reader(problem.columns, dtype)(chunk.rows), chunk.borders, rows.weights)
    largest_trace = LARGEST32 / max(1.0, m * problem.extent**2)
    arrays, numbers = empty_arrays((K, m), (K, m, m), dtype), float64_scratch(K, dtype)
    scratch, buffers = scratch_of(Scratch(), K, m, dtype), [zero_sums(K, m, L, (K, m, m)) for _ in range(2)]
    while True:
        previous = mixture.covariances.copy()
        weights, log_weights, means, _, rounding, covariances, *_ = maximised(
            statistics, mixture, constraints, previous
        )
        gaussians, _, all_regular, exact = factorised(means, covariances, rounding, SINGULAR)
        _, U, shifts, log_scales, traces, sensitivities, _ = gaussians
        any_narrow = arrange(means, U, shifts, sensitivities, arrays)
        if not all_regular or (
            is_float32 and (any_narrow or not exact or max(traces.tolist()) >= largest_trace)
        ):
            return
        penalties = (0.5 * problem.ridge * traces)[:, None]
        if problem.log_sharing is not None:
            penalties = penalties - problem.log_sharing
        buffers.reverse()
        for buffer in buffers[0]:
            buffer.fill(0.0)
        of_model = log_scales, log_weights, penalties, numbers
        log_likelihood, objective, exact = kernels.e_step(
            samples, arrays[0], arrays[1:], of_model, *buffers[0], scratch, None
        )
        if not exact:
            return
        mixture = Mixture(weights, means, covariances)
        statistics = statistics_of(buffers[0], m, dtype)
        statistics.log_likelihood, statistics.objective = log_likelihood, objective
        yield Maximised(mixture, log_weights, gaussians, 0, True), statistics
