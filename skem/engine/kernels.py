"""Compiled loops over samples: whitening, the softmax over components, and sums about the components' means.

Samples are columns of x (m, N). They are worked on in tiles whose features, densities and sums stay in the first cache, and
loops over the samples of a tile are innermost, so that they vectorise. No loop depends on the number of threads, and none
holds the interpreter's lock. ``compiled`` imports this module; numba keeps the machine code on disk.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from skem.engine.compile_cache import TolerantCache
from skem.engine.interrupts import safe_point
from skem.engine.parameters import LEAST32, LEAST64
from skem.engine.vectors import (
    HALVES,
    add_to_exponent,
    add_totals,
    cast,
    fma,
    lanes,
    larger,
    load,
    load4,
    splat,
    store,
)

BLOCK = 4 // HALVES
"""Features of a block of sums."""

TILE = 2048
"""Bytes of a row of a tile, 256 samples in float64. With fewer, sums take longer to begin and end; with more, tiles leave the second cache."""


MEAN, LOW, ORIGIN, SHIFT = range(4)
"""Vectors of a component, see the entries below."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def tile_samples(dtype):
    """Samples of a tile in a type."""
    return TILE // dtype.itemsize


_PART = _OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # wrappers take long to compile

compiled = njit(**_PART)
"""Decorator of a function that entries are made of: Python does not call it."""

spliced = njit(**_PART, inline="always")
"""The same of a function with one caller per entry, which numba compiles sooner as a part of it."""


def without_collection(function: Callable) -> Callable:
    """Decorator of a function during which Python does not look for garbage: the compiler leaves none, and objects by the million."""

    @wraps(function)
    def call(*arguments):
        enabled = gc.isenabled()
        gc.disable()
        try:
            return function(*arguments)
        finally:
            if enabled:
                gc.enable()

    return call


def entry(function: Callable) -> Callable:
    """Decorator of a function that Python calls; each call is a safe point for Ctrl-C."""
    function = getattr(function, "py_func", function)
    dispatcher = njit(**_OPTIONS | {"no_cfunc_wrapper": True})(function)
    dispatcher.compile = without_collection(dispatcher.compile)
    with suppress(RuntimeError, OSError):  # neither this folder nor the user's cache can be written to
        dispatcher._cache = TolerantCache(function)

    def call(*arguments):
        safe_point()
        return dispatcher(*arguments)

    call.dispatcher = dispatcher  # type: ignore[attr-defined]
    return wraps(function)(call)


# exp(x) = 2^n exp(r), |r| <= log(2) / 2: NumPy's is scalar in float64 on processors without AVX-512.

_EXP32 = tuple(1.0 / n for n in (720, 120, 24, 6, 2, 1, 1))
_EXP64 = tuple(1.0 / n for n in (479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1))


def _exp(x):
    """exp of numbers above -87 (float32) or -708 (float64) and up to zero, to two units in the last place."""


def _exp64(x):
    # Adding this rounds to an integer, which then stands in the last bits.
    magic = cast(x, 6755399441055744.0)
    shifted = fma(x, cast(x, 1.4426950408889634), magic)
    n = shifted - magic
    r = fma(n, cast(x, -1.9082149292705877e-10), fma(n, cast(x, -0.6931471803691238), x))
    p = cast(x, 1.0 / 6227020800)
    for coefficient in _EXP64:
        p = fma(p, r, cast(x, coefficient))
    return add_to_exponent(p, shifted)


def _exp32(x):
    magic = cast(x, 12582912.0)
    shifted = fma(x, cast(x, 1.4426950408889634), magic)
    n = shifted - magic
    r = fma(n, cast(x, 2.12194440e-4), fma(n, cast(x, -0.693359375), x))
    p = cast(x, 1.0 / 5040)
    for coefficient in _EXP32:
        p = fma(p, r, cast(x, coefficient))
    return add_to_exponent(p, shifted)


