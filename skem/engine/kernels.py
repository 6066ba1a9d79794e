"""The E-step's loops, compiled: where NumPy would read memory once per operation, or hold the interpreter per call.

See ``compiled`` for how this module is imported. What numba compiles is kept on disk.
Rows are worked on in blocks whose quadratic features stay in the processor's second cache, and these in tiles that stay in
the first; few components do without quadratic features. A tile holds rows of one class. No loop depends on the number of
threads, and none holds the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from skem.engine.compile_cache import TolerantCache
from skem.engine.interrupts import sigint, uninterrupted
from skem.engine.parameters import DIAGONAL, MATRICES, SPHERICAL

TILE, LEAST_TILE, TILE_BYTES = 384, 192, 2**15
"""Rows per tile. Those of matrices have so many bytes, but not less than the least rows. Measured from 192 to 512 rows of 4 to
64 features, in both types, with AVX2 and with AVX-512: never far from the best."""

LANES = 16
"""Rows that tiles of matrices are filled up to a multiple of, with zeros: the most numbers that are worked on at once."""

BLOCK = 512
"""Rows whose quadratic features are made at a time. Measured from 256 to 3072 with 15 to 64 features: more, and they wait
for memory, which takes a third longer."""


def _part(*fastmath: str) -> Callable[[Callable], Any]:
    """Decorator of what entries are made of.

    It is part of their code: called, a function compiled in this process would not be the one that is read from disk with
    its caller, and these sum in another order.
    """
    return njit(nogil=True, error_model="numpy", fastmath=set(fastmath), forceinline=True)


# Products and sums may be fused, so results depend on the processor, as those of BLAS do.
compiled = _part("contract", "nsz")
# Sums in any order, for reductions over rows.
reduction = _part("contract", "nsz", "reassoc")


def entry(function: Callable) -> Callable:
    """Decorator of what the engine calls; of a part, too. Ctrl-C waits, since a first call compiles, or loads what was compiled."""
    function = getattr(function, "py_func", function)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
    dispatcher = njit(**options)(function)
    with suppress(RuntimeError, OSError):  # neither this folder nor the user's cache can be written to
        dispatcher._cache = TolerantCache(function)

    @uninterrupted
    def call(*arguments):
        result = dispatcher(*arguments)
        sigint.handle_waiting()
        return result

    call.dispatcher = dispatcher  # type: ignore[attr-defined]
    return wraps(function)(call)


# exp(x) = 2^n exp(r), |r| <= log(2) / 2: NumPy's is scalar in float64 on processors without AVX-512.


def _exp(x):
    """exp of a number above -87 (float32) or -708 (float64) and up to zero, to two units in the last place."""


def _exp64(x):
    # Adding this rounds to an integer, which then stands in the last bits.
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10
    p = 1 / 6227020800.0
    p = p * r + 1 / 479001600.0
    p = p * r + 1 / 39916800.0
    p = p * r + 1 / 3628800.0
    p = p * r + 1 / 362880.0
    p = p * r + 1 / 40320.0
    p = p * r + 1 / 5040.0
    p = p * r + 1 / 720.0
    p = p * r + 1 / 120.0
    p = p * r + 1 / 24.0
    p = p * r + 1 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    exponent = np.int64(np.float64(shifted).view(np.int64)) << np.int64(52)
    return np.int64(np.float64(p).view(np.int64) + exponent).view(np.float64)


def _exp32(x):
    shifted = x * np.float32(1.4426950408889634) + np.float32(12582912.0)
    n = shifted - np.float32(12582912.0)
    r = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    p = np.float32(1 / 5040.0)
    p = p * r + np.float32(1 / 720.0)
    p = p * r + np.float32(1 / 120.0)
    p = p * r + np.float32(1 / 24.0)
    p = p * r + np.float32(1 / 6.0)
    p = p * r + np.float32(0.5)
    p = p * r + np.float32(1.0)
    p = p * r + np.float32(1.0)
    exponent = np.int32(np.int32(np.float32(shifted).view(np.int32)) << np.int32(23))
    return np.int32(np.float32(p).view(np.int32) + exponent).view(np.float32)


@overload(_exp, jit_options={"fastmath": {"contract", "nsz"}, "error_model": "numpy", "forceinline": True})
def _exp_of(x):
    return _exp32 if x == types.float32 else _exp64


@_part("contract", "nsz")
def _log(x):
    """log of a number to two units in the last place: the C library's takes one at a time."""
    bits = np.float64(x).view(np.uint64)
    # The exponent n so that the rest is in [sqrt(1/2), sqrt(2)); as a float64 it stands in the last bits of 2^52.
    exponent = (bits + np.uint64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)) >> np.uint64(52)
    n = np.uint64(exponent | np.uint64(0x4330000000000000)).view(np.float64) - (4503599627370496.0 + 1023.0)
    rest = np.uint64(bits - ((exponent - np.uint64(1023)) << np.uint64(52))).view(np.float64)
    # log((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + s^5 / 5 + ...), |s| < .172
    s = (rest - 1.0) / (rest + 1.0)
    z = s * s
    p = 1 / 21.0
    p = p * z + 1 / 19.0
    p = p * z + 1 / 17.0
    p = p * z + 1 / 15.0
    p = p * z + 1 / 13.0
    p = p * z + 1 / 11.0
    p = p * z + 1 / 9.0
    p = p * z + 1 / 7.0
    p = p * z + 1 / 5.0
    p = p * z + 1 / 3.0
    result = n * 0.6931471803691238 + (2.0 * s + (2.0 * s * z * p + n * 1.9082149292705877e-10))
    result = result if x > 0.0 else -np.inf
    return result if x < np.inf else np.float64(x)


