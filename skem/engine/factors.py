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
    """w of Gaussians, log N(x; mu_k, P_k) = w_k . phi(x), shape (K, H), and tr(P_k^-1), (K,); are all P_k positive definite?

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
    precision, definite = np.empty((m, m)), True
    for k in range(K):
        one = min(k, len(covariances) - 1)
        if k <= one:
            inverse = inverses[one]
            precision[:] = 0.0
            for p in range(m):
                for i in range(p + 1):
                    factor = inverse[p, i]
                    for j in range(i + 1):
                        precision[i, j] += factor * inverse[p, j]
            for i in range(m):
                for j in range(i):
                    precision[j, i] = precision[i, j]
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
        definite &= not np.isnan(w[k, h])
    return w, traces, definite


@entry
def scatter(moments, offsets, means, eps, exact_eps, least, ridge):
    """S_k + r I, with S_k = E[x x^T] - E[x] E[x]^T, and see ``Moments.rounding``.

    Parameters
    ----------
    moments : ndarray of shape (K, H)
        E[phi(x - origin)].
    offsets, means : ndarray of shape (K, m)
    eps, exact_eps : float
        Rounding of the type of the sums, and of float64.
    least : float
        Rounding of a variance at least.
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
            rounding[k, i] = max(eps * (square if eps == exact_eps else square + result[k, i, i]), least)
            result[k, i, i] += ridge
    return result, rounding


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


@compiled
def _regularity(covariance, rounding, singular, digits, L, inverse, variances):
    """See ``linalg.regularity``: whether a covariance is regular, and exact. The last three are memory to work in."""
    m = len(covariance)
    _cholesky(covariance, L)
    for i in range(m):
        variances[i] = covariance[i, i]
        if not L[i, i] * L[i, i] > m * singular * abs(variances[i]):
            return False, False
    _invert(L, inverse)
    regular = m * singular * _largest_share(inverse, variances) < 1.0
    return regular, regular and digits * _largest_share(inverse, rounding) < 1.0


@entry
def regularity(covariances, rounding, singular, digits):
    """See ``linalg.regularity``: regular and exact, ndarray of bool, shape (K,), for ``rounding`` of shape (K, m)."""
    K, m = covariances.shape[:2]
    regular, exact = np.zeros(K, np.bool_), np.zeros(K, np.bool_)
    L, inverse, variances = np.zeros((m, m)), np.empty((m, m)), np.empty(m)
    for k in range(K):
        regular[k], exact[k] = _regularity(
            covariances[k], rounding[k], singular, digits, L, inverse, variances
        )
    return regular, exact


@entry
def trusted(covariances, rounding, counts, ridge, singular, eps, digits):
    """Which components have regular covariances, and which are in doubt, (K,); are all of them regular?

    Parameters
    ----------
    covariances : ndarray of shape (K, m, m)
    rounding : ndarray of shape (K, m)
        See ``Moments.rounding``.
    counts : ndarray of shape (K,)
        Expected rows; without any a component is not regular, and not in doubt.
    ridge, singular, eps, digits : float
    """
    K, m = rounding.shape
    regular, doubtful, all_regular = np.zeros(K, np.bool_), np.zeros(K, np.bool_), True
    L, inverse, variances = np.zeros((m, m)), np.empty((m, m)), np.empty(m)
    largest_variance, largest_rounding = -np.inf, -np.inf
    for k in range(K):
        for i in range(m):
            largest_variance = max(largest_variance, covariances[k, i, i])
            largest_rounding = max(largest_rounding, rounding[k, i])
    # A ridge well above rounding leaves no doubt.
    beyond_doubt = ridge > max(4 * m * eps * largest_variance, digits * largest_rounding)
    for k in range(K):
        # A variance below the rounding of the terms it is the difference of is no variance.
        positive, sure = True, True
        for i in range(m):
            positive &= covariances[k, i, i] > 4 * rounding[k, i]
            sure &= covariances[k, i, i] >= digits * rounding[k, i]
        if not beyond_doubt:
            definite, exact = _regularity(
                covariances[k], rounding[k], singular, digits, L, inverse, variances
            )
            positive &= definite
            sure &= exact
        regular[k] = counts[k] > 0 and positive
        doubtful[k] = counts[k] > 0 and not sure
        all_regular &= regular[k]
    return regular, doubtful, all_regular


@compiled
def _unpack(packed, scale, L):
    """The lower triangle of L from its elements row by row, in units of ``scale`` (m,), the diagonal as its logarithm."""
    h = 0
    for i in range(len(L)):
        for j in range(i):
            L[i, j] = scale[i] * packed[h + j]
        L[i, i] = scale[i] * np.exp(packed[h + i])
        h += i + 1