@overload(_exp, jit_options={"error_model": "numpy", "forceinline": True})
def _exp_of(x):
    return _exp32 if "float32" in str(x) else _exp64


@compiled
def _density(log_ratio, least):
    """exp, and zero up to ``least``."""
    return larger(log_ratio, least, _exp(larger(log_ratio, least, log_ratio, least)), cast(least, 0.0))


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
        p = fma(p, z, coefficient)
    s *= 2.0
    result = fma(n, 0.6931471803691238, s + fma(s * z, p, n * 1.9082149292705877e-10))
    result = result if x > 0.0 else -np.inf
    return result if x < np.inf else np.float64(x)


@spliced
def _load(x, m, first, n, tile):
    """Copy m features of n samples to a tile, and zeros up to a multiple of four vectors, which is returned."""
    block = 4 * lanes(tile)
    filled = (n + block - 1) // block * block
    s = np.uintp(first)
    for i in range(m):
        for t in range(np.uintp(n)):
            tile[i, t] = x[i, s + t]
        for t in range(n, filled):
            tile[i, t] = 0
    return filled


# Log-densities, in blocks of two features and four vectors of samples: so many sums are under way at once, and fill all registers.
# Components are in groups: -1 has all that are not narrow, and each narrow one is a group of its own, whose number is its index.


@compiled
def _centre(tile, x, first, n, filled, vectors, centred):
    """x - mean of a tile, for the vectors (4, m) of a component.

    If x has (2 m, N) pairs of numbers, so has the mean, and close ones have a difference without rounding.
    """
    m, s = vectors.shape[1], np.uintp(first)
    for i in range(m):
        for t in range(0, filled, 4 * lanes(tile)):
            value = load4(tile, i, t)
            store(centred, i, t, value - cast(value, vectors[MEAN, i]))
        if len(x) > m:
            c = vectors[LOW, i]
            for t in range(np.uintp(n)):
                centred[i, t] += x[m + i, s + t] - c


@compiled
def _log_normal(tile, U, shift, constant, n, out, largest, rows):
    """constant - |U x - shift|^2 / 2 of each sample, for triangular U.

    ``largest`` becomes the maximum of it and of these, and ``rows``, if not None, become U x - shift.
    """
    m = len(shift)
    for t in range(0, n, 4 * lanes(tile)):
        q = cast(load4(tile, 0, t), 0.0)
        for i in range(0, m, 2):
            h = i + 1 if i + 1 < m else i
            y, z = cast(q, -shift[i]), cast(q, -shift[h])
            for j in range(i + 1):
                x = load4(tile, j, t)
                y, z = fma(cast(q, U[i, j]), x, y), fma(cast(q, U[h, j]), x, z)
            q = fma(y, y, q)
            if h > i:
                z = fma(cast(q, U[h, h]), load4(tile, h, t), z)
                q = fma(z, z, q)
            if rows is not None:
                store(rows, i, t, y)
                store(rows, i + 1, t, z)
        q = fma(cast(q, -0.5), q, cast(q, constant))
        store(out, 0, t, q)
        p = load4(largest, 0, t)  # not before: with AVX2 the loops above need all registers
        store(largest, 0, t, larger(q, p, q, p))


@compiled
def _diagonal_log_normals(tile, vectors, U, of_group, n, joint, squares, largest):
    """`_log_normal` of the components of a group, for diagonal U (K, m): one component after the other reads the same few samples.

    ``squares`` is None, or becomes |x - mu|^2 of spherical components.
    """
    (K, _, m), (constants, groups, g) = vectors.shape, of_group
    for t in range(0, n, 4 * lanes(tile)):
        largest_here = load4(largest, 0, t)
        for k in range(K):
            if groups[k] == g:
                q, factor = cast(largest_here, 0.0), tile.dtype.type(-0.5)
                for i in range(m):
                    x = load4(tile, i, t)
                    if squares is None:
                        z = fma(cast(q, U[k, i]), x, cast(q, -vectors[k, SHIFT, i]))
                    else:
                        z = x - cast(q, vectors[k, ORIGIN, i])
                    q = fma(z, z, q)
                if squares is not None:
                    store(squares, k, t, q)
                    factor = factor * U[k, 0] * U[k, 0]
                q = fma(cast(q, factor), q, cast(q, constants[k]))
                store(joint, k, t, q)
                largest_here = larger(q, largest_here, q, largest_here)
        store(largest, 0, t, largest_here)