# Loops over the rows of a tile, columns ``s`` to ``s + n`` of an array. Unsigned, an index needs no test for a negative one,
# and arrays are not sliced, which would count references.


# Four components at a time: what they add to is read and written once, not four times.


@compiled
def _maximum(joint, i, s, largest):
    for t in range(np.uintp(largest.size)):
        number = joint[i, s + t]
        largest[t] = number if number > largest[t] else largest[t]


@compiled
def _maximum_of_four(joint, i, s, largest):
    for t in range(np.uintp(largest.size)):
        a, b, c, d = joint[i, s + t], joint[i + 1, s + t], joint[i + 2, s + t], joint[i + 3, s + t]
        a = b if b > a else a
        c = d if d > c else c
        a = c if c > a else a
        largest[t] = a if a > largest[t] else largest[t]


@compiled
def _density_ratio(log_density, largest, least, zero):
    log_ratio = log_density - largest
    density = _exp(log_ratio if log_ratio > least else least)
    return density if log_ratio > least else zero


@compiled
def _exponentiate(joint, i, s, largest, least, relief, c, total, relieved):
    """Turn log-densities into densities over the largest, and add them up, also times ``relief``."""
    zero, factor = joint.dtype.type(0), joint.dtype.type(relief[i, c])
    for t in range(np.uintp(largest.size)):
        density = _density_ratio(joint[i, s + t], largest[t], least, zero)
        joint[i, s + t] = density
        total[t] += density
        relieved[t] += density * factor


@compiled
def _exponentiate_four(joint, i, s, largest, least, relief, c, total, relieved):
    """The same of four components."""
    number = joint.dtype.type
    zero, f0, f1 = number(0), number(relief[i, c]), number(relief[i + 1, c])
    f2, f3 = number(relief[i + 2, c]), number(relief[i + 3, c])
    for t in range(np.uintp(largest.size)):
        d0 = _density_ratio(joint[i, s + t], largest[t], least, zero)
        d1 = _density_ratio(joint[i + 1, s + t], largest[t], least, zero)
        d2 = _density_ratio(joint[i + 2, s + t], largest[t], least, zero)
        d3 = _density_ratio(joint[i + 3, s + t], largest[t], least, zero)
        joint[i, s + t], joint[i + 1, s + t], joint[i + 2, s + t], joint[i + 3, s + t] = d0, d1, d2, d3
        total[t] += (d0 + d1) + (d2 + d3)
        relieved[t] += (d0 * f0 + d1 * f1) + (d2 * f2 + d3 * f3)


