"""What every pass does with the parameters of a few components, compiled: NumPy's calls would take longer than a small E-step.

See ``compiled`` for how this module is imported.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import compiled, entry


@compiled
def _sizes(w, common, largest, total, factor):
    """Fill in sum_h (|w_kh - common_h| + |common_h|) largest_h and the largest such factor, (K,), which are zeros before.

    Returns the largest sum, NaN where one is, and the largest factor.
    """
    K, H = w.shape
    largest_total, largest_factor = 0.0, 0.0
    for k in range(K):
        for h in range(H):
            size = abs(w[k, h] - common[h]) + abs(common[h])
            total[k] += size * largest[h]
            if not size <= factor[k]:
                factor[k] = size
        if total[k] > largest_total or np.isnan(total[k]):
            largest_total = total[k]
        largest_factor = max(largest_factor, factor[k])
    return largest_total, largest_factor


@entry
def apart(w, traces, ridge, weights, leave_out, largest):
    """Take the penalties off the constants of ``w``, and what all components have in common off the rest.

    What is common is the mean, weighted by ``weights`` (K, L) and by the inverse squares of the `_sizes`, within limits,
    without the components of the mask ``leave_out``.

    Returns
    -------
    log_weights : ndarray of shape (K, L)
        -inf where there is no weight.
    everywhere : bool
        Whether there is one everywhere.
    penalties : ndarray of shape (K,)
        r/2 tr(P_k^-1).
    result : ndarray of shape (K, H)
        w less what is common; zero for the components left out.
    common : ndarray of shape (H,)
    whole, rest : tuple of two floats
        The largest sum, NaN where one is, and factor of the `sizes`: as they are, and with what is common apart.
    """
    K, H = w.shape
    penalties, size, factor = np.empty(K), np.zeros(K), np.zeros(K)
    log_weights, everywhere = np.empty(weights.shape), True
    for k in range(K):
        for c in range(weights.shape[1]):
            log_weights[k, c] = np.log(weights[k, c])
            everywhere &= weights[k, c] > 0
        penalties[k] = 0.5 * ridge * traces[k]
        w[k, H - 1] -= penalties[k]
    common, result, share = np.zeros(H), np.zeros((K, H)), np.zeros(K)
    whole = _sizes(w, common, largest, size, factor)
    least, total = np.inf, 0.0
    for k in range(K):
        share[k] = min(max(size[k], 1e-300), 1e300)
        least = min(least, share[k])
    for k in range(K):
        weight = 0.0
        for c in range(weights.shape[1]):
            weight += weights[k, c]
        ratio = least / share[k]
        share[k] = weight * (ratio * ratio)
        if not leave_out[k]:
            total += share[k]
            for h in range(H):
                common[h] += share[k] * w[k, h]
    for h in range(H):
        common[h] /= total if total != 0 else 1.0
    for k in range(K):
        if not leave_out[k]:
            for h in range(H):
                result[k, h] = w[k, h] - common[h]
    size[:], factor[:] = 0.0, 0.0
    rest = _sizes(w, common, largest, size, factor)
    return log_weights, everywhere, penalties, result, common, whole, rest


@entry
def joint_terms(w, common, log_weights, penalties, joint, relief, largest_penalty):
    """Fill in what ``density.LogJoint`` consists of.

    Parameters
    ----------
    w : ndarray of shape (k, H)
    common : ndarray of shape (H,)
    log_weights : ndarray of shape (k, C)
    penalties : ndarray of shape (k, C) or (k, 1)
    joint : ndarray of shape (k + 1, H)
        Set to w, with the log-weights of a single class, and what is common.
    relief : ndarray of shape (k, C)
        Set to exp(penalty_kc - penalty_c).
    largest_penalty : ndarray of shape (C,)
        Set to penalty_c, the largest of each class.
    """
    k, H = w.shape
    for i in range(k):
        for h in range(H):
            joint[i, h] = w[i, h]
        if len(largest_penalty) == 1:
            joint[i, H - 1] = w[i, H - 1] + log_weights[i, 0]
    for h in range(H):
        joint[k, h] = common[h]
    for c in range(len(largest_penalty)):
        column = min(c, penalties.shape[1] - 1)
        largest_penalty[c] = -np.inf
        for i in range(k):
            largest_penalty[c] = max(largest_penalty[c], penalties[i, column])
        for i in range(k):
            relief[i, c] = np.exp(penalties[i, column] - largest_penalty[c])


@entry
def expectations(counts, sums, origins, previous, linear, least):
    """Weights and means (Pulford 2022, eqs. 16 and 17), and what the latter are made of.

    A component whose pairs with classes are all dropped keeps its mean and has weight zero.

    Parameters
    ----------
    counts : ndarray of shape (K, L)
        n_kc, set to zero where they are below ``least`` rows, or that share of a smaller class.
    sums : ndarray of shape (K, H)
        Of phi(x - origin).
    origins, previous : ndarray of shape (K, m)
        What the sums are about, and the means so far.
    linear : ndarray of int, shape (m,)
        Where in phi the features themselves stand.
    least : float

    Returns
    -------
    weights : ndarray of shape (K, L)
        pi_kc = n_kc / sum_k n_kc.
    means : ndarray of shape (K, m)
        mu_k = origin_k + E[x - origin_k].
    phi : ndarray of shape (K, H)
        E[phi(x - origin)].
    offsets : ndarray of shape (K, m)
        E[x - origin].
    n_k : ndarray of shape (K,)
    """
    (K, L), H, m = counts.shape, sums.shape[1], len(linear)
    weights, means, n_k = np.zeros((K, L)), np.empty((K, m)), np.zeros(K)
    phi, offsets = np.empty((K, H)), np.zeros((K, m))
    for c in range(L):
        total, kept = 0.0, 0.0
        for k in range(K):
            total += counts[k, c]
        for k in range(K):
            if counts[k, c] < least * min(1.0, total):
                counts[k, c] = 0.0
            kept += counts[k, c]
        for k in range(K):
            weights[k, c] = counts[k, c] / kept
    for k in range(K):
        alive = False
        for c in range(L):
            alive |= counts[k, c] > 0
        n_k[k] = sums[k, H - 1] if alive else 0.0
        for h in range(H):
            phi[k, h] = sums[k, h] / (n_k[k] if alive else 1.0)
        for i in range(m):
            offsets[k, i] = phi[k, linear[i]] if alive else 0.0
            means[k, i] = origins[k, i] + offsets[k, i] if alive else previous[k, i]
    return weights, means, phi, offsets, n_k


@compiled
def _largest_form(largest, m, spread, least):
    """No less than sum_h |w_h phi_h| at any row, for |w_h| max |phi_h| of a component whose covariance is a matrix.

    With u = |x_i| / max |x_i| the terms of second order are u^T B u <= lambda |u|^2, and the largest eigenvalue of a matrix
    without negative entries is at most max_i (B v)_i / v_i for any v > 0 (Collatz, 1942). Nothing is divided by less than ``least``.
    """
    v, Bv = np.ones(m), np.empty(m)
    of_features, eigenvalue = 0.0, np.inf
    for turn in range(3):
        Bv[:] = 0.0
        h = 0
        for i in range(m):
            if turn == 0:
                of_features += largest[h]
            Bv[i] += largest[h + 1] * v[i]
            for j in range(i + 1, m):
                element = 0.5 * largest[h + 1 + j - i]
                Bv[i] += element * v[j]
                Bv[j] += element * v[i]
            h += m - i + 1
        ratio, longest = 0.0, least
        for i in range(m):
            ratio = max(ratio, Bv[i] / v[i]) if not np.isnan(Bv[i]) else np.inf
            longest = max(longest, Bv[i])
        eigenvalue = min(eigenvalue, ratio)
        # The power method, kept positive; it need not converge.
        for i in range(m):
            v[i] = Bv[i] / longest + 1e-3
    return of_features + largest[-1] + eigenvalue * spread


@entry
def error_bounds(w, common, largest, m, spread, least, rounding, limit, largest_factor):
    """How far products w_k . phi are off at most, (K,), as ``RoundingBound.errors`` says, and whether all by less than ``limit``.

    ``m`` features where covariances are matrices, else zero.
    """
    K, H = w.shape
    errors, factors, of_phi, fine = np.zeros(K), np.zeros(K), np.empty(H), True
    _sizes(w, common, largest, errors, factors)
    for k in range(K):
        errors[k] *= rounding
        if m > 0 and not errors[k] < limit:
            for h in range(H):
                of_phi[h] = (abs(w[k, h] - common[h]) + abs(common[h])) * largest[h]
            closer = rounding * _largest_form(of_phi, m, spread, least)
            if closer < errors[k] or np.isnan(errors[k]):
                errors[k] = closer
        # A small product of a factor that overflows is NaN.
        if not factors[k] < largest_factor:
            errors[k] = np.inf
        fine &= errors[k] < limit
    return errors, fine