# The softmax


@compiled
def _exponentiate(joint, constants, factors, n, per_sample, least):
    """Turn log-densities into densities over the largest of components with a constant, and add them up, also times factors."""
    largest, total, relieved = per_sample[0], per_sample[1], per_sample[2]
    least = splat(joint.dtype.type(least))
    for t in range(0, n, lanes(joint)):
        shift, sums, relieved_sums = load(largest, 0, t), cast(least, 0.0), cast(least, 0.0)
        for k in range(len(joint)):
            if constants[k] > -np.inf:
                density = _density(load(joint, k, t) - shift, least)
                store(joint, k, t, density)
                sums = sums + density
                relieved_sums = fma(density, cast(least, factors[k]), relieved_sums)
        store(total, 0, t, sums)
        store(relieved, 0, t, relieved_sums)


@compiled
def _add_sum(values, row, factors, n, target, i, j):
    """Add the sum of values[row, :n], or of one dimension values[:n], to target[i, j], float64, or target[j].

    Unless None, ``factors`` (n,) multiply the values first, which keep the products.
    """
    L = lanes(values)
    for half in range(HALVES):
        total = splat(values.dtype.type(0))
        for t in range(half * L, n, HALVES * L):
            value = load(values, row, t)
            if factors is not None:
                value = value * load(factors, 0, t)
                store(values, row, t, value)
            total = total + value
        add_totals(target, i, j, (total,))


@compiled
def _add_log_densities(per_sample, weights, begin, n, filled, limits, terms, totals):
    """Add weighted sums of log p(x|c) with the penalties, of what these take away, and of weights; return how many samples lose it in rounding.

    ``limits`` are how far the largest penalty of the class is above the least, and the least ratio of densities that rounding leaves.
    """
    largest, total, relieved = per_sample[0], per_sample[1], per_sample[2]
    (spread, least_ratio), n_lost, s = limits, 0, np.uintp(begin)
    for t in range(np.uintp(n)):
        # log sum_k p_k = log sum_k p_k e^-pen_k + log sum_k r_k e^pen_k
        ratio = np.float64(relieved[t]) / np.float64(total[t])
        n_lost += ratio < least_ratio
        terms[0, t], terms[1, t], terms[2, t] = total[t], ratio, weights[s + t]
    for i in range(2 if spread != 0 else 1):
        for t in range(np.uintp(n)):
            shift = np.float64(largest[t]) if i == 0 else spread
            terms[i, t] = terms[2, t] * (_log(terms[i, t]) + shift)
    for i in range(3):
        for t in range(n, filled):
            terms[i, t] = 0.0
        if i != 1 or spread != 0:
            _add_sum(terms, i, None, filled, totals, 0, i)
    return n_lost


# Sums about the means


