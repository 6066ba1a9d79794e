"""The E-step's loops, compiled: where NumPy would read memory once per operation, or hold the interpreter per call.

See ``compiled`` for how this module is imported. What numba compiles is kept on disk.
Rows are worked on in tiles that stay in the processor's first caches; a tile holds rows of one class. No loop depends on
the number of threads, and none holds the interpreter's lock.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from skem.engine.interrupts import sigint, uninterrupted

TILE = 256
"""Rows per tile. Measured from 64 to 1024, in both types, with AVX2 and with AVX-512: 256 is never far from the best."""


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
    """Decorator of what the engine calls. Ctrl-C waits, since a first call compiles, or loads what was compiled."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
    try:
        dispatcher = njit(cache=True, **options)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written to
        dispatcher = njit(**options)(function)

    @uninterrupted
    def call(*arguments):
        result = dispatcher(*arguments)
        sigint.handle_waiting()
        return result

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


# Loops over the rows of a tile, columns ``s`` to ``s + n`` of an array. Unsigned, an index needs no test for a negative one,
# and arrays are not sliced, which would count references.


@compiled
def _maximum(joint, i, s, largest):
    for t in range(np.uintp(largest.size)):
        number = joint[i, s + t]
        largest[t] = number if number > largest[t] else largest[t]


@compiled
def _exponentiate(joint, i, s, largest, least, relief, total, relieved):
    """Turn log-densities into densities over the largest, and add them up, also times ``relief``."""
    zero = joint.dtype.type(0)
    for t in range(np.uintp(largest.size)):
        log_ratio = joint[i, s + t] - largest[t]
        density = _exp(log_ratio if log_ratio > least else least)
        density = density if log_ratio > least else zero
        joint[i, s + t] = density
        total[t] += density
        relieved[t] += density * relief


@compiled
def _softmax(joint, k, s, least, relief, c, total, relieved):
    """Densities of the first k components over the largest of each row, in place of log-densities; return the largest."""
    largest = joint[0, s : s + total.size].copy()
    total[:] = 0
    relieved[:] = 0
    for i in range(1, k):
        _maximum(joint, i, s, largest)
    for i in range(k):
        _exponentiate(joint, i, s, largest, least, relief[i, c], total, relieved)
    return largest


@compiled
def _log_densities(largest, total, relieved, common, penalty, least_ratio, log_likelihood, objective):
    """Log-densities of a tile's rows, with the penalties and without; where the latter underflow they are NaN."""
    for t in range(total.size):
        objective[t] = math.log(np.float64(total[t])) + np.float64(largest[t]) + np.float64(common[t])
        log_likelihood[t] = objective[t]
    if penalty == 0:
        return 0
    underflown = 0
    for t in range(total.size):
        ratio = np.float64(relieved[t]) / np.float64(total[t])
        if ratio < least_ratio:
            log_likelihood[t] = np.nan
            underflown += 1
        else:
            log_likelihood[t] += penalty + math.log(ratio)
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


@compiled
def _add(joint, k, s, n, log_weights, c):
    for i in range(k):
        for t in range(np.uintp(n)):
            joint[i, s + t] += log_weights[i, c]


@compiled
def _quadratic_forms(x, w, n, partial, result):
    """w . phi(x) of n rows for each row of ``w``, without making phi."""
    m = len(x)
    for k in range(len(w)):
        h = 0
        for t in range(n):
            result[k, t] = 0
        for i in range(m):
            for t in range(n):
                partial[t] = w[k, h]
            h += 1
            j = i
            while j + 4 <= m:
                w0, w1, w2, w3 = w[k, h], w[k, h + 1], w[k, h + 2], w[k, h + 3]
                for t in range(n):
                    partial[t] += (w0 * x[j, t] + w1 * x[j + 1, t]) + (w2 * x[j + 2, t] + w3 * x[j + 3, t])
                h += 4
                j += 4
            while j < m:
                w0 = w[k, h]
                for t in range(n):
                    partial[t] += w0 * x[j, t]
                h += 1
                j += 1
            for t in range(n):
                result[k, t] += partial[t] * x[i, t]
        for t in range(n):
            result[k, t] += w[k, h]


@reduction
def _add_sums(x, responsibilities, k, n, product, sums):
    """Add phi(x), weighted by the responsibilities of k components and summed over n rows, to ``sums`` (k, H)."""
    m, zero = len(x), x.dtype.type(0)
    for c in range(k):
        h = 0
        for i in range(m):
            s0 = zero
            for t in range(n):
                product[t] = responsibilities[c, t] * x[i, t]
                s0 += product[t]
            sums[c, h] += s0
            h += 1
            j = i
            while j + 4 <= m:
                s0, s1, s2, s3 = zero, zero, zero, zero
                for t in range(n):
                    s0 += product[t] * x[j, t]
                    s1 += product[t] * x[j + 1, t]
                    s2 += product[t] * x[j + 2, t]
                    s3 += product[t] * x[j + 3, t]
                sums[c, h] += s0
                sums[c, h + 1] += s1
                sums[c, h + 2] += s2
                sums[c, h + 3] += s3
                h += 4
                j += 4
            while j < m:
                s0 = zero
                for t in range(n):
                    s0 += product[t] * x[j, t]
                sums[c, h] += s0
                h += 1
                j += 1
        s0 = zero
        for t in range(n):
            s0 += responsibilities[c, t]
        sums[c, h] += s0


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
    relief = np.ones((k, 1), joint.dtype)
    for s in range(np.uintp(0), np.uintp(n), np.uintp(TILE)):
        e = min(s + TILE, n)
        largest[s:e] = _softmax(joint, k, s, least, relief, 0, total[: e - s], relieved[: e - s])
        for t in range(e - s):
            log_total[s + t] = math.log(np.float64(total[t])) + np.float64(largest[s + t])
    return log_total, largest


