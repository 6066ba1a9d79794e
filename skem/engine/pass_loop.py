"""Passes of EM on little data, one after the other in one call: Python takes as long for a pass as its work.

See ``compiled`` for how this module is imported. The functions it calls are those that `em` calls, as they were compiled
for that, so that a pass has the same bits here and there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import typeof
from numba.core.types import FunctionType
from numba.core.types.function_type import CompileResultWAP

from skem.engine.components import error_bounds, next_parameters
from skem.engine.interrupts import sigint, uninterrupted
from skem.engine.kernels import e_step, entry


class Pointer(CompileResultWAP):
    """An `entry` as compiled functions can be handed it, for arguments of the types of these."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        signature = tuple(map(typeof, arguments))
        function.dispatcher.compile(signature)
        super().__init__(function.dispatcher.overloads[signature])
        # What numba otherwise works out in every call, which takes longer than several passes.
        self._numba_type_ = FunctionType(self.signature())


@cache
@uninterrupted
def _functions(
    dtype: np.dtype, family: int | None, float32_asked: bool
) -> tuple[Pointer, Pointer | None, Pointer]:
    """The first arguments of `_passes`, for features of a type. Ctrl-C waits, since they are compiled, or loaded."""
    vector, matrix, indices = np.empty(0), np.empty((0, 0)), np.empty(0, dtype=np.int64)
    mask, x, memory = np.empty(0, dtype=bool), np.empty((0, 0), dtype), np.empty(0, dtype)
    four, constants = (matrix,) * 4, (0.0,) * 5
    functions = (
        Pointer(next_parameters, *four, indices, 0.0, 0.0, 0.0, mask, vector, True, constants),
        Pointer(error_bounds, matrix, vector, vector, 0, *(0.0,) * 5) if float32_asked else None,
        Pointer(
            e_step,
            x,
            0,
            matrix,
            family,
            (matrix, matrix, vector),
            (indices, vector),
            (dtype.type(0), 0.0),
            memory,
            (indices, matrix),
            vector,
            vector,
            matrix,
            matrix,
        ),
    )
    sigint.handle_waiting()
    return functions


def passes(rows: tuple, model: tuple, precision: tuple, *others: Any) -> int:
    """See `_passes`."""
    functions = _functions(rows[0].dtype, model[-2], precision[1])
    return _passes(*functions, rows, model, precision, *others)


@entry
def _passes(
    parameters_after,
    errors,
    expectation,
    rows,
    model,
    precision,
    previous,
    statistics,
    history,
    memory,
    with_sums,
):
    """Several passes, up to one that needs what is not here.

    Parameters
    ----------
    parameters_after, errors, expectation : Pointer
        To `components.next_parameters`, `components.error_bounds` and `kernels.e_step`. None in place of the second where
        float32 is not asked for.
    rows : tuple
        The features x (m, N), as `kernels.e_step` takes them, ``borders`` and ``sample_weights``: one chunk.
    model : tuple
        What `components.next_parameters` takes of the problem: ``linear``, ``least``, ``ridge``, ``leave_out``, ``largest``
        and ``constants``; and what `kernels.e_step` takes: ``family`` and ``least``.
    precision : tuple
        Rounding of the type of x; whether float32 is asked for, and whether x is in it; the `RoundingBound.limits` of float64
        and of float32; and `RoundingBound.squared_extent`, or a negative number where it is not known yet.
    previous : ndarray of shape (K, m)
        Means.
    statistics : tuple of counts (K, C), sums (K, H) and origins (K, m)
        Of these parameters. Counts and sums are overwritten with those of the last pass, which are about zero.
    history : tuple
        Weights (P, K, C), means (P, K, m), covariances (P, K, m, m), log-likelihoods (P,) and objectives (P,), overwritten
        with what there is after each pass, the latter as sums over rows.
    memory : tuple
        ``memory`` and ``local`` of `kernels.e_step`, and arrays for what it overwrites: (2, N) log-densities, counts and sums.
    with_sums : bool
        Whether an M-step follows the last pass; else the statistics are not to be used.

    Returns
    -------
    int
        How many passes were done. The next one drops a component, has a covariance that is singular or in doubt, needs
        another type than that of x, has components that are local, or densities that underflow.
    """
    x, borders, sample_weights = rows
    linear, least_rows, ridge, leave_out, largest, constants, family, least = model
    eps, _, in_float32, of_float64, of_float32, squared_extent = precision
    counts, sums, origins = statistics
    all_weights, all_means, all_covariances, log_likelihoods, objectives = history
    free, local, log_densities, next_counts, next_sums = memory
    means, (K, C), (_, H), m, n_passes = previous, counts.shape, sums.shape, len(x), len(objectives)
    for p in range(n_passes):
        usual, parameters, w, terms, joint = parameters_after(
            counts, sums, origins, means, linear, least_rows, ridge, eps, leave_out, largest, True, constants
        )
        log_weights, everywhere, _, _, common, of_all, of_rest = terms
        if not usual or not (of_float64[0] * of_all[0] < of_float64[1] and of_all[1] < of_float64[2]):
            return p
        if not everywhere:
            for k in range(K):
                used = False
                for c in range(C):
                    used |= parameters[0][k, c] > 0
                if not used:
                    return p
        if errors is not None:
            fine = of_float32[0] * of_rest[0] < of_float32[1] and of_rest[1] < of_float32[2]
            if not fine:
                if squared_extent < 0:
                    return p
                fine = errors(
                    w,
                    common,
                    largest,
                    m,
                    squared_extent,
                    constants[0],
                    of_float32[0],
                    of_float32[1],
                    of_float32[2],
                )[1]
            if fine != in_float32:
                return p
        some = K if with_sums or p + 1 < n_passes else 0
        for k in range(K):
            for c in range(C):
                next_counts[k, c] = 0.0
            for h in range(H):
                next_sums[k, h] = 0.0
        with_log_weights, relief, penalty = joint
        underflown, log_likelihood, objective = expectation(
            x,
            0,
            with_log_weights,
            family,
            (log_weights, relief, penalty),
            (borders, sample_weights),
            least,
            free,
            local,
            log_densities[0],
            log_densities[1],
            next_counts,
            next_sums[:some],
        )
        if underflown:
            return p
        log_likelihoods[p], objectives[p] = log_likelihood, objective
        for k in range(K):
            for h in range(H):
                sums[k, h] = next_sums[k, h]
            for c in range(C):
                counts[k, c] = next_counts[k, c] if C > 1 else next_sums[k, H - 1]
                all_weights[p, k, c] = parameters[0][k, c]
            for i in range(m):
                origins[k, i] = 0.0
                all_means[p, k, i] = parameters[1][k, i]
                for j in range(m):
                    all_covariances[p, k, i, j] = parameters[2][k, i, j]
        means = all_means[p]
    return n_passes