@compiled
def _add_block(tile, w, n, i, j, whole, scatter):
    """Add sum w x^T of two rows of ``w`` and ``BLOCK`` features, or two if not ``whole``, to scatter[i, j], ..., in eight vectors.

    On the diagonal that is one entry below it, and with an odd number of features entries of zeros; nothing reads these.
    """
    L, zero = lanes(tile), splat(tile.dtype.type(0))
    # The third and the fourth are of two more features, or of the other half of the same ones.
    k = j + 2 if HALVES == 1 and whole else j
    shift = L if HALVES == 2 else 0
    u0, u1, u2, u3, v0, v1, v2, v3 = zero, zero, zero, zero, zero, zero, zero, zero
    for t in range(0, n, HALVES * L):
        w0, w1, w2, w3 = load(w, 0, t), load(w, 1, t), load(w, 0, t + shift), load(w, 1, t + shift)
        x0, x1 = load(tile, j, t), load(tile, j + 1, t)
        x2, x3 = load(tile, k, t + shift), load(tile, k + 1, t + shift)
        u0, u1, u2, u3 = fma(w0, x0, u0), fma(w0, x1, u1), fma(w2, x2, u2), fma(w2, x3, u3)
        v0, v1, v2, v3 = fma(w1, x0, v0), fma(w1, x1, v1), fma(w3, x2, v2), fma(w3, x3, v3)
    add_totals(scatter, i, j, (u0, u1))
    add_totals(scatter, i + 1, j, (v0, v1))
    if whole or HALVES == 2:
        add_totals(scatter, i, k, (u2, u3))
        add_totals(scatter, i + 1, k, (v2, v3))


@compiled
def _add_squares(joint, squares, factors, groups, g, n, counts, c, scatter):
    """`_add_sum` of densities of a group, and add the sum of the products times ``squares`` to ``scatter``."""
    L, K = lanes(joint), len(counts)
    for k in range(K):
        for half in range(HALVES if groups[k] == g else 0):
            total = total_squares = splat(joint.dtype.type(0))
            for t in range(half * L, n, HALVES * L):
                r = load(joint, k, t) * load(factors, 0, t)
                store(joint, k, t, r)
                total, total_squares = total + r, fma(r, load(squares, k, t), total_squares)
            add_totals(counts, k, c, (total,))
            add_totals(scatter, k, 0, (total_squares,))


@compiled
def _add_weighted(tile, groups, g, r, n, sums):
    """Add sum r x of the components of a group to ``sums``, in four vectors, see `_add_block`."""
    (K, even), L, zero = sums.shape, lanes(tile), splat(tile.dtype.type(0))
    shift = L if HALVES == 2 else 0
    for i in range(0, even, BLOCK):
        j = i + 2 if HALVES == 1 and i + 2 < even else i
        for k in range(K):
            if groups[k] == g:
                s0, s1, s2, s3 = zero, zero, zero, zero
                for t in range(0, n, HALVES * L):
                    u, v = load(r, k, t), load(r, k, t + shift)
                    x0, x1 = load(tile, i, t), load(tile, i + 1, t)
                    x2, x3 = load(tile, j, t + shift), load(tile, j + 1, t + shift)
                    s0, s1, s2, s3 = fma(u, x0, s0), fma(u, x1, s1), fma(v, x2, s2), fma(v, x3, s3)
                add_totals(sums, k, i, (s0, s1))
                if HALVES == 2 or j > i:
                    add_totals(sums, k, j, (s2, s3))


@compiled
def _add_sums(tile, mean, r, n, w, offset, scatter):
    """Add sum r (x - mu) to ``offset``, and sum r (x - mu) x^T to the upper triangle of ``scatter``.

    A ``scatter`` with one dimension takes sum r (x - mu)^2. ``w`` (2, T) is memory.
    """
    m, even, L, zero = len(mean), len(offset), lanes(tile), splat(tile.dtype.type(0))
    for i in range(0, even, 2):
        c0, c1 = splat(mean[i]), splat(mean[i + 1 if i + 1 < m else i])
        for half in range(HALVES):
            o0, o1, s0, s1 = zero, zero, zero, zero
            for t in range(half * L, n, HALVES * L):
                share = load(r, 0, t)
                d0, d1 = load(tile, i, t) - c0, load(tile, i + 1, t) - c1
                w0, w1 = share * d0, share * d1
                o0, o1 = o0 + w0, o1 + w1
                if scatter.ndim == 1:
                    s0, s1 = fma(w0, d0, s0), fma(w1, d1, s1)
                else:
                    store(w, 0, t, w0)
                    store(w, 1, t, w1)
            add_totals(offset, 0, i, (o0, o1))
            if scatter.ndim == 1:
                add_totals(scatter, 0, i, (s0, s1))
        if scatter.ndim == 2:
            for j in range(i, even, BLOCK):
                _add_block(tile, w, n, i, j, j + BLOCK <= even, scatter)


