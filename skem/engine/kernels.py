"""Compiled loops over samples: whitening, the softmax over components, and sums about the components' means.

Samples are columns of x (m, N). They are worked on in tiles whose features, densities and sums stay in the first cache, and
loops over the samples of a tile are innermost, so that they vectorise. No loop depends on the number of threads, and none
holds the interpreter's lock. ``compiled`` imports this module; numba keeps the machine code on disk.
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
from skem.engine.interrupts import safe_point
from skem.engine.parameters import LEAST32, LEAST64

TILE = 256
"""Samples per tile. Measured from 128 to 384: 256 and 384 are alike, 128 is slower in float32."""

LANES = 16
"""Samples that tiles are filled up to a multiple of, with zeros: the most numbers in one vector register."""


def _part(*fastmath: str) -> Callable[[Callable], Any]:
    """Decorator of a function that entries are made of.

    It is inlined: called, it would be compiled again in a process that reads its caller from disk, and sum in another order.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath)}
    # Python does not call it, and wrappers take long to compile.
    options |= {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(**options)


# Products and sums may be fused, so results depend on the processor, as those of BLAS do.
compiled = _part("contract", "nsz")
# Sums in any order, for reductions over samples.
reduction = _part("contract", "nsz", "reassoc")


def entry(function: Callable) -> Callable:
    """Decorator of a function that Python calls; each call is a safe point for Ctrl-C."""
    function = getattr(function, "py_func", function)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
    dispatcher = njit(**options | {"no_cfunc_wrapper": True})(function)
    with suppress(RuntimeError, OSError):  # neither this folder nor the user's cache can be written to
        dispatcher._cache = TolerantCache(function)

    def call(*arguments):
        safe_point()
        return dispatcher(*arguments)

    call.dispatcher = dispatcher  # type: ignore[attr-defined]
    return wraps(function)(call)


# exp(x) = 2^n exp(r), |r| <= log(2) / 2: NumPy's is scalar in float64 on processors without AVX-512.

_EXP64 = tuple(
    1.0 / n for n in (6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1)
)
_EXP32 = tuple(np.float32(1.0 / n) for n in (5040, 720, 120, 24, 6, 2, 1, 1))


def _exp(x):
    """exp of a number above -87 (float32) or -708 (float64) and up to zero, to two units in the last place."""


def _exp64(x):
    # Adding this rounds to an integer, which then stands in the last bits.
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10
    p = 0.0
    for coefficient in _EXP64:
        p = p * r + coefficient
    exponent = np.int64(np.float64(shifted).view(np.int64)) << np.int64(52)
    return np.int64(np.float64(p).view(np.int64) + exponent).view(np.float64)


def _exp32(x):
    shifted = x * np.float32(1.4426950408889634) + np.float32(12582912.0)
    n = shifted - np.float32(12582912.0)
    r = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    p = np.float32(0)
    for coefficient in _EXP32:
        p = p * r + coefficient
    exponent = np.int32(np.int32(np.float32(shifted).view(np.int32)) << np.int32(23))
    return np.int32(np.float32(p).view(np.int32) + exponent).view(np.float32)


@overload(_exp, jit_options={"fastmath": {"contract", "nsz"}, "error_model": "numpy", "forceinline": True})
def _exp_of(x):
    return _exp32 if x == types.float32 else _exp64


_LOG64 = tuple(1.0 / n for n in (21, 19, 17, 15, 13, 11, 9, 7, 5, 3))


@compiled
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
    p = 0.0
    for coefficient in _LOG64:
        p = p * z + coefficient
    result = n * 0.6931471803691238 + (2.0 * s + (2.0 * s * z * p + n * 1.9082149292705877e-10))
    result = result if x > 0.0 else -np.inf
    return result if x < np.inf else np.float64(x)


@compiled
def _load(x, m, first, n, tile):
    """Copy m features of n samples to a tile, and zeros up to a multiple of LANES, which is returned."""
    filled = (n + LANES - 1) // LANES * LANES
    s = np.uintp(first)
    for i in range(m):
        for t in range(np.uintp(n)):
            tile[i, t] = x[i, s + t]
        for t in range(n, filled):
            tile[i, t] = 0
    return np.uintp(filled)


# Log-densities. Features run in pairs, since loops then multiply more than they load; an odd number has one more, of zeros.


@compiled
def _centre(tile, x, first, n, filled, mean, low, centred):
    """x - mean of a tile. If x has (2 m, N) pairs of numbers, so has the mean, and close ones have a difference without rounding."""
    m, s = len(mean), np.uintp(first)
    for i in range(m):
        c = mean[i]
        for t in range(filled):
            centred[i, t] = tile[i, t] - c
        if len(x) > m:
            c = low[i]
            for t in range(np.uintp(n)):
                centred[i, t] += x[m + i, s + t] - c


@compiled
def _squares(tile, U, shift, n, z, out):
    """|U x - shift|^2 of each sample, for triangular U, or diagonal U, a vector. ``z`` (2 or e, T) keeps the last rows of U x - shift."""
    m, zero, one = len(shift), tile.dtype.type(0), tile.dtype.type(1)
    for t in range(n):
        out[t] = 0
    for i in range(0, m, 2):
        second = i + 1 < m
        h, b0, factor = i + 1 if second else i, shift[i], one if second else zero
        b1 = shift[h]
        if U.ndim == 1:
            u0, u1 = U[i], U[h]
            for t in range(n):
                z0, z1 = u0 * tile[i, t] - b0, factor * (u1 * tile[i + 1, t] - b1)
                out[t] += z0 * z0 + z1 * z1
        else:
            r = i if len(z) > 2 else 0
            u0, v0, v1 = U[i, i], U[h, i], U[h, h]
            for t in range(n):
                z[r, t] = u0 * tile[i, t] - b0
                z[r + 1, t] = v0 * tile[i, t] + v1 * tile[i + 1, t] - b1
            j = 0
            while j + 4 <= i:
                u0, u1, u2, u3 = U[i, j], U[i, j + 1], U[i, j + 2], U[i, j + 3]
                v0, v1, v2, v3 = U[h, j], U[h, j + 1], U[h, j + 2], U[h, j + 3]
                for t in range(n):
                    x0, x1, x2, x3 = tile[j, t], tile[j + 1, t], tile[j + 2, t], tile[j + 3, t]
                    z[r, t] += u0 * x0 + u1 * x1 + u2 * x2 + u3 * x3
                    z[r + 1, t] += v0 * x0 + v1 * x1 + v2 * x2 + v3 * x3
                j += 4
            if j < i:
                u0, u1, v0, v1 = U[i, j], U[i, j + 1], U[h, j], U[h, j + 1]
                for t in range(n):
                    x0, x1 = tile[j, t], tile[j + 1, t]
                    z[r, t] += u0 * x0 + u1 * x1
                    z[r + 1, t] += v0 * x0 + v1 * x1
            for t in range(n):
                out[t] += z[r, t] * z[r, t] + factor * z[r + 1, t] * z[r + 1, t]


# The softmax


@compiled
def _exponentiate(joint, n, largest, least, factor, total, relieved):
    """Turn log-densities into densities over the largest, and add them up, also times ``factor``."""
    zero = joint.dtype.type(0)
    for t in range(n):
        log_ratio = joint[t] - largest[t]
        density = _exp(log_ratio if log_ratio > least else least)
        density = density if log_ratio > least else zero
        joint[t] = density
        total[t] += density
        relieved[t] += density * factor


@reduction
def _log_densities(per_sample, weights, begin, n, penalties):
    """Weighted sums of log p(x|c) without the penalties and with them, and how many of the former are lost in rounding.

    ``penalties`` are the least of a class, which densities do not have, how far the largest is above it, and a limit.
    """
    largest, total, relieved = per_sample[0], per_sample[1], per_sample[2]
    least_penalty, spread, least_ratio = penalties
    objective, weight, penalty, n_lost, s = 0.0, 0.0, 0.0, 0, np.uintp(begin)
    for t in range(n):
        objective += weights[s + t] * (_log(np.float64(total[t])) + np.float64(largest[t]))
        weight += weights[s + t]
    if spread != 0:
        # log sum_k p_k = log sum_k p_k e^-pen_k + log sum_k r_k e^pen_k
        for t in range(n):
            ratio = np.float64(relieved[t]) / np.float64(total[t])
            n_lost += ratio < least_ratio
            penalty += weights[s + t] * (spread + _log(ratio))
    return objective + penalty, objective - least_penalty * weight, n_lost


# Sums about the means


@reduction
def _sum(values, n):
    total = values.dtype.type(0)
    for t in range(n):
        total += values[t]
    return total


@reduction
def _add_sums(tile, mean, r, n, w, offset, scatter):
    """Add sum r (x - mu) to ``offset``, and sum r (x - mu) x^T to the upper triangle of ``scatter``.

    A ``scatter`` with one dimension takes sum r (x - mu)^2.
    """
    m, even, zero = len(mean), len(offset), tile.dtype.type(0)
    for i in range(0, even, 2):
        o0, o1, s00, s01, s11 = zero, zero, zero, zero, zero
        c0, c1 = mean[i], mean[i + 1 if i + 1 < m else i]
        for t in range(n):
            x0, x1 = tile[i, t], tile[i + 1, t]
            w0, w1 = r[t] * (x0 - c0), r[t] * (x1 - c1)
            o0 += w0
            o1 += w1
            if scatter.ndim == 1:
                s00 += w0 * (x0 - c0)
                s11 += w1 * (x1 - c1)
            else:
                w[0, t], w[1, t] = w0, w1
                s00 += w0 * x0
                s01 += w0 * x1
                s11 += w1 * x1
        offset[i] += o0
        offset[i + 1] += o1
        if scatter.ndim == 1:
            scatter[i] += s00
            scatter[i + 1] += s11
        else:
            scatter[i, i] += s00
            scatter[i, i + 1] += s01
            scatter[i + 1, i + 1] += s11
            j = i + 2
            while j + 4 <= even:
                u0, u1, u2, u3, v0, v1, v2, v3 = zero, zero, zero, zero, zero, zero, zero, zero
                for t in range(n):
                    x0, x1, x2, x3 = tile[j, t], tile[j + 1, t], tile[j + 2, t], tile[j + 3, t]
                    u0 += w[0, t] * x0
                    u1 += w[0, t] * x1
                    u2 += w[0, t] * x2
                    u3 += w[0, t] * x3
                    v0 += w[1, t] * x0
                    v1 += w[1, t] * x1
                    v2 += w[1, t] * x2
                    v3 += w[1, t] * x3
                scatter[i, j] += u0
                scatter[i, j + 1] += u1
                scatter[i, j + 2] += u2
                scatter[i, j + 3] += u3
                scatter[i + 1, j] += v0
                scatter[i + 1, j + 1] += v1
                scatter[i + 1, j + 2] += v2
                scatter[i + 1, j + 3] += v3
                j += 4
            if j < even:
                u0, u1, v0, v1 = zero, zero, zero, zero
                for t in range(n):
                    x0, x1 = tile[j, t], tile[j + 1, t]
                    u0 += w[0, t] * x0
                    u1 += w[0, t] * x1
                    v0 += w[1, t] * x0
                    v1 += w[1, t] * x1
                scatter[i, j] += u0
                scatter[i, j + 1] += u1
                scatter[i + 1, j] += v0
                scatter[i + 1, j + 1] += v1


@compiled
def _symmetrise(origins, offsets, scatter):
    """Turn sum r (x - mu) x^T of all components into sum r (x - mu) (x - mu)^T, less what is centred already."""
    K, m = origins.shape
    if scatter.ndim == 3:
        for k in range(K):
            g = k if len(scatter) > 1 else 0
            for i in range(m):
                for j in range(i, m):
                    scatter[g, i, j] -= offsets[k, i] * origins[k, j]
        for g in range(len(scatter)):
            for i in range(m):
                for j in range(i):
                    scatter[g, i, j] = scatter[g, j, i]


# Entries. Arguments that belong together are tuples:
#   gaussians  means (K, m); what rounding left of them; means again, but zero for narrow components; whiteners U, (K, m, m) or (K, m);
#              U mu (K, m), but zero for narrow components; all in the type of x; and the mask (K,) of narrow components: where U x and
#              U mu would cancel
#   sums       counts (K, C), offsets (K, e) and scatter (K, e, e), (1, e, e) or (K, e), float64, zero before; e is m or m + 1, even
#   scratch    memory of shape (`scratch_rows`, TILE), of the type of x
# Nothing is allocated here: NumPy does that sooner, and for each kind of array numba would compile a function.


def scratch_rows(n_joint, m):
    """Rows of the memory that an entry works in, for m features and densities of ``n_joint`` components."""
    return n_joint + 2 * (m + m % 2) + 5


@compiled
def _memory(n_joint, m, scratch):
    """Joint densities; a tile; a centred tile; two whitened features; and three numbers per sample."""
    even = m + m % 2
    tile, last = scratch[n_joint : n_joint + even], n_joint + 2 * even
    for t in range(TILE):
        scratch[n_joint + even - 1, t] = 0
        scratch[last - 1, t] = 0
    return tile, scratch[n_joint + even : last], scratch[last : last + 2], scratch[last + 2 : last + 5]


@entry
def e_step(samples, gaussians, mixture, sums, scratch):
    """The E-step (Pulford 2022, eq. 15) on samples sorted by class, and the sums for eqs. 16 to 18.

    Parameters
    ----------
    samples : tuple
        x (m, N) or (2 m, N), the first of n columns, ``borders`` (C + 1,) and sample weights (n,). Class c has the samples from
        borders[c] to borders[c + 1].
    gaussians : tuple
    mixture : tuple
        log N(mu_k; mu_k, P_k) (K,), log-weights (K, C), -inf where a class does not use a component, penalties (K, C) or (K, 1), and
        memory (2, K), float64.
    sums : tuple
        With an empty scatter there are none.
    scratch : ndarray

    Returns
    -------
    log_likelihood, objective : float
        Weighted sums of log p(x|c) without and with the penalties.
    exact : bool
        False if the first is not: the components that carry a sample have none of it with the penalties.
    """
    x, first, borders, sample_weights = samples
    means, lows, origins, U, shifts, narrow = gaussians
    log_scales, log_weights, penalties, of_class = mixture
    counts, offsets, scatter = sums
    (K, C), number, with_sums, n_scatter = log_weights.shape, x.dtype.type, len(scatter) > 0, len(scatter)
    m = means.shape[1]
    tile, centred, z, per_sample = _memory(K, m, scratch)
    largest, total, relieved = per_sample[0], per_sample[1], per_sample[2]
    least = number(LEAST32 if x.itemsize == 4 else LEAST64)
    # In a smaller sum the densities that count as zero would show.
    least_ratio = np.exp(np.float64(least)) / (1.2e-7 if x.itemsize == 4 else 2.3e-16)
    constants, factors = of_class[0], of_class[1]
    log_likelihood, objective, exact = 0.0, 0.0, True
    for c in range(C):
        p, least_penalty, penalty = c if penalties.shape[1] > 1 else 0, np.inf, -np.inf
        for k in range(K):
            if log_weights[k, c] > -np.inf:
                least_penalty = penalties[k, p] if penalties[k, p] < least_penalty else least_penalty
                penalty = penalties[k, p] if penalties[k, p] > penalty else penalty
        for k in range(K):
            constants[k], factors[k] = -np.inf, 0.0
            if log_weights[k, c] > -np.inf:
                # A penalty that all have is subtracted at the end: a large one would leave no digits of the rest.
                constants[k] = log_scales[k] + log_weights[k, c] - (penalties[k, p] - least_penalty)
                factors[k] = np.exp(penalties[k, p] - penalty)
        for begin in range(borders[c], borders[c + 1], TILE):
            n = borders[c + 1] - begin if borders[c + 1] - begin < TILE else TILE
            filled = _load(x, m, first + begin, n, tile)
            for t in range(filled):
                largest[t] = -np.inf
                total[t] = 0
                relieved[t] = 0
            for k in range(K):
                if constants[k] > -np.inf:
                    if narrow[k]:
                        _centre(tile, x, first + begin, n, filled, means[k], lows[k], centred)
                    _squares(centred if narrow[k] else tile, U[k], shifts[k], filled, z, scratch[k])
                    constant = number(constants[k])
                    for t in range(filled):
                        value = constant - number(0.5) * scratch[k, t]
                        scratch[k, t] = value
                        largest[t] = value if value > largest[t] else largest[t]
            for k in range(K):
                if constants[k] > -np.inf:
                    _exponentiate(scratch[k], filled, largest, least, number(factors[k]), total, relieved)
            limits = least_penalty, penalty - least_penalty, least_ratio
            added = _log_densities(per_sample, sample_weights, begin, np.uintp(n), limits)
            log_likelihood += added[0]
            objective += added[1]
            exact &= added[2] == 0
            if with_sums:
                for t in range(np.uintp(n)):
                    total[t] = number(sample_weights[np.uintp(begin) + t]) / total[t]
                for t in range(n, filled):
                    total[t] = 0
                for k in range(K):
                    if constants[k] > -np.inf:
                        for t in range(filled):
                            scratch[k, t] *= total[t]
                        counts[k, c] += _sum(scratch[k], filled)
                        if narrow[k]:
                            _centre(tile, x, first + begin, n, filled, means[k], lows[k], centred)
                        g = k if n_scatter > 1 else 0
                        source = centred if narrow[k] else tile
                        _add_sums(source, origins[k], scratch[k], filled, z, offsets[k], scatter[g])
    if with_sums:
        _symmetrise(origins, offsets, scatter)
    return log_likelihood, objective, exact


@entry
def log_normal(samples, gaussians, log_scales, result, scratch):
    """log N(x; mu_k, P_k), written to ``result`` (K, n) in its type; ``samples`` are x (m, N) or (2 m, N) and the first of n columns."""
    x, first = samples
    means, lows, _, U, shifts, narrow = gaussians
    (K, n_samples), m = result.shape, means.shape[1]
    tile, centred, z, _ = _memory(1, m, scratch)
    for begin in range(0, n_samples, TILE):
        n = n_samples - begin if n_samples - begin < TILE else TILE
        filled = _load(x, m, first + begin, n, tile)
        for k in range(K):
            if narrow[k]:
                _centre(tile, x, first + begin, n, filled, means[k], lows[k], centred)
            _squares(centred if narrow[k] else tile, U[k], shifts[k], filled, z, scratch[0])
            constant = log_scales[k]
            for t in range(np.uintp(n)):
                result[k, np.uintp(begin) + t] = constant - 0.5 * scratch[0, t]


@entry
def weighted_sums(x, means, responsibilities, sums, scratch):
    """Sums over samples about the means (K, m), weighted by ``responsibilities`` (K, n), which may be negative; all in the type of x."""
    counts, offsets, scatter = sums
    n_samples, K, r = x.shape[1], len(means), scratch[0]
    tile, _, w, _ = _memory(1, len(x), scratch)
    for begin in range(0, n_samples, TILE):
        n = n_samples - begin if n_samples - begin < TILE else TILE
        filled = _load(x, len(x), begin, n, tile)
        for k in range(K):
            for t in range(np.uintp(n)):
                r[t] = responsibilities[k, np.uintp(begin) + t]
            for t in range(n, filled):
                r[t] = 0
            counts[k, 0] += _sum(r, filled)
            _add_sums(tile, means[k], r, filled, w, offsets[k], scatter[k if len(scatter) > 1 else 0])
    _symmetrise(means, offsets, scatter)


@entry
def whiten(samples, gaussian, result, scratch):
    """U (x - mu) of n columns of x (m, N), written to ``result`` (m, n), for triangular U, (m, m), and U mu, (m,)."""
    x, first = samples
    U, shift = gaussian
    m, n_samples = result.shape
    tile, z, _, _ = _memory(1, m, scratch)
    for begin in range(0, n_samples, TILE):
        n = n_samples - begin if n_samples - begin < TILE else TILE
        filled = _load(x, m, first + begin, n, tile)
        # With two features z would keep the last two, which are all.
        _squares(tile, U, shift, filled, z, scratch[0])
        for i in range(m):
            for t in range(np.uintp(n)):
                result[i, np.uintp(begin) + t] = z[i, t]


@entry
def log_sum_exp(joint, largest, log_total, scratch):
    """Turn (K, n) log-densities into densities over the largest of each sample, in place.

    Parameters
    ----------
    joint : ndarray of shape (K, n)
    largest : ndarray of shape (n,), of the type of ``joint``
        Overwritten.
    log_total : ndarray of shape (n,), float64
        Overwritten with log sum_k exp.
    scratch : ndarray of shape (2, TILE)
    """
    K, n_samples = joint.shape
    one = joint.dtype.type(1)
    least = joint.dtype.type(LEAST32 if joint.itemsize == 4 else LEAST64)
    total, relieved = scratch[0], scratch[1]
    for begin in range(0, n_samples, TILE):
        s = np.uintp(begin)
        n = np.uintp(n_samples - begin if n_samples - begin < TILE else TILE)
        for t in range(n):
            largest[s + t] = joint[0, s + t]
            total[t] = 0
            relieved[t] = 0
        for k in range(1, K):
            for t in range(n):
                largest[s + t] = joint[k, s + t] if joint[k, s + t] > largest[s + t] else largest[s + t]
        for k in range(K):
            _exponentiate(joint[k, s : s + n], n, largest[s : s + n], least, one, total, relieved)
        for t in range(n):
            log_total[s + t] = _log(np.float64(total[t])) + np.float64(largest[s + t])


# Discriminative training. ``pairs`` of a component and a class, one class after the other, are: components (A,), the borders (L + 1,)
# of classes among them, and log pi (A,).


@entry
def class_log_densities(joint, pairs, result, scratch):
    """log sum_k pi_kc exp(joint_k) of each class, written to ``result`` (L, n), for log-densities (K, n); ``scratch`` is (2, TILE)."""
    components, borders, log_weights = pairs
    n_samples, zero, largest, total = joint.shape[1], joint.dtype.type(0), scratch[0], scratch[1]
    least = joint.dtype.type(LEAST32 if joint.itemsize == 4 else LEAST64)
    for begin in range(0, n_samples, TILE):
        s = np.uintp(begin)
        n = np.uintp(n_samples - begin if n_samples - begin < TILE else TILE)
        for c in range(len(borders) - 1):
            for t in range(n):
                largest[t] = -np.inf
                total[t] = zero
            for a in range(borders[c], borders[c + 1]):
                k, log_weight = components[a], log_weights[a]
                for t in range(n):
                    value = joint[k, s + t] + log_weight
                    largest[t] = value if value > largest[t] else largest[t]
            for a in range(borders[c], borders[c + 1]):
                k, log_weight = components[a], log_weights[a]
                for t in range(n):
                    log_ratio = joint[k, s + t] + log_weight - largest[t]
                    density = _exp(log_ratio if log_ratio > least else least)
                    total[t] += density if log_ratio > least else zero
            for t in range(n):
                result[c, s + t] = _log(np.float64(total[t])) + np.float64(largest[t])


@entry
def signed_responsibilities(joint, pairs, classes, out, scratch):
    """Responsibilities of the components in each class, times an error of the class.

    Parameters
    ----------
    joint, pairs
        As above.
    classes : tuple
        The result of `class_log_densities`, and errors, (L, n) each, of the type of ``joint``.
    out : tuple
        Overwritten: sum_c errors_c r_kc (K, n), and its sums over samples for each pair (A,), float64.
    scratch : ndarray of shape (2, TILE)
    """
    components, borders, log_weights = pairs
    (log_densities, errors), (signed, counts), shares = classes, out, scratch[0]
    n_samples, zero = joint.shape[1], joint.dtype.type(0)
    least = joint.dtype.type(LEAST32 if joint.itemsize == 4 else LEAST64)
    for begin in range(0, n_samples, TILE):
        s = np.uintp(begin)
        n = np.uintp(n_samples - begin if n_samples - begin < TILE else TILE)
        for k in range(len(joint)):
            for t in range(n):
                signed[k, s + t] = zero
        for c in range(len(borders) - 1):
            for a in range(borders[c], borders[c + 1]):
                k, log_weight = components[a], log_weights[a]
                for t in range(n):
                    log_ratio = joint[k, s + t] + log_weight - log_densities[c, s + t]
                    log_ratio = log_ratio if log_ratio < zero else zero
                    density = _exp(log_ratio if log_ratio > least else least)
                    shares[t] = errors[c, s + t] * density if log_ratio > least else zero
                    signed[k, s + t] += shares[t]
                counts[a] += _sum(shares, n)