@compiled
def _softmax(joint, k, s, least, relief, c, total, relieved, largest):
    """Densities of the first k components over the largest of each row, in place of log-densities."""
    for t in range(np.uintp(largest.size)):
        largest[t] = joint[0, s + t]
        total[t] = 0
        relieved[t] = 0
    fours = k // 4 * 4
    for i in range(0, fours, 4):
        _maximum_of_four(joint, i, s, largest)
    for i in range(max(fours, 1), k):
        _maximum(joint, i, s, largest)
    for i in range(0, fours, 4):
        _exponentiate_four(joint, i, s, largest, least, relief, c, total, relieved)
    for i in range(fours, k):
        _exponentiate(joint, i, s, largest, least, relief, c, total, relieved)


@compiled
def _log_densities(largest, total, relieved, common, penalty, least_ratio, log_likelihood, objective, s):
    """Log-densities of a tile's rows, with the penalties and without; where the latter underflow they are NaN."""
    for t in range(np.uintp(total.size)):
        objective[s + t] = _log(np.float64(total[t])) + np.float64(largest[t]) + np.float64(common[t])
        log_likelihood[s + t] = objective[s + t]
    if penalty == 0:
        return 0
    underflown = 0
    for t in range(np.uintp(total.size)):
        ratio = np.float64(relieved[t]) / np.float64(total[t])
        lost = ratio < least_ratio
        log_likelihood[s + t] = np.nan if lost else log_likelihood[s + t] + (penalty + _log(ratio))
        underflown += lost
    return underflown


@reduction
def _weigh(joint, k, s, factor, counts, c):
    """Multiply densities by a factor per row, and add their sums over rows to the counts of several classes."""
    for i in range(k):
        for t in range(np.uintp(factor.size)):
            joint[i, s + t] *= factor[t]
        if counts.shape[1] > 1:
            count = 0.0
            for t in range(np.uintp(factor.size)):
                count += joint[i, s + t]
            counts[i, c] += count


@reduction
def _sum(numbers, n):
    total = 0.0
    for t in range(np.uintp(n)):
        total += numbers[t]
    return total


@reduction
def _product(a, b):
    total = 0.0
    for t in range(np.uintp(a.size)):
        total += a[t] * b[t]
    return total


@compiled
def _add(joint, k, s, n, log_weights, c):
    for i in range(k):
        log_weight = joint.dtype.type(log_weights[i, c])
        for t in range(np.uintp(n)):
            joint[i, s + t] += log_weight


@compiled
def _features(x, s, n, family, phi):
    """phi of the columns s to s + n of x."""
    m, h = len(x), 0
    for i in range(m):
        for t in range(np.uintp(n)):
            phi[h, t] = x[i, s + t]
        h += 1
        if family == MATRICES:
            for j in range(i, m):
                for t in range(np.uintp(n)):
                    phi[h, t] = x[i, s + t] * x[j, s + t]
                h += 1
    if family == DIAGONAL:
        for i in range(m):
            for t in range(np.uintp(n)):
                phi[h, t] = x[i, s + t] * x[i, s + t]
            h += 1
    if family == SPHERICAL:
        for t in range(np.uintp(n)):
            phi[h, t] = 0
        for i in range(m):
            for t in range(np.uintp(n)):
                phi[h, t] += x[i, s + t] * x[i, s + t]
        h += 1
    for t in range(np.uintp(n)):
        phi[h, t] = 1


# The same without making phi, for matrices. Features are taken in pairs: loops then multiply more than they load. An odd
# number of them gets one more, of ones, whose products are the features themselves.