@compiled
def _about_means(origins, means, counts, offsets, scatter):
    """Turn sums about ``origins``, which are rounded means, into sums about the means, and sum r (x - o) x^T into sum r (x - mu) (x - mu)^T.

    With d = o - mu, x - mu is x - o + d. Of spherical covariances, ``offsets`` are sum r x, and sum r |x - o|^2 becomes the mean over
    features.
    """
    (K, m), is_diagonal = means.shape, scatter.ndim == 2
    is_spherical = scatter.shape[1] == 1
    for k in range(K):
        n, g = 0.0, k if len(scatter) > 1 else 0
        for c in range(counts.shape[1]):
            n += counts[k, c]
        for i in range(m):
            if is_spherical:
                offsets[k, i] = fma(-n, np.float64(origins[k, i]), offsets[k, i])
            d = np.float64(origins[k, i]) - means[k, i]
            if is_diagonal:
                j = 0 if is_spherical else i
                scatter[k, j] = fma(fma(n, d, 2.0 * offsets[k, i]), d, scatter[k, j])
            else:
                for j in range(i, m):
                    of_mean = fma(n, np.float64(origins[k, j]) - means[k, j], offsets[k, j])
                    scatter[g, i, j] = fma(d, of_mean, fma(-offsets[k, i], means[k, j], scatter[g, i, j]))
        for i in range(m):
            offsets[k, i] = fma(n, np.float64(origins[k, i]) - means[k, i], offsets[k, i])
        if is_diagonal:
            scatter[k, 0] /= m if is_spherical else 1.0
    if not is_diagonal:
        for g in range(len(scatter)):
            for i in range(m):
                for j in range(i):
                    scatter[g, i, j] = scatter[g, j, i]


# Entries. Arguments that belong together are tuples:
#   U          whiteners, (K, m, m) or (K, m), in the type of x
#   gaussians  vectors (K, 4, m) of each component, in the type of x: its mean, what rounding left of it, the origin of its sums, which is the
#              mean, but zero for narrow components, and U mu, zero as well for these; the mask (K,) of narrow components: where U x and
#              U mu would cancel; and means without rounding (K, m), but zero for narrow components
#   sums       counts (K, C), offsets (K, e) and scatter (K, e, e), (1, e, e), (K, e) or, of spherical covariances, (K, 1), float64, zero before;
#              e is m or m + 1, even
#   scratch    memory of shape (`scratch_rows`, at least `tile_samples`), of the type of x
# Nothing is allocated here: NumPy does that sooner, and for each kind of array numba would compile a function.


def scratch_rows(n_joint, m):
    """Rows of the memory that an entry works in, for m features and densities of ``n_joint`` components."""
    return n_joint + 2 * (m + m % 2) + 5


