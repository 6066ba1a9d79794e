"""Several iterations of EM on little data by one compiled call, see `loops.iterations`: the same bits as by ``em``, without its overhead."""

from __future__ import annotations

import numpy as np

from skem.engine import compiled
from skem.engine.covariances import Full, Maximised
from skem.engine.density import empty_arrays, float64_scratch, scratch_of, statistics_of, zero_sums
from skem.engine.parameters import LARGEST32, Gaussians, Mixture, Statistics
from skem.engine.parts import PartsInMemory
from skem.engine.problem import Problem, chunks
from skem.engine.threads import Scratch

MOST_ITERATIONS = 16
"""Of one call: some are superfluous when EM converges."""


def iterations(
    problem: Problem, parameters: Maximised, statistics: Statistics, n: int
) -> list[tuple[Maximised, Statistics]]:
    """The results of the next iterations, at most n; none where they need more than the compiled loop has."""
    parts, constraints, dtype = problem.parts, problem.constraints, statistics.dtype
    if (
        not isinstance(problem.covariance_type, Full)
        or constraints.floor > constraints.ridge
        or type(parts) is not PartsInMemory
        or len(parts.parts) > 1
        or dtype != parts.dtype
    ):
        return []
    mixture, rows = parameters.mixture, parts.parts[0]
    (K, m), L, n = mixture.means.shape, parts.n_classes, min(n, MOST_ITERATIONS)
    chunk, *others = chunks(rows, K * problem.covariance_type.n_products(m))
    if others:
        return []
    x, first = rows.features.reader(problem.columns, dtype)(chunk.rows)
    counts, offsets, scatter = zero_sums(n * K, L, (n * K, m, m))
    even = offsets.shape[1]
    sums = counts.reshape(n, K, L), offsets.reshape(n, K, even), scatter.reshape(n, K, even, even)
    weights, log_weights = np.empty((2, n, K, L))
    means, shifts = np.empty((2, n, K, m))
    covariances, whiteners = np.empty((2, n, K, m, m))
    factors, scores = np.empty((n, 4, K)), np.empty((n, 2))
    log_sharing = np.zeros((K, 1)) if problem.log_sharing is None else problem.log_sharing
    memory = (
        (np.empty((m, m)), np.empty(K, bool)),
        (np.empty((K, m)), np.empty(K), np.empty((K, m)), np.zeros(K, bool)),
        empty_arrays(K, m, (K, m, m), dtype),
        np.empty(log_sharing.shape),
        (float64_scratch(K, dtype), scratch_of(Scratch(), K, m, dtype)),
    )
    narrow = np.zeros(K, bool) if statistics.narrow is None else statistics.narrow
    n_done = compiled.loops().iterations(
        (x, first, chunk.borders, rows.weights),
        (mixture.means, mixture.covariances, statistics.counts, statistics.offsets, statistics.scatter, narrow),
        (
            (float(constraints.least), statistics.eps, float(constraints.ridge)),
            LARGEST32 / max(1.0, m * problem.extent**2),
        ),
        log_sharing,
        (weights, log_weights, means, covariances, whiteners, shifts, factors, sums, scores),
        memory,
    )
    return [
        (
            Maximised(
                Mixture(weights[i], means[i], covariances[i]),
                log_weights[i],
                Gaussians(means[i], whiteners[i], shifts[i], *factors[i]),
                0,
                True,
            ),
            Statistics(*(array[i] for array in sums), *scores[i].tolist(), dtype),
        )
        for i in range(n_done)
    ]