@compiled
def _tile_rows(m, itemsize):
    """T, the rows of a tile of matrices."""
    return min(TILE, max(LEAST_TILE, TILE_BYTES // (m * itemsize) // LANES * LANES))


@compiled
def _tile(m, T, memory):
    """``memory`` for the features of a tile, (m, T), or one more, and behind it for sums that are not finished, (2, T)."""
    even = m + m % 2
    tile = memory[: even * T].reshape((even, T))
    tile[m:] = 1
    return tile, memory[even * T : (even + 2) * T].reshape((2, T))


@compiled
def _fill(x, s, n, tile):
    """Copy the columns s to s + n of x to a tile, and zeros up to a multiple of LANES, which is returned."""
    filled = (n + LANES - 1) // LANES * LANES
    for i in range(len(x)):
        for t in range(np.uintp(n)):
            tile[i, t] = x[i, s + t]
        for t in range(n, filled):
            tile[i, t] = 0
    return filled


@compiled
def _as_matrices(w, m, dtype):
    """w . [x_i, x_i x_j, 1] as matrices: coefficients of x_i x_j for j >= i, and in the last row those of x_i and of 1.

    With an odd number of features the last row is zero.
    """
    even = m + m % 2
    matrices = np.zeros((len(w), even + 1, even + 1), dtype)
    for k in range(len(w)):
        h = 0
        for i in range(m):
            if even == m:
                matrices[k, even, i] = w[k, h]
            else:
                matrices[k, i, m] = w[k, h]
            for j in range(i, m):
                matrices[k, i, j] = w[k, h + 1 + j - i]
            h += m - i + 1
        matrices[k, m, m] = w[k, h]
    return matrices


@compiled
def _add_matrices(matrices, m, sums):
    """The way back: add them to ``sums`` of shape (k, H)."""
    even = m + m % 2
    for k in range(len(sums)):
        h = 0
        for i in range(m):
            sums[k, h] += matrices[k, even, i] if even == m else matrices[k, i, m]
            for j in range(i, m):
                sums[k, h + 1 + j - i] += matrices[k, i, j]
            h += m - i + 1
        sums[k, h] += matrices[k, m, m]


@compiled
def _quadratic_forms(x, matrices, n, partial, result):
    """w . phi(x) of n rows for each w."""
    even = len(x)
    for k in range(len(matrices)):
        constant = matrices[k, even, even]
        for t in range(np.uintp(n)):
            result[k, t] = constant
        for i in range(0, even, 2):
            u, v = matrices[k, even, i], matrices[k, even, i + 1]
            for t in range(np.uintp(n)):
                partial[0, t] = u
                partial[1, t] = v
            j = i + 2
            while j + 4 <= even:
                u0, u1, u2, u3 = (
                    matrices[k, i, j],
                    matrices[k, i, j + 1],
                    matrices[k, i, j + 2],
                    matrices[k, i, j + 3],
                )
                v0, v1, v2, v3 = (
                    matrices[k, i + 1, j],
                    matrices[k, i + 1, j + 1],
                    matrices[k, i + 1, j + 2],
                    matrices[k, i + 1, j + 3],
                )
                for t in range(np.uintp(n)):
                    first, second = partial[0, t], partial[1, t]
                    first = first + u0 * x[j, t] + u1 * x[j + 1, t] + u2 * x[j + 2, t] + u3 * x[j + 3, t]
                    second = second + v0 * x[j, t] + v1 * x[j + 1, t] + v2 * x[j + 2, t] + v3 * x[j + 3, t]
                    partial[0, t], partial[1, t] = first, second
                j += 4
            if j < even:
                u0, u1, v0, v1 = (
                    matrices[k, i, j],
                    matrices[k, i, j + 1],
                    matrices[k, i + 1, j],
                    matrices[k, i + 1, j + 1],
                )
                for t in range(np.uintp(n)):
                    partial[0, t] = partial[0, t] + u0 * x[j, t] + u1 * x[j + 1, t]
                    partial[1, t] = partial[1, t] + v0 * x[j, t] + v1 * x[j + 1, t]
            u0, u1, v1 = matrices[k, i, i], matrices[k, i, i + 1], matrices[k, i + 1, i + 1]
            for t in range(np.uintp(n)):
                first, second = x[i, t], x[i + 1, t]
                of_first = partial[0, t] + u0 * first + u1 * second
                of_second = partial[1, t] + v1 * second
                result[k, t] = result[k, t] + of_first * first + of_second * second


@reduction
def _add_sums(x, responsibilities, k, n, partial, with_ones, matrices):
    """Add the products of features, weighted and summed over n rows, to ``matrices``; and the features and weights.

    Those of the latter are products already where x has a feature of ones.
    """
    even, zero = len(x), x.dtype.type(0)
    for c in range(k):
        if not with_ones:
            s0 = zero
            for t in range(np.uintp(n)):
                s0 += responsibilities[c, t]
            matrices[c, even, even] += s0
        for i in range(0, even, 2):
            u0, v0, u1, u2, v2 = zero, zero, zero, zero, zero
            if with_ones:
                for t in range(np.uintp(n)):
                    first, second = responsibilities[c, t] * x[i, t], responsibilities[c, t] * x[i + 1, t]
                    partial[0, t], partial[1, t] = first, second
                    u1 += first * x[i, t]
                    u2 += first * x[i + 1, t]
                    v2 += second * x[i + 1, t]
            else:
                for t in range(np.uintp(n)):
                    first, second = responsibilities[c, t] * x[i, t], responsibilities[c, t] * x[i + 1, t]
                    partial[0, t], partial[1, t] = first, second
                    u0 += first
                    v0 += second
                    u1 += first * x[i, t]
                    u2 += first * x[i + 1, t]
                    v2 += second * x[i + 1, t]
                matrices[c, even, i] += u0
                matrices[c, even, i + 1] += v0
            matrices[c, i, i] += u1
            matrices[c, i, i + 1] += u2
            matrices[c, i + 1, i + 1] += v2
            j = i + 2
            while j + 4 <= even:
                u0, u1, u2, u3, v0, v1, v2, v3 = zero, zero, zero, zero, zero, zero, zero, zero
                for t in range(np.uintp(n)):
                    u0 += partial[0, t] * x[j, t]
                    u1 += partial[0, t] * x[j + 1, t]
                    u2 += partial[0, t] * x[j + 2, t]
                    u3 += partial[0, t] * x[j + 3, t]
                    v0 += partial[1, t] * x[j, t]
                    v1 += partial[1, t] * x[j + 1, t]
                    v2 += partial[1, t] * x[j + 2, t]
                    v3 += partial[1, t] * x[j + 3, t]
                matrices[c, i, j] += u0
                matrices[c, i, j + 1] += u1
                matrices[c, i, j + 2] += u2
                matrices[c, i, j + 3] += u3
                matrices[c, i + 1, j] += v0
                matrices[c, i + 1, j + 1] += v1
                matrices[c, i + 1, j + 2] += v2
                matrices[c, i + 1, j + 3] += v3
                j += 4
            if j < even:
                u0, u1, v0, v1 = zero, zero, zero, zero
                for t in range(np.uintp(n)):
                    u0 += partial[0, t] * x[j, t]
                    u1 += partial[0, t] * x[j + 1, t]
                    v0 += partial[1, t] * x[j, t]
                    v1 += partial[1, t] * x[j + 1, t]
                matrices[c, i, j] += u0
                matrices[c, i, j + 1] += u1
                matrices[c, i + 1, j] += v0
                matrices[c, i + 1, j + 1] += v1


@reduction
def _add_squares(x, weights, m, n, sums):
    """Add m features, their squares and ones, weighted and summed over n rows, to ``sums`` of shape (1, 2m + 1)."""
    for i in range(m):
        first, second = x.dtype.type(0), x.dtype.type(0)
        for t in range(np.uintp(n)):
            weighted = weights[0, t] * x[i, t]
            first += weighted
            second += weighted * x[i, t]
        sums[0, i] += first
        sums[0, m + i] += second
    total = x.dtype.type(0)
    for t in range(np.uintp(n)):
        total += weights[0, t]
    sums[0, 2 * m] += total


# What the engine calls


@entry
def log_sum_exp(joint, least):
    """Turn (k, n) log-densities into densities over the largest of each row, in place.

    Returns
    -------
    log_total : ndarray of shape (n,), float64
        log sum_k exp.
    largest : ndarray of shape (n,)
    """
    k, n = joint.shape
    largest, log_total = np.empty(n, joint.dtype), np.empty(n)
    total, relieved = np.empty(TILE, joint.dtype), np.empty(TILE, joint.dtype)
    relief = np.ones((k, 1))
    for s in range(np.uintp(0), np.uintp(n), np.uintp(TILE)):
        e = min(s + TILE, n)
        _softmax(joint, k, s, least, relief, 0, total[: e - s], relieved[: e - s], largest[s:e])
        for t in range(e - s):
            log_total[s + t] = _log(np.float64(total[t])) + np.float64(largest[s + t])
    return log_total, largest


@entry
def e_step(
    x,
    first,
    w,
    family,
    mixture,
    rows,
    least,
    memory,
    local,
    log_likelihood,
    objective,
    counts,
    sums,
):
    """The E-step on rows sorted by class, and the sums that the M-step needs.

    Parameters
    ----------
    x : ndarray of shape (m, N)
    first : int
        The first of n columns of ``x``, which are the rows.
    w : ndarray of shape (k + 1, H)
        log N(x; mu_k, P_k) - penalty_k = w_k . phi(x), less what all have in common, which is last. Where there is one class
        the log-weights are in it.
    family : int or None
        What phi is. None: that of matrices, but not to be made, for few components. What is not asked for is not compiled.
    mixture : tuple of log_weights (k, C), relief (k, C) and penalty (C,)
        What is still to be added for several classes; exp(penalty_kc - penalty_c); the largest penalty of each class.
    rows : tuple of borders (C + 1,) and sample_weights (n,)
        Class c has the rows from borders[c] to borders[c + 1].
    least : tuple of two numbers
        Log of a density over the largest up to which it is zero, and the least sum of such ratios that is not lost.
    memory : ndarray of `memory_size` elements
        To work in.
    local : tuple of places (l,) and numbers (l, n), float64
        Which components are given, and what w . phi(x) is for them, the common part included; overwritten with their
        responsibilities times the rows' weights.
    log_likelihood, objective : ndarray of shape (n,), float64
        Overwritten with log p(x|c), without the penalties and with them.
    counts : ndarray of shape (k, C), float64
        Where there are several classes, the sums of responsibilities over the rows of each are added.
    sums : ndarray of shape (k, H), float64
        phi(x) weighted by responsibilities is added; with no rows nothing is.

    Returns
    -------
    tuple of int and two floats
        How many of ``log_likelihood`` are NaN, because their largest densities have penalties that others have not; and the
        sums of ``log_likelihood`` and ``objective``, weighted.
    """
    log_weights, relief, penalty = mixture
    borders, sample_weights = rows
    places, given = local
    k, H, m, N, number = len(w) - 1, w.shape[1], len(x), len(sample_weights), x.dtype.type
    total, relieved, largest = memory[:TILE], memory[TILE : 2 * TILE], memory[2 * TILE : 3 * TILE]
    memory = memory[3 * TILE :]
    if family is None:
        block = _tile_rows(m, x.itemsize)
        joint = memory[: (k + 1) * block].reshape((k + 1, block))
        tile, partial = _tile(m, block, memory[(k + 1) * block :])
        matrices, of_products = _as_matrices(w, m, x.dtype), np.zeros((k, len(tile) + 1, len(tile) + 1))
    else:
        block, rounded = min(N, BLOCK), w.astype(x.dtype)
    underflown = 0
    for s in range(0, N, block):
        n = min(block, N - s)
        if family is None:
            filled = _fill(x, np.uintp(first + s), n, tile)
            _quadratic_forms(tile, matrices, filled, partial, joint)
        else:
            joint, free = memory[: (k + 1) * n].reshape((k + 1, n)), memory[(k + 1) * n :]
            phi = free[: H * n].reshape((H, n))
            _features(x, np.uintp(first + s), n, family, phi)
            np.dot(rounded, phi, joint)
        for i, place in enumerate(places):
            for t in range(n):
                joint[place, t] = given[i, s + t] - joint[k, t]
        for c in range(len(penalty)):
            for begin in range(max(s, borders[c]), min(s + n, borders[c + 1]), TILE):
                size = min(TILE, s + n - begin, borders[c + 1] - begin)
                at, row = np.uintp(begin - s), np.uintp(begin)
                tot, rel, high = total[:size], relieved[:size], largest[:size]
                if len(penalty) > 1:
                    _add(joint, k, at, size, log_weights, c)
                _softmax(joint, k, at, least[0], relief, c, tot, rel, high)
                underflown += _log_densities(
                    high,
                    tot,
                    rel,
                    joint[k, at : at + size],
                    penalty[c],
                    least[1],
                    log_likelihood,
                    objective,
                    row,
                )
                if len(sums) or len(places):
                    for t in range(np.uintp(size)):
                        tot[t] = number(sample_weights[row + t]) / tot[t]
                    _weigh(joint, k, at, tot, counts, c)
        for i, place in enumerate(places):
            for t in range(n):
                given[i, s + t] = joint[place, t]
        if len(sums):
            if family is None:
                for i in range(k):
                    for t in range(n, filled):
                        joint[i, t] = 0
                _add_sums(tile, joint, k, filled, partial, m % 2 == 1, of_products)
            else:
                responsibilities = memory[: k * n].reshape((k, n))
                product = free[H * n : H * (n + k)].reshape((k, H))
                np.dot(responsibilities, phi.T, product)
                for i in range(k):
                    for h in range(np.uintp(H)):
                        sums[i, h] += product[i, h]
    if family is None:
        _add_matrices(of_products, m, sums)
    return underflown, _product(sample_weights, log_likelihood), _product(sample_weights, objective)


def memory_size(k, H, m, n, family):
    """Elements of the memory that `e_step` works in."""
    if family is None:
        return (k + m + 7) * TILE
    n = min(n, BLOCK)
    return 3 * TILE + (k + 1) * n + H * (n + k)


@entry
def linear_forms(x, w, family):
    """w . phi(x) of (m, n) features for each row of ``w`` (k, H), shape (k, n); arguments as above."""
    (k, H), (m, N) = w.shape, x.shape
    result = np.empty((k, N), x.dtype)
    if family is None:
        block, matrices = _tile_rows(m, x.itemsize), _as_matrices(w, m, x.dtype)
        memory = np.empty((k + m + 3) * block, x.dtype)
        forms = memory[: k * block].reshape((k, block))
        tile, partial = _tile(m, block, memory[k * block :])
    else:
        block, rounded = min(N, BLOCK), w.astype(x.dtype)
        memory = np.empty((k + H) * block, x.dtype)
    for s in range(0, N, block):
        n = min(block, N - s)
        if family is None:
            _quadratic_forms(tile, matrices, _fill(x, np.uintp(s), n, tile), partial, forms)
        else:
            forms = memory[: k * n].reshape((k, n))
            phi = memory[k * n : (k + H) * n].reshape((H, n))
            _features(x, np.uintp(s), n, family, phi)
            np.dot(rounded, phi, forms)
        for i in range(k):
            for t in range(n):
                result[i, s + t] = forms[i, t]
    return result


@entry
def squared_distances(x, origin, rest, inverse):
    """|L^-1 (x - origin) - rest|^2 of (m, n) features, for a lower triangular ``inverse``, L^-1."""
    (m, n), zero = x.shape, x.dtype.type(0)
    tile, partial, result = np.empty((m, TILE), x.dtype), np.empty(TILE, x.dtype), np.empty(n, x.dtype)
    for begin in range(0, n, TILE):
        s, size = np.uintp(begin), np.uintp(min(TILE, n - begin))
        for t in range(size):
            result[s + t] = zero
        for i in range(m):
            for t in range(size):
                tile[i, t] = x[i, s + t] - origin[i]
                partial[t] = -rest[i]
            j = 0
            while j + 4 <= i + 1:
                u0, u1, u2, u3 = inverse[i, j], inverse[i, j + 1], inverse[i, j + 2], inverse[i, j + 3]
                for t in range(size):
                    partial[t] += (u0 * tile[j, t] + u1 * tile[j + 1, t]) + (
                        u2 * tile[j + 2, t] + u3 * tile[j + 3, t]
                    )
                j += 4
            while j <= i:
                u0 = inverse[i, j]
                for t in range(size):
                    partial[t] += u0 * tile[j, t]
                j += 1
            for t in range(size):
                result[s + t] += partial[t] * partial[t]
    return result


@entry
def scaled_distances(x, origin, rest, inverse):
    """|inverse (x - origin) - rest|^2 of (m, n) features, for the reciprocal deviations ``inverse`` of shape (m,)."""
    (m, n), zero = x.shape, x.dtype.type(0)
    result = np.empty(n, x.dtype)
    for begin in range(0, n, TILE):
        s, size = np.uintp(begin), np.uintp(min(TILE, n - begin))
        for t in range(size):
            result[s + t] = zero
        for i in range(m):
            u, v, c = inverse[i], rest[i], origin[i]
            for t in range(size):
                z = u * (x[i, s + t] - c) - v
                result[s + t] += z * z
    return result


@entry
def weighted_sums(x, origin, weights, family):
    """phi(x - origin) of (m, n) features, (H,), weighted by ``weights`` (n,) and summed over rows, without making phi."""
    m, N = x.shape
    rows, part = _tile_rows(m, x.itemsize), np.empty((1, TILE), x.dtype)
    tile, partial = _tile(m, rows, np.empty((m + 3) * rows, x.dtype))
    of_products = np.zeros((1, len(tile) + 1, len(tile) + 1))
    sums = np.zeros((1, 1 + m + m * (m + 1) // 2 if family == MATRICES else 1 + 2 * m))
    for begin in range(0, N, rows):
        s, size = np.uintp(begin), np.uintp(min(rows, N - begin))
        for t in range(size):
            part[0, t] = weights[s + t]
        for i in range(m):
            for t in range(size):
                tile[i, t] = x[i, s + t] - origin[i]
        if family == MATRICES:
            _add_sums(tile, part, 1, size, partial, m % 2 == 1, of_products)
        else:
            _add_squares(tile, part, m, size, sums)
    if family == MATRICES:
        _add_matrices(of_products, m, sums)
    elif family == SPHERICAL:
        sums[0, m] = sums[0, m : 2 * m].sum()
        sums[0, m + 1] = sums[0, 2 * m]
    return sums[0, : m + 2] if family == SPHERICAL else sums[0]


@entry
def quadratic_features(x, family, phi):
    """phi(x) of (m, n) features, written to ``phi``, (H, n)."""
    _features(x, np.uintp(0), x.shape[1], family, phi)


@entry
def class_log_densities(joint, components, borders, log_weights, least, result):
    """log sum_k pi_kc exp(joint_k) of each class, written to ``result``, (L, n).

    Parameters
    ----------
    joint : ndarray of shape (K, n)
        Log-densities of components.
    components : ndarray of int, shape (A,)
        The component of each pair of a component and a class.
    borders : ndarray of int, shape (L + 1,)
        Class c has the pairs borders[c] to borders[c + 1].
    log_weights : ndarray of shape (A,)
        log pi of each pair.
    least : number
        Log of a density over the largest of its row up to which it counts as zero.
    result : ndarray of shape (L, n)
    """
    n, zero = joint.shape[1], joint.dtype.type(0)
    largest, total = np.empty(TILE, joint.dtype), np.empty(TILE, joint.dtype)
    for begin in range(0, n, TILE):
        s, size = np.uintp(begin), np.uintp(min(TILE, n - begin))
        for c in range(len(borders) - 1):
            for t in range(size):
                largest[t] = -np.inf
                total[t] = zero
            for a in range(borders[c], borders[c + 1]):
                k, log_weight = components[a], log_weights[a]
                for t in range(size):
                    number = joint[k, s + t] + log_weight
                    largest[t] = number if number > largest[t] else largest[t]
            for a in range(borders[c], borders[c + 1]):
                k, log_weight = components[a], log_weights[a]
                for t in range(size):
                    log_ratio = joint[k, s + t] + log_weight - largest[t]
                    density = _exp(log_ratio if log_ratio > least else least)
                    total[t] += density if log_ratio > least else zero
            for t in range(size):
                result[c, s + t] = _log(np.float64(total[t])) + np.float64(largest[t])


@entry
def signed_responsibilities(
    joint, components, borders, log_weights, least, log_densities, errors, signed, counts
):
    """What each row adds to a component of each class, with the sign and size of an error per class.

    Parameters
    ----------
    joint, components, borders, log_weights, least
        As above.
    log_densities : ndarray of shape (L, n)
        What `class_log_densities` made of them.
    errors : ndarray of shape (L, n)
    signed : ndarray of shape (K, n)
        Set to sum_c errors_c r_kc, with r_kc the responsibility of component k in class c.
    counts : ndarray of shape (A,), float64
        The sums of errors_c r_kc over rows are added, for each pair.
    """
    n, zero = joint.shape[1], joint.dtype.type(0)
    shares = np.empty(TILE, joint.dtype)
    signed[:] = zero
    for begin in range(0, n, TILE):
        s, size = np.uintp(begin), np.uintp(min(TILE, n - begin))
        for c in range(len(borders) - 1):
            for a in range(borders[c], borders[c + 1]):
                k, log_weight = components[a], log_weights[a]
                for t in range(size):
                    log_ratio = joint[k, s + t] + log_weight - log_densities[c, s + t]
                    log_ratio = log_ratio if log_ratio < zero else zero
                    density = _exp(log_ratio if log_ratio > least else least)
                    shares[t] = errors[c, s + t] * density if log_ratio > least else zero
                    signed[k, s + t] += shares[t]
                counts[a] += _sum(shares, size)