@spliced
def _memory(n_joint, m, scratch):
    """Joint densities; a tile; a centred tile; two rows; and three numbers per sample."""
    even = m + m % 2
    tile, last = scratch[n_joint : n_joint + even], n_joint + 2 * even
    for t in range(TILE // scratch.itemsize):
        scratch[n_joint + even - 1, t] = 0
        scratch[last - 1, t] = 0
    centred = scratch[n_joint + even : last]
    return scratch[:n_joint], tile, centred, scratch[last : last + 2], scratch[last + 2 : last + 5]


@entry
def e_step(samples, U, gaussians, mixture, counts, offsets, scatter, scratch, squares):
    """The E-step (Pulford 2022, eq. 15) on samples sorted by class, and the sums for eqs. 16 to 18.

    Parameters
    ----------
    samples : tuple
        x (m, N) or (2 m, N), the first of n columns, ``borders`` (C + 1,) and sample weights (n,). Class c has the samples from
        borders[c] to borders[c + 1].
    U : ndarray
    gaussians : tuple
    mixture : tuple
        log N(mu_k; mu_k, P_k) (K,), log-weights (K, C), -inf where a class does not use a component, penalties (K, C) or (K, 1), and
        memory (7, max(K, `tile_samples`)), float64.
    counts, offsets, scatter : ndarray
        With an empty scatter there are no sums.
    scratch : ndarray
    squares : ndarray or None
        Memory (K, at least `tile_samples`) for spherical covariances, None for others. As an argument it is known when this is compiled, as
        are the dimensions of U.

    Returns
    -------
    log_likelihood, objective : float
        Weighted sums of log p(x|c) without and with the penalties.
    exact : bool
        False if the first is not: the components that carry a sample have none of it with the penalties.
    """
    x, first, borders, sample_weights = samples
    vectors, narrow, exact_means = gaussians
    log_scales, log_weights, penalties, numbers = mixture
    (K, C), number, with_sums = log_weights.shape, x.dtype.type, len(scatter) > 0
    m, size = vectors.shape[2], TILE // x.itemsize
    joint, tile, centred, w, per_sample = _memory(K, m, scratch)
    largest, total = per_sample[0], per_sample[1]
    least = number(LEAST32 if x.itemsize == 4 else LEAST64)
    # In a smaller sum the densities that count as zero would show.
    least_ratio = np.exp(np.float64(least)) / (1.2e-7 if x.itemsize == 4 else 2.3e-16)
    constants, factors, groups, totals, terms = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4:]
    totals[0], totals[1], objective, exact = 0.0, 0.0, 0.0, True
    for c in range(C):
        totals[2] = 0.0
        p, least_penalty, penalty = c if penalties.shape[1] > 1 else 0, np.inf, -np.inf
        for k in range(K):
            if log_weights[k, c] > -np.inf:
                least_penalty = penalties[k, p] if penalties[k, p] < least_penalty else least_penalty
                penalty = penalties[k, p] if penalties[k, p] > penalty else penalty
        for k in range(K):
            constants[k], factors[k], groups[k] = -np.inf, 0.0, K
            if log_weights[k, c] > -np.inf:
                groups[k] = k if narrow[k] else -1
                # A penalty that all have is subtracted at the end: a large one would leave no digits of the rest.
                constants[k] = log_scales[k] + log_weights[k, c] - (penalties[k, p] - least_penalty)
                factors[k] = np.exp(penalties[k, p] - penalty)
        for begin in range(borders[c], borders[c + 1], size):
            n = borders[c + 1] - begin if borders[c + 1] - begin < size else size
            filled = _load(x, m, first + begin, n, tile)
            for t in range(filled):
                largest[t] = -np.inf
            for g in range(-1, K):
                if g >= 0:
                    if groups[g] != g:
                        continue
                    _centre(tile, x, first + begin, n, filled, vectors[g], centred)
                source = centred if g >= 0 else tile
                if U.ndim == 2:
                    of_group = constants, groups, g
                    _diagonal_log_normals(source, vectors, U, of_group, filled, joint, squares, largest)
                else:
                    for k in range(K):
                        if groups[k] == g:
                            _log_normal(
                                source, U[k], vectors[k, SHIFT], constants[k], filled, joint[k], largest, None
                            )
            _exponentiate(joint, constants, factors, filled, per_sample, least)
            limits = penalty - least_penalty, least_ratio
            n_lost = _add_log_densities(per_sample, sample_weights, begin, n, filled, limits, terms, totals)
            exact &= n_lost == 0
            if with_sums:
                for t in range(np.uintp(n)):
                    total[t] = number(sample_weights[np.uintp(begin) + t]) / total[t]
                for t in range(n, filled):
                    total[t] = 0
                for g in range(-1, K):
                    if g >= 0:
                        if groups[g] != g:
                            continue
                        _centre(tile, x, first + begin, n, filled, vectors[g], centred)
                    source = centred if g >= 0 else tile
                    if squares is not None:
                        _add_squares(joint, squares, total, groups, g, filled, counts, c, scatter)
                        _add_weighted(source, groups, g, joint, filled, offsets)
                    else:
                        for k in range(K):
                            if groups[k] == g:
                                _add_sum(joint, k, total, filled, counts, k, c)
                                to = scatter[k if len(scatter) > 1 else 0]
                                _add_sums(source, vectors[k, ORIGIN], joint[k], filled, w, offsets[k], to)
        if totals[2] > 0:  # without samples the penalty is infinite
            objective -= least_penalty * totals[2]
    if with_sums:
        _about_means(vectors[:, ORIGIN], exact_means, counts, offsets, scatter)
    return totals[0] + totals[1], totals[0] + objective, exact


