"""Inverse Cholesky factors of many small matrices, compiled: LAPACK's cost more to call than to run.

See ``compiled`` for how this module is imported.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import compiled, entry, reduction


@reduction
def _dot(a, i, j, n):
    """The product of rows i and j of a matrix, up to column n."""
    total = 0.0
    for p in range(n):
        total += a[i, p] * a[j, p]
    return total


@compiled
def _cholesky(P, L):
    """The lower triangle of L with P = L L^T; NaN where P is not positive definite."""
    m = len(P)
    for i in range(m):
        for j in range(i):
            L[i, j] = (P[i, j] - _dot(L, i, j, j)) / L[j, j]
        L[i, i] = np.sqrt(P[i, i] - _dot(L, i, i, i))


@compiled
def _invert(L, inverse):
    """The lower triangle of L^-1; above it zeros."""
    m = len(L)
    for i in range(m):
        for j in range(m):
            inverse[i, j] = 0.0
        for p in range(i):
            factor = L[i, p]
            for j in range(p + 1):
                inverse[i, j] -= factor * inverse[p, j]
        scale = 1.0 / L[i, i]
        for j in range(i):
            inverse[i, j] *= scale
        inverse[i, i] = scale


@compiled
def inverse_factors(covariances):
    """L^-1 of each P = L L^T, shape (K, m, m), and log |P|, shape (K,); NaN where P is not positive definite."""
    K, m = covariances.shape[:2]
    L, inverses, log_det = np.zeros((m, m)), np.empty((K, m, m)), np.zeros(K)
    for k in range(K):
        _cholesky(covariances[k], L)
        _invert(L, inverses[k])
        for i in range(m):
            log_det[k] += 2.0 * np.log(L[i, i])
    return inverses, log_det


@entry
def marginal_factors(covariances, features):
    """L of P_oo = L L^T of each P, (K, m, m), for the indices o of some features, (n,): shape (K, n, n); NaN where singular."""
    K, n = len(covariances), len(features)
    L, P = np.zeros((K, n, n)), np.empty((n, n))
    for k in range(K):
        for i in range(n):
            for j in range(i + 1):
                P[i, j] = covariances[k, features[i], features[j]]
        _cholesky(P, L[k])
    return L


@entry
def whiten(L, x):
    """L^-1 x in place, for factors of shape (K, n, n) and columns of shape (K, n, N)."""
    K, n, N = x.shape
    for k in range(K):
        for i in range(n):
            for j in range(i):
                for c in range(N):
                    x[k, i, c] -= L[k, i, j] * x[k, j, c]
            for c in range(N):
                x[k, i, c] /= L[k, i, i]


@entry
def natural_parameters(means, covariances, constant):
    """w of Gaussians, log N(x; mu_k, P_k) = w_k . phi(x), shape (K, H), and tr(P_k^-1), (K,); NaN as above.

    Parameters
    ----------
    means : ndarray of shape (K, m)
    covariances : ndarray of shape (K, m, m) or (1, m, m)
    constant : float
        m log(2 pi).
    """
    K, m = means.shape
    w, traces = np.empty((K, 1 + m + m * (m + 1) // 2)), np.zeros(K)
    inverses, log_det = inverse_factors(covariances)
    precision = np.empty((m, m))
    for k in range(K):
        one = min(k, len(covariances) - 1)
        if k <= one:
            inverse = inverses[one]
            precision[:] = 0.0
            for p in range(m):
                for i in range(p + 1):
                    factor = inverse[p, i]
                    for j in range(p + 1):
                        precision[i, j] += factor * inverse[p, j]
        linear = np.zeros(m)
        for i in range(m):
            traces[k] += precision[i, i]
            for j in range(m):
                linear[j] += precision[i, j] * means[k, i]
        square, h = 0.0, 0
        for i in range(m):
            w[k, h] = linear[i]
            w[k, h + 1] = -0.5 * precision[i, i]
            for j in range(i + 1, m):
                w[k, h + 1 + j - i] = -precision[i, j]
            h += m - i + 1
            square += means[k, i] * linear[i]
        w[k, h] = -0.5 * (constant + log_det[one] + square)
    return w, traces


@entry
def scatter(moments, offsets, means, eps, exact_eps, ridge):
    """S_k + r I, with S_k = E[x x^T] - E[x] E[x]^T, and see ``Moments.rounding``.

    Parameters
    ----------
    moments : ndarray of shape (K, H)
        E[phi(x - origin)].
    offsets, means : ndarray of shape (K, m)
    eps, exact_eps : float
        Rounding of the type of the sums, and of float64.
    ridge : float

    Returns
    -------
    covariances : ndarray of shape (K, m, m)
    rounding : ndarray of shape (K, m)
    """
    K, m = offsets.shape
    result, rounding = np.empty((K, m, m)), np.empty((K, m))
    for k in range(K):
        h = 0
        for i in range(m):
            square = max(offsets[k, i] * offsets[k, i], 4 * exact_eps * means[k, i] * means[k, i])
            h += 1
            for j in range(i, m):
                result[k, i, j] = moments[k, h] - offsets[k, i] * offsets[k, j]
                result[k, j, i] = result[k, i, j]
                h += 1
            rounding[k, i] = eps * (square if eps == exact_eps else square + result[k, i, i])
            result[k, i, i] += ridge
    return result, rounding


@entry
def variances_beyond(covariances, rounding, digits):
    """Which components have variances that all exceed 4 times, and ``digits`` times, their rounding, (K,); and the largest
    variance and rounding of all."""
    K, m = rounding.shape
    positive, sure = np.ones(K, np.bool_), np.ones(K, np.bool_)
    largest_variance, largest_rounding = -np.inf, -np.inf
    for k in range(K):
        for i in range(m):
            variance = covariances[k, i, i]
            positive[k] &= variance > 4 * rounding[k, i]
            sure[k] &= variance >= digits * rounding[k, i]
            largest_variance = max(largest_variance, variance)
            largest_rounding = max(largest_rounding, rounding[k, i])
    return positive, sure, largest_variance, largest_rounding


@entry
def sizes(w, common, largest):
    """sum_h (|w_kh - common_h| + |common_h|) largest_h, and the largest such factor of each component, (K,)."""
    K, H = w.shape
    total, factor = np.zeros(K), np.zeros(K)
    for k in range(K):
        for h in range(H):
            size = abs(w[k, h] - common[h]) + abs(common[h])
            total[k] += size * largest[h]
            if not size <= factor[k]:
                factor[k] = size
    return total, factor


@entry
def apart(w, share, leave_out):
    """w less its mean, weighted by ``share`` (K,), and that mean, (H,); without the components of the mask ``leave_out``."""
    K, H = w.shape
    common, result, total = np.zeros(H), np.zeros((K, H)), 0.0
    for k in range(K):
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
    return result, common


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
def drop_inactive(counts, least):
    """Set expected counts, (K, L), to zero that are below ``least`` rows, or that share of a smaller class; all used ones left?"""
    K, L = counts.shape
    for c in range(L):
        total = 0.0
        for k in range(K):
            total += counts[k, c]
        for k in range(K):
            if counts[k, c] < least * min(1.0, total):
                counts[k, c] = 0.0
    for k in range(K):
        used = False
        for c in range(L):
            used |= counts[k, c] > 0
        if not used:
            return False
    return True


@compiled
def _largest_share(inverse, rounding):
    """What a rounding of each variance takes of the worst pivot: max_i sum_j L^-1_ij^2 rounding_j."""
    largest = 0.0
    for i in range(len(inverse)):
        share = 0.0
        for j in range(i + 1):
            share += inverse[i, j] * inverse[i, j] * rounding[j]
        if not share <= largest:
            largest = share
    return largest


@entry
def regularity(covariances, rounding, singular, digits):
    """See ``linalg.regularity``: regular and exact, ndarray of bool, shape (K,), for ``rounding`` of shape (K, m)."""
    K, m = covariances.shape[:2]
    regular, exact = np.zeros(K, np.bool_), np.zeros(K, np.bool_)
    L, inverse, variances = np.zeros((m, m)), np.empty((m, m)), np.empty(m)
    for k in range(K):
        _cholesky(covariances[k], L)
        definite = True
        for i in range(m):
            variances[i] = covariances[k, i, i]
            definite &= L[i, i] * L[i, i] > m * singular * abs(variances[i])
        if definite:
            _invert(L, inverse)
            regular[k] = m * singular * _largest_share(inverse, variances) < 1.0
            exact[k] = regular[k] and digits * _largest_share(inverse, rounding[k]) < 1.0
    return regular, exact