@entry
def factored_parameters(linear, packed, scale, constant):
    """w of Gaussians with precisions L L^T, see ``natural_parameters``, and their means.

    Parameters
    ----------
    linear : ndarray of shape (K, m)
        P^-1 mu, in units of ``scale``.
    packed : ndarray of shape (F, m (m + 1) / 2)
        L of each component, or one for all: its elements row by row, in units of ``scale``, the diagonal as its logarithm.
    scale : ndarray of shape (F, m)
    constant : float
        m log(2 pi).

    Returns
    -------
    w : ndarray of shape (K, H)
    means : ndarray of shape (K, m)
    """
    K, m = linear.shape
    w, means = np.empty((K, 1 + m + m * (m + 1) // 2)), np.empty((K, m))
    L, precision, z = np.zeros((m, m)), np.empty((m, m)), np.empty(m)
    log_det = 0.0
    for k in range(K):
        f = min(k, len(packed) - 1)
        if k == f:
            _unpack(packed[f], scale[f], L)
            np.dot(L, L.T, precision)
            log_det = 0.0
            for i in range(m):
                log_det += np.log(L[i, i])
        square = 0.0
        for i in range(m):  # L z = P^-1 mu
            total = linear[k, i] * scale[f, i]
            for j in range(i):
                total -= L[i, j] * z[j]
            z[i] = total / L[i, i]
            square += z[i] * z[i]
        for i in range(m - 1, -1, -1):  # L^T mu = z
            means[k, i] = z[i] / L[i, i]
            for j in range(i):
                z[j] -= L[i, j] * means[k, i]
        h = 0
        for i in range(m):
            w[k, h] = linear[k, i] * scale[f, i]
            w[k, h + 1] = -0.5 * precision[i, i]
            for j in range(i + 1, m):
                w[k, h + 1 + j - i] = -precision[i, j]
            h += m - i + 1
        w[k, h] = log_det - 0.5 * (constant + square)
    return w, means


@entry
def factored_gradient(sums, means, packed, scale):
    """The gradient of sum_k sums_k . w_k in the arguments of ``factored_parameters``, for the means that it returns.

    Parameters
    ----------
    sums : ndarray of shape (K, H)
    means : ndarray of shape (K, m)
    packed : ndarray of shape (F, m (m + 1) / 2)
    scale : ndarray of shape (F, m)

    Returns
    -------
    of_linear : ndarray of shape (K, m)
    of_packed : ndarray of shape (F, m (m + 1) / 2)
    """
    K, m = means.shape
    of_linear, of_packed = np.empty((K, m)), np.zeros(packed.shape)
    L, scatter, product = np.zeros((m, m)), np.empty((m, m)), np.empty((m, m))
    for k in range(K):
        f = min(k, len(packed) - 1)
        if k == f:
            _unpack(packed[f], scale[f], L)
        h, n = 0, sums[k, -1]
        for i in range(m):
            of_linear[k, i] = (sums[k, h] - n * means[k, i]) * scale[f, i]
            for j in range(i, m):
                scatter[i, j] = n * means[k, i] * means[k, j] - sums[k, h + 1 + j - i]
                scatter[j, i] = scatter[i, j]
            h += m - i + 1
        np.dot(scatter, L, product)
        h = 0
        for i in range(m):
            for j in range(i):
                of_packed[f, h + j] += product[i, j] * scale[f, i]
            of_packed[f, h + i] += n + product[i, i] * L[i, i]
            h += i + 1
    return of_linear, of_packed


@entry
def adam_step(theta, gradient, first, second, constants, rate, correction):
    """A step of Adam uphill (Kingma and Ba, 2015), in place.

    Parameters
    ----------
    theta, gradient : ndarray of shape (n,)
    first, second : ndarray of shape (n,)
        Means of the gradient and of its square, not yet corrected for their start from zero.
    constants : tuple of three floats
        How far both means move towards what is new, and what is added to the root of the second.
    rate : float
        The learning rate, times the correction of the first mean.
    correction : float
        Of the second mean.
    """
    towards_first, towards_second, floor = constants
    for i in range(np.uintp(len(theta))):
        first[i] += towards_first * (gradient[i] - first[i])
        second[i] += towards_second * (gradient[i] * gradient[i] - second[i])
        theta[i] += rate * first[i] / (np.sqrt(correction * second[i]) + floor)