@entry
def log_normal(samples, U, gaussians, log_scales, groups, result, scratch):
    """log N(x; mu_k, P_k), written to ``result`` (K, n) in its type; ``samples`` are x (m, N) or (2 m, N) and the first of n columns."""
    (x, first), (vectors, _, _) = samples, gaussians
    (K, n_samples), m, size = result.shape, vectors.shape[2], TILE // x.itemsize
    joint, tile, centred, _, per_sample = _memory(K, m, scratch)
    largest = per_sample[0]
    for begin in range(0, n_samples, size):
        n = n_samples - begin if n_samples - begin < size else size
        filled = _load(x, m, first + begin, n, tile)
        for g in range(-1, K):
            if g >= 0:
                if groups[g] != g:
                    continue
                _centre(tile, x, first + begin, n, filled, vectors[g], centred)
            source = centred if g >= 0 else tile
            if U.ndim == 2:
                _diagonal_log_normals(
                    source, vectors, U, (log_scales, groups, g), filled, joint, None, largest
                )
            else:
                for k in range(K):
                    if groups[k] == g:
                        _log_normal(
                            source, U[k], vectors[k, SHIFT], log_scales[k], filled, joint[k], largest, None
                        )
        for k in range(K):
            for t in range(np.uintp(n)):
                result[k, np.uintp(begin) + t] = joint[k, t]


@entry
def weighted_sums(x, means, responsibilities, sums, scratch):
    """Sums over samples about the means, weighted by ``responsibilities`` (K, n), which may be negative.

    ``means`` are two arrays (K, m), in the type of x, as ``responsibilities`` are, and without rounding.
    """
    (counts, offsets, scatter), (joint, tile, _, w, _) = sums, _memory(1, len(x), scratch)
    (origins, exact_means), n_samples, r, size = means, x.shape[1], joint[0], TILE // x.itemsize
    for begin in range(0, n_samples, size):
        n = n_samples - begin if n_samples - begin < size else size
        filled = _load(x, len(x), begin, n, tile)
        for k in range(len(origins)):
            for t in range(np.uintp(n)):
                r[t] = responsibilities[k, np.uintp(begin) + t]
            for t in range(n, filled):
                r[t] = 0
            _add_sum(r, 0, None, filled, counts, k, 0)
            _add_sums(tile, origins[k], r, filled, w, offsets[k], scatter[k if len(scatter) > 1 else 0])
    _about_means(origins, exact_means, counts, offsets, scatter)


