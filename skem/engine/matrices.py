"""Many small matrices, compiled: their factors, their regularity, and the M-step. LAPACK's calls take longer than their work.

``compiled`` imports this module; ``kernels`` says why all parts of an entry stand in one file.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import LOW, MEAN, ORIGIN, SHIFT, compiled, entry, spliced
from skem.engine.parameters import DIGITS, LEAST_ROUNDING, LOG_2PI, SAFE32, SAFE64
from skem.engine.vectors import fma, lanes, load, splat, store

LANES = 8
"""Numbers of the longest vector in float64."""

TRANSPOSED = 16
"""Samples that are transposed at a time, and stay in the first cache."""

TERMS = 256
"""Terms of a product that are added at a time, and stay in the second cache."""


@entry
def product(a, b, out, scratch):
    """Write a^T b of matrices (G or 1, p, n) and (G or 1, p, q), in float64, to ``out`` (G, n, q).

    The terms of an entry are added one after the other, whatever the width of vectors. ``scratch`` is memory, (TERMS, r) and (n, r), with r
    a multiple of 64 bytes; what its first array has beyond q is zero.
    """
    (G, n, q), n_terms, (block, sums), L = out.shape, a.shape[1], scratch, lanes(a)
    # Without unsigned indices each access would look for negative ones.
    for g in range(np.uintp(G)):
        h, k = np.uintp(min(g, len(a) - 1)), np.uintp(min(g, len(b) - 1))
        for i in range(np.uintp(n)):
            for j in range(np.uintp(sums.shape[1])):
                sums[i, j] = 0.0
        for begin in range(0, n_terms, TERMS):
            first, size = np.uintp(begin), np.uintp(min(TERMS, n_terms - begin))
            for p in range(size):
                for j in range(np.uintp(q)):
                    block[p, j] = b[k, first + p, j]
            for i in range(0, n, 4):
                # The last row again where there are fewer.
                i0, i1 = np.uintp(i), np.uintp(min(i + 1, n - 1))
                i2, i3 = np.uintp(min(i + 2, n - 1)), np.uintp(min(i + 3, n - 1))
                for j in range(0, sums.shape[1], L):
                    s0, s1, s2, s3 = load(sums, i, j), load(sums, i1, j), load(sums, i2, j), load(sums, i3, j)
                    for p in range(size):
                        x, t = load(block, p, j), first + p
                        s0, s1 = fma(splat(a[h, t, i0]), x, s0), fma(splat(a[h, t, i1]), x, s1)
                        s2, s3 = fma(splat(a[h, t, i2]), x, s2), fma(splat(a[h, t, i3]), x, s3)
                    store(sums, i, j, s0)
                    store(sums, i1, j, s1)
                    store(sums, i2, j, s2)
                    store(sums, i3, j, s3)
        for i in range(np.uintp(n)):
            for j in range(np.uintp(q)):
                out[g, i, j] = sums[i, j]


@entry
def weighted_sums(weights, x, labels, out):
    """Add w_n x_n of samples (n, m) to the rows of ``out`` (K, m) of their labels (n,); products are rounded before they are added."""
    for n in range(np.uintp(len(x))):
        k, weight = np.uintp(labels[n]), weights[n]
        for j in range(np.uintp(x.shape[1])):
            out[k, j] += weight * x[n, j]


@entry
def moments(weights, x, shift, out):
    """Write the sums of w d and w d^2 of d = x - shift, of samples (n, m), to ``out`` (2, m); products are rounded before they are added."""
    (n_samples, m), L = x.shape, lanes(x)
    for j in range(0, m if m >= L else 0, L):
        i = j if j + L <= m else m - L  # the last vector repeats features of the one before
        c, zero = load(shift, 0, i), splat(0.0)
        sums, squares = zero, zero
        for n in range(n_samples):
            w, d = splat(weights[n]), load(x, n, i) - c
            sums, squares = sums + w * d, squares + w * (d * d)
        store(out, 0, i, sums)
        store(out, 1, i, squares)
    for j in range(0 if m >= L else m):
        total = total_squares = 0.0
        for n in range(np.uintp(n_samples)):
            w, d = weights[n], x[n, j] - shift[j]
            total, total_squares = total + w * d, total_squares + w * (d * d)
        out[0, j], out[1, j] = total, total_squares


@entry
def standardise(x, shift, scale, out):
    """Write (x - shift) / scale of samples (n, m), computed in float64, to ``out`` (m, n)."""
    n = np.uintp(len(x))
    for begin in range(np.uintp(0), n, np.uintp(TRANSPOSED)):
        stop = min(begin + np.uintp(TRANSPOSED), n)
        for j in range(np.uintp(len(out))):
            for t in range(begin, stop):
                out[j, t] = (np.float64(x[t, j]) - shift[j]) / scale[j]


@spliced
def _cholesky(P, R):
    """The upper triangle of R with P = R^T R, from the lower triangle of P; NaN where P is not positive definite."""
    m = len(P)
    for i in range(m):
        for j in range(i, m):
            R[i, j] = P[j, i]
    for p in range(m):
        R[p, p] = np.sqrt(R[p, p])
        scale = 1.0 / R[p, p]
        for j in range(p + 1, m):
            R[p, j] *= scale
        for i in range(p + 1, m):
            factor = -R[p, i]
            for j in range(i, m):
                R[i, j] = fma(factor, R[p, j], R[i, j])


@spliced
def _invert(R, inverse):
    """The lower triangle of R^-T; above it zeros."""
    m = len(R)
    for i in range(m):
        for j in range(m):
            inverse[i, j] = 0.0
        for p in range(i):
            factor = -R[p, i]
            for j in range(p + 1):
                inverse[i, j] = fma(factor, inverse[p, j], inverse[i, j])
        scale = 1.0 / R[i, i]
        for j in range(i):
            inverse[i, j] *= scale
        inverse[i, i] = scale


@entry
def factorise(means, covariances, rounding, singular, out):
    """Whiten components, and tell which covariances are regular.

    A pivot is w^T P w, with w a row of the unit lower triangular inverse, and so is its rounding: the units of the features
    do not matter.

    Parameters
    ----------
    means : ndarray of shape (K, m)
    covariances : ndarray of shape (K, m, m) or (1, m, m)
    rounding : ndarray of shape (K, m) or (1, m)
        Rounding of the terms that each variance is the difference of.
    singular : float
        m times this share of a variance is lost in rounding.
    out : tuple
        Overwritten: memory R (m, m); whiteners U = L^-1 of P = L L^T, of the shape of ``covariances``, NaN where P is not positive
        definite; U mu (K, m); log_scales, traces, sensitivities and cancellations (4, K), see ``parameters.Gaussians``; and the mask (K,) or (1,)
        of regular covariances, whose pivots are not lost in rounding.

    Returns
    -------
    all_regular, all_exact : bool
        True if no pivot is lost in rounding, and if all have three digits.
    """
    (K, m), G = means.shape, len(covariances)
    R, U, shifts, numbers, regular = out
    log_scales, traces, sensitivities, cancellations = numbers[0], numbers[1], numbers[2], numbers[3]
    all_regular, all_exact = True, True
    for g in range(G):
        _cholesky(covariances[g], R)
        _invert(R, U[g])
        log_scale, product = -0.5 * m * LOG_2PI, 1.0  # a logarithm takes ten times as long as a product
        for i in range(m):
            product *= R[i, i]
            if not 1e-100 < product < 1e100 or i == m - 1:
                log_scale -= np.log(product)
                product = 1.0
        log_scales[g], fine, trace = log_scale, True, 0.0
        sharp = True
        for i in range(m):
            pivot, rounded_pivot = 0.0, 0.0
            for j in range(i + 1):
                square = U[g, i, j] * U[g, i, j]
                trace += square
                pivot += square * abs(covariances[g, j, j])
                rounded_pivot += square * rounding[g, j]
            fine &= covariances[g, i, i] > 4.0 * rounding[g, i]
            # A pivot that is NaN or overflows is not regular.
            fine &= m * singular * pivot < 1.0
            fine &= 4.0 * rounded_pivot < 1.0
            sharp &= DIGITS * rounded_pivot < 1.0
        traces[g], regular[g] = trace, fine
        all_regular &= fine
        all_exact &= fine and sharp
    for k in range(K):
        g = min(k, G - 1)
        log_scales[k], traces[k] = log_scales[g], traces[g]
        deviations = R[0]
        for j in range(m):
            deviations[j] = np.sqrt(covariances[g, j, j])
        # Roundings are independent, so squares of the terms add up, and those of m partial sums.
        # The sums of U mu may be larger than all terms; those of U (x - mu) end near the last term with the other sign.
        square, cancellation = 0.0, 0.0
        for i in range(m):
            terms, largest, shift = 0.0, 0.0, 0.0
            for j in range(i + 1):
                size = abs(U[g, i, j]) * (abs(means[k, j]) + 4.0 * deviations[j])
                terms += size * size
                cancellation += U[g, i, j] * deviations[j] * (U[g, i, j] * deviations[j])
                shift += U[g, i, j] * means[k, j]
                largest = max(largest, abs(shift))
            square += max(terms, largest * largest)
            shifts[k, i] = shift
        sensitivities[k], cancellations[k] = (
            max(4.0, np.sqrt(m)) * np.sqrt(square),
            np.sqrt(cancellation / m),
        )
    return all_regular, all_exact


@entry
def arrange(gaussians, arrays):
    """Fill the arrays that ``kernels`` take as ``gaussians``, in their type; return True if a component is narrow.

    ``gaussians`` are means (K, m), whiteners as one vector, U mu (K, m) and sensitivities (K,).
    """
    exact, exact_whiteners, exact_shifts, sensitivities = gaussians
    whiteners, vectors, narrow, exact_means = arrays
    (K, m), narrow_from = exact.shape, SAFE32 if vectors.itemsize == 4 else SAFE64
    zero = vectors.dtype.type(0)
    any_narrow = False
    for k in range(K):
        narrow[k] = not sensitivities[k] < narrow_from
        any_narrow |= narrow[k]
        for i in range(m):
            vectors[k, MEAN, i] = exact[k, i]
            vectors[k, LOW, i] = exact[k, i] - np.float64(vectors[k, MEAN, i])
            vectors[k, ORIGIN, i] = zero if narrow[k] else vectors[k, MEAN, i]
            vectors[k, SHIFT, i] = 0.0 if narrow[k] else exact_shifts[k, i]
            exact_means[k, i] = 0.0 if narrow[k] else exact[k, i]
    for i in range(len(whiteners)):
        whiteners[i] = exact_whiteners[i]
    return any_narrow


@compiled
def _sum_of_squares(scatter, k, i):
    """sum r (x_i - mu_i)^2 of component k, or of all components if they share one scatter."""
    if scatter.ndim == 2:
        return scatter[k, i if scatter.shape[1] > 1 else 0]
    return scatter[k if k < len(scatter) else 0, i, i]


@entry
def m_step(sums, scatter, previous, narrow, limits, out):
    """The M-step (Pulford 2022, eqs. 16 to 18).

    A component whose pairs with classes are all dropped keeps its mean and has weight zero; its covariance is not written.

    Parameters
    ----------
    sums : tuple
        Counts (K, L) and offsets (K, m), see ``parameters.Statistics``.
    scatter : ndarray of shape (K, m, m), (K, m) or (K, 1)
        With one of shape (1, m, m) no covariances are written.
    previous : ndarray of shape (K, m)
        The means mu_k so far.
    narrow : ndarray of bool, shape (K,)
        Components whose sums are of x - mu, and the samples were pairs of numbers.
    limits : tuple of four floats
        Expected samples below which a pair of a component and a class is dropped, or that share of a smaller class; the rounding of
        the type that the sums were taken in; the covariance regularisation r; and the least variance, for diagonal covariances.
    out : tuple
        Overwritten: weights and log-weights (K, L); means and their shifts (K, m); n_k (K,), the expected samples, zero of
        components that are not used; the rounding of variances (K, m); and S_k / n_k - E[x - mu] E[x - mu]^T + r I, (K, m, m), or its
        diagonal, (K, m), or the mean of this, (K, 1). A variance that rounding leaves nothing of is not written.

    Returns
    -------
    n_singular : int
        Components with a variance that is not written.
    exact : bool
        True if all variances have three digits. Both are found for diagonal covariances only.
    """
    counts, offsets = sums
    least, eps, ridge, floor = limits
    weights, log_weights, means, shifts, n_k, rounding, covariances = out
    (K, L), m = counts.shape, previous.shape[1]
    for k in range(K):
        n_k[k] = 0.0
    for c in range(L):
        total, kept = 0.0, 0.0
        for k in range(K):
            total += counts[k, c]
        limit = least * total if total < 1.0 else least
        for k in range(K):
            weights[k, c] = counts[k, c] if counts[k, c] >= limit else 0.0
            kept += weights[k, c]
        for k in range(K):
            weights[k, c] /= kept
            log_weights[k, c] = np.log(weights[k, c])
    n_all = 0.0
    for k in range(K):
        used, n = False, 0.0
        for c in range(L):
            used |= weights[k, c] > 0
            n += counts[k, c]
        n_k[k] = n if used else 0.0
        n_all += n_k[k]
    for k in range(K):
        n = n_k[k] if len(scatter) == K else n_all
        for i in range(m):
            shift = offsets[k, i] / n_k[k] if n_k[k] > 0 else 0.0
            shifts[k, i], means[k, i] = shift, previous[k, i] + shift
            # Of E[(x - mu) x] and its shift, whose difference a variance is, of its sum, and of the samples themselves.
            size = eps * abs(shift) * (abs(shift) + (0.0 if narrow[k] else abs(previous[k, i])))
            size += 0.125 * eps * _sum_of_squares(scatter, k, i) / n if n_k[k] > 0 else 0.0
            of_samples = 2.0 * eps * previous[k, i] * (eps if narrow[k] else 1.0)
            size = of_samples * of_samples if of_samples * of_samples > size else size
            rounding[k, i] = size if size > LEAST_ROUNDING else LEAST_ROUNDING
    n_singular, exact = 0, True
    if scatter.ndim == 2:
        n_features = m // scatter.shape[1]
        for k in range(K):
            is_regular = True
            for j in range(scatter.shape[1] if n_k[k] > 0 else 0):
                square, size = 0.0, 0.0
                for i in range(j * n_features, (j + 1) * n_features):
                    square += shifts[k, i] * shifts[k, i]
                    size += rounding[k, i]
                variance = scatter[k, j] / n_k[k] - square / n_features + ridge
                variance, size = floor if variance < floor else variance, size / n_features
                exact &= not variance < DIGITS * size
                if variance > 4.0 * size:
                    covariances[k, j] = variance
                else:
                    is_regular = False
            n_singular += not is_regular
    elif len(scatter) == K:
        for k in range(K):
            if n_k[k] > 0:
                for i in range(m):
                    for j in range(m):
                        covariances[k, i, j] = scatter[k, i, j] / n_k[k] - shifts[k, i] * shifts[k, j]
                    covariances[k, i, i] += ridge
    return n_singular, exact


@entry
def whiten_spherical(means, variances, out):
    """`factorise` for spherical covariances, with variances (K,): U of shape (K, m), U mu, log_scales, traces and sensitivities."""
    U, shifts, log_scales, traces, sensitivities = out
    (K, m), all_positive = means.shape, True
    for k in range(K):
        deviation, squares = np.sqrt(variances[k]), 0.0
        u = 1.0 / deviation
        all_positive &= deviation > 0
        for i in range(m):
            U[k, i], shifts[k, i] = u, u * means[k, i]
            size = abs(means[k, i]) * u + 4.0
            squares += size * size
        log_scales[k], traces[k] = -m * (0.5 * LOG_2PI + np.log(deviation)), m * u * u
        sensitivities[k] = max(4.0, np.sqrt(m)) * np.sqrt(squares)
    return all_positive


@entry
def marginal_factors(covariances, features):
    """L of P_oo = L L^T of each P, (K, m, m), for the indices o of some features, (n,): shape (K, n, n); NaN where singular; and log |L|, (K,)."""
    K, n = len(covariances), len(features)
    L, P, R, log_dets = np.zeros((K, n, n)), np.empty((n, n)), np.empty((n, n)), np.zeros(K)
    for k in range(K):
        for i in range(n):
            for j in range(i + 1):
                P[i, j] = covariances[k, features[i], features[j]]
        _cholesky(P, R)
        for i in range(n):
            for j in range(i + 1):
                L[k, i, j] = R[j, i]
            log_dets[k] += np.log(R[i, i])
    return L, log_dets


@entry
def solve_lower(L, x):
    """L^-1 x in place, for factors of shape (K, n, n) and columns of shape (K, n, N)."""
    K, n, N = x.shape
    for k in range(K):
        for i in range(n):
            for j in range(i):
                for c in range(N):
                    x[k, i, c] = fma(-L[k, i, j], x[k, j, c], x[k, i, c])
            for c in range(N):
                x[k, i, c] /= L[k, i, i]