@entry
def posterior(joint, common, mixture, rows, least, log_likelihood, objective, counts):
    """Turn (k, n) log joint densities of rows, sorted by class, into responsibilities times the rows' weights.

    Parameters
    ----------
    joint : ndarray of shape (k, n)
        log pi_kc + log N(x; mu_k, P_k) - penalty_k, less ``common``; overwritten.
    common : ndarray of shape (n,)
    mixture : tuple of log_weights (k, C), relief (k, C) and penalty (C,)
        What is still to be added to ``joint``; exp(penalty_kc - penalty_c); the largest penalty of each class.
    rows : tuple of borders (C + 1,) and sample_weights (n,)
        Class c has the columns from borders[c] to borders[c + 1].
    least : tuple of two numbers
        Log of a density over the largest up to which it is zero, and the least sum of such ratios that is not lost.
    log_likelihood, objective : ndarray of shape (n,), float64
        Overwritten with log p(x|c), without the penalties and with them.
    counts : ndarray of shape (k, C), float64
        Where there are several classes, the sums of the result over the rows of each are added.

    Returns
    -------
    int
        How many of ``log_likelihood`` are NaN, because their largest densities have penalties that others have not.
    """
    log_weights, relief, penalty = mixture
    borders, sample_weights = rows
    total, relieved = np.empty(TILE, joint.dtype), np.empty(TILE, joint.dtype)
    k, underflown = len(joint), 0
    for c in range(len(penalty)):
        for begin in range(borders[c], borders[c + 1], TILE):
            s, n = np.uintp(begin), min(TILE, borders[c + 1] - begin)
            e = begin + n
            tot, rel = total[:n], relieved[:n]
            if len(penalty) > 1:
                _add(joint, k, s, n, log_weights, c)
            largest = _softmax(joint, k, s, least[0], relief, c, tot, rel)
            underflown += _log_densities(
                largest, tot, rel, common[s:e], penalty[c], least[1], log_likelihood[s:e], objective[s:e]
            )
            for t in range(n):
                tot[t] = sample_weights[begin + t] / tot[t]
            _weigh(joint, k, s, tot, counts, c)
    return underflown


@entry
def few_components(x, w, mixture, rows, least, log_likelihood, objective, counts, sums):
    """The E-step of (m, n) features and its sums without making their quadratic features; and see `posterior`.

    Parameters
    ----------
    x : ndarray of shape (m, n)
    w : ndarray of shape (k + 1, H)
        Of the k components, and what they have in common.
    sums : ndarray of shape (k, H), float64
        phi(x) weighted by responsibilities is added; with no rows nothing is.
    """
    log_weights, relief, penalty = mixture
    borders, sample_weights = rows
    k, m = len(w) - 1, len(x)
    tile, joint = np.empty((m, TILE), x.dtype), np.empty((k + 1, TILE), x.dtype)
    total, relieved, partial = np.empty(TILE, x.dtype), np.empty(TILE, x.dtype), np.empty(TILE, x.dtype)
    first, underflown = np.uintp(0), 0
    for c in range(len(penalty)):
        for s in range(borders[c], borders[c + 1], TILE):
            e = min(s + TILE, borders[c + 1])
            n = e - s
            tile[:, :n] = x[:, s:e]
            _quadratic_forms(tile, w, n, partial, joint)
            tot, rel = total[:n], relieved[:n]
            if len(penalty) > 1:
                _add(joint, k, first, n, log_weights, c)
            largest = _softmax(joint, k, first, least[0], relief, c, tot, rel)
            underflown += _log_densities(
                largest, tot, rel, joint[k, :n], penalty[c], least[1], log_likelihood[s:e], objective[s:e]
            )
            if len(sums):
                for t in range(n):
                    tot[t] = sample_weights[s + t] / tot[t]
                _weigh(joint, k, first, tot, counts, c)
                _add_sums(tile, joint, k, n, partial, sums)
    return underflown


@entry
def weighted_sums(x, weights):
    """phi(x) of (m, n) features weighted and summed over rows, (k, H), for ``weights`` of shape (k, n), without making phi."""
    m, n = x.shape
    k = len(weights)
    tile, product = np.empty((m, TILE), x.dtype), np.empty(TILE, x.dtype)
    part, sums = np.empty((k, TILE), x.dtype), np.zeros((k, 1 + m + m * (m + 1) // 2))
    for s in range(0, n, TILE):
        e = min(s + TILE, n)
        tile[:, : e - s] = x[:, s:e]
        part[:, : e - s] = weights[:, s:e]
        _add_sums(tile, part, k, e - s, product, sums)
    return sums


@entry
def quadratic_forms(x, w):
    """w . phi(x) of (m, n) features for each row of ``w`` (k, H), shape (k, n), without making phi."""
    m, n = x.shape
    tile, partial = np.empty((m, TILE), x.dtype), np.empty(TILE, x.dtype)
    forms, result = np.empty((len(w), TILE), x.dtype), np.empty((len(w), n), x.dtype)
    for s in range(0, n, TILE):
        e = min(s + TILE, n)
        tile[:, : e - s] = x[:, s:e]
        _quadratic_forms(tile, w, e - s, partial, forms)
        result[:, s:e] = forms[:, : e - s]
    return result


@entry
def quadratic_features(x, phi):
    """phi(x) = [x_i, x_i x_j for j >= i] for each i, and 1, (H, n), of (m, n) features."""
    m = len(x)
    h = 0
    for i in range(m):
        phi[h, :] = x[i]
        h += 1
        for j in range(i, m):
            for t in range(x.shape[1]):
                phi[h, t] = x[i, t] * x[j, t]
            h += 1
    phi[h, :] = 1