@entry
def whiten(samples, gaussian, result, scratch):
    """U (x - mu) of n columns of x (m, N), written to ``result`` (m, n), for triangular U, (m, m), and U mu, (m,)."""
    (x, first), (U, shift), (m, n_samples) = samples, gaussian, result.shape
    size = TILE // x.itemsize
    joint, tile, rows, _, per_sample = _memory(1, m, scratch)
    for begin in range(0, n_samples, size):
        n = n_samples - begin if n_samples - begin < size else size
        filled = _load(x, m, first + begin, n, tile)
        _log_normal(tile, U, shift, 0.0, filled, joint[0], per_sample[0], rows)
        for i in range(m):
            for t in range(np.uintp(n)):
                result[i, np.uintp(begin) + t] = rows[i, t]


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
    scratch : ndarray of shape (2, `tile_samples`)
    """
    (K, n_samples), size = joint.shape, TILE // joint.itemsize
    least = joint.dtype.type(LEAST32 if joint.itemsize == 4 else LEAST64)
    total = scratch[0]
    for begin in range(0, n_samples, size):
        s = np.uintp(begin)
        n = np.uintp(n_samples - begin if n_samples - begin < size else size)
        for t in range(n):
            largest[s + t] = joint[0, s + t]
            total[t] = 0
        for k in range(1, K):
            for t in range(n):
                largest[s + t] = joint[k, s + t] if joint[k, s + t] > largest[s + t] else largest[s + t]
        for k in range(K):
            for t in range(n):
                joint[k, s + t] = _density(joint[k, s + t] - largest[s + t], least)
                total[t] += joint[k, s + t]
        for t in range(n):
            log_total[s + t] = _log(np.float64(total[t])) + np.float64(largest[s + t])


@entry
def most_probable(joint, log_weights, labels, largest):
    """Write the first k with the largest joint_k + log_weights_k of each sample, (K, n), to ``labels`` (n,), and that sum to ``largest``."""
    for t in range(np.uintp(len(labels))):
        labels[t] = 0
        largest[t] = -np.inf
    for k in range(len(joint)):
        for t in range(np.uintp(len(labels))):
            value, before = joint[k, t] + log_weights[k], largest[t]
            labels[t] = k if value > before else labels[t]
            largest[t] = value if value > before else before


@entry
def exponentiate(x):
    """Turn numbers up to zero (n,) into their exp, in place; it is zero below the logarithm of the least normal number, or nearly so."""
    least = x.dtype.type(LEAST32 if x.itemsize == 4 else LEAST64)
    for t in range(np.uintp(len(x))):
        x[t] = x[t] if np.isnan(x[t]) else _density(x[t], least)


# Discriminative training. ``pairs`` of a component and a class, one class after the other, are: components (A,), the borders (L + 1,)
# of classes among them, and log pi (A,).


@entry
def class_log_densities(joint, pairs, result, scratch):
    """log sum_k pi_kc exp(joint_k) of each class, written to ``result`` (L, n), for log-densities (K, n); ``scratch`` is (2, `tile_samples`)."""
    components, borders, log_weights = pairs
    n_samples, zero, largest, total = joint.shape[1], joint.dtype.type(0), scratch[0], scratch[1]
    size = TILE // joint.itemsize
    least = joint.dtype.type(LEAST32 if joint.itemsize == 4 else LEAST64)
    for begin in range(0, n_samples, size):
        s = np.uintp(begin)
        n = np.uintp(n_samples - begin if n_samples - begin < size else size)
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
                    total[t] += _density(joint[k, s + t] + log_weight - largest[t], least)
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
    scratch : ndarray of shape (2, `tile_samples`)
    """
    components, borders, log_weights = pairs
    (log_densities, errors), (signed, counts), shares = classes, out, scratch[0]
    n_samples, zero, size = joint.shape[1], joint.dtype.type(0), TILE // joint.itemsize
    least = joint.dtype.type(LEAST32 if joint.itemsize == 4 else LEAST64)
    for begin in range(0, n_samples, size):
        s = np.uintp(begin)
        n = np.uintp(n_samples - begin if n_samples - begin < size else size)
        for k in range(len(joint)):
            for t in range(n):
                signed[k, s + t] = zero
        for c in range(len(borders) - 1):
            for a in range(borders[c], borders[c + 1]):
                k, log_weight = components[a], log_weights[a]
                for t in range(n):
                    log_ratio = joint[k, s + t] + log_weight - log_densities[c, s + t]
                    log_ratio = log_ratio if log_ratio < zero else zero
                    shares[t] = errors[c, s + t] * _density(log_ratio, least)
                    signed[k, s + t] += shares[t]
                for t in range(n, size):
                    shares[t] = zero
                _add_sum(shares, 0, None, size, counts, 0, a)
