"""What every pass does with the parameters of components, compiled: NumPy's and LAPACK's calls take longer than their work.

See ``compiled`` for how this module is imported, and ``kernels`` for why all parts of an entry stand in one file.
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
    for j in range(m):
        L[j, j] = np.sqrt(P[j, j] - _dot(L, j, j, j))
        scale = 1.0 / L[j, j]
        for i in range(j + 1, m):
            L[i, j] = (P[i, j] - _dot(L, i, j, j)) * scale


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
        product = 1.0  # a logarithm takes ten times as long as a product
        for i in range(m):
            product *= L[i, i]
            if not 1e-100 < product < 1e100:
                log_det[k] += 2.0 * np.log(product)
                product = 1.0
        log_det[k] += 2.0 * np.log(product)
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


@compiled
def _natural_parameters(means, inverses, log_det, constant):
    """See `natural_parameters`, of what `inverse_factors` finds."""
    K, m = means.shape
    w, traces = np.empty((K, 1 + m + m * (m + 1) // 2)), np.zeros(K)
    precision, linear, definite = np.empty((m, m)), np.empty(m), True
    for k in range(K):
        one = min(k, len(inverses) - 1)
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
        linear[:] = 0.0
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
def natural_parameters(means, covariances, constant):
    """w of Gaussians, log N(x; mu_k, P_k) = w_k . phi(x), shape (K, H), and tr(P_k^-1), (K,); are all P_k positive definite?

    Parameters
    ----------
    means : ndarray of shape (K, m)
    covariances : ndarray of shape (K, m, m) or (1, m, m)
    constant : float
        m log(2 pi).
    """
    inverses, log_det = inverse_factors(covariances)
    return _natural_parameters(means, inverses, log_det, constant)


@compiled
def _scatter(moments, offsets, means, eps, exact_eps, least, ridge):
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
def _regularity(covariance, inverse, rounding, singular, digits, variances):
    """See ``linalg.regularity``: whether a covariance is regular, and exact. The last argument is memory to work in."""
    m = len(covariance)
    for i in range(m):
        variances[i] = covariance[i, i]
        # A pivot that is NaN, or that overflows, is none.
        if not m * singular * abs(variances[i]) * (inverse[i, i] * inverse[i, i]) < 1.0:
            return False, False
    regular = m * singular * _largest_share(inverse, variances) < 1.0
    return regular, regular and digits * _largest_share(inverse, rounding) < 1.0


@entry
def regularity(covariances, rounding, singular, digits):
    """See ``linalg.regularity``: regular and exact, ndarray of bool, shape (K,), for ``rounding`` of shape (K, m)."""
    K, m = rounding.shape
    regular, exact, variances = np.zeros(K, np.bool_), np.zeros(K, np.bool_), np.empty(m)
    inverses, _ = inverse_factors(covariances)
    for k in range(K):
        regular[k], exact[k] = _regularity(
            covariances[k], inverses[k], rounding[k], singular, digits, variances
        )
    return regular, exact


@compiled
def _trusted(covariances, inverses, rounding, counts, ridge, singular, eps, digits):
    """See `trusted`; ``inverses`` are those of `inverse_factors`. And whether none is irregular or in doubt."""
    K, m = rounding.shape
    regular, doubtful, none = np.zeros(K, np.bool_), np.zeros(K, np.bool_), True
    variances = np.empty(m)
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
                covariances[k], inverses[k], rounding[k], singular, digits, variances
            )
            positive &= definite
            sure &= exact
        regular[k] = counts[k] > 0 and positive
        doubtful[k] = counts[k] > 0 and not sure
        none &= regular[k] and not doubtful[k]
    return regular, doubtful, none


@entry
def trusted(covariances, rounding, counts, ridge, singular, eps, digits):
    """Which components have regular covariances, and which are in doubt, (K,).

    Parameters
    ----------
    covariances : ndarray of shape (K, m, m)
    rounding : ndarray of shape (K, m)
        See ``Moments.rounding``.
    counts : ndarray of shape (K,)
        Expected rows; without any a component is not regular, and not in doubt.
    ridge, singular, eps, digits : float
    """
    inverses, _ = inverse_factors(covariances)
    regular, doubtful, _ = _trusted(covariances, inverses, rounding, counts, ridge, singular, eps, digits)
    return regular, doubtful


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


@compiled
def _apart(w, traces, ridge, weights, leave_out, largest):
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


@compiled
def _joint_terms(w, common, log_weights, penalties):
    """What ``density.LogJoint`` consists of.

    Parameters
    ----------
    w : ndarray of shape (k, H)
    common : ndarray of shape (H,)
    log_weights : ndarray of shape (k, C)
    penalties : ndarray of shape (k, C) or (k, 1)

    Returns
    -------
    joint : ndarray of shape (k + 1, H)
        w, with the log-weights of a single class, and what is common.
    relief : ndarray of shape (k, C)
        exp(penalty_kc - penalty_c).
    largest_penalty : ndarray of shape (C,)
        penalty_c, the largest of each class.
    """
    (k, H), C = w.shape, log_weights.shape[1]
    joint, relief, largest_penalty = np.empty((k + 1, H)), np.empty((k, C)), np.empty(C)
    for i in range(k):
        for h in range(H):
            joint[i, h] = w[i, h]
        if C == 1:
            joint[i, H - 1] = w[i, H - 1] + log_weights[i, 0]
    for h in range(H):
        joint[k, h] = common[h]
    for c in range(C):
        column = min(c, penalties.shape[1] - 1)
        largest_penalty[c] = -np.inf
        for i in range(k):
            largest_penalty[c] = max(largest_penalty[c], penalties[i, column])
        for i in range(k):
            relief[i, c] = np.exp(penalties[i, column] - largest_penalty[c])
    return joint, relief, largest_penalty


@compiled
def _expectations(counts, sums, origins, previous, linear, least):
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


# Each is called where something is unusual; where nothing is, they are one call.
scatter, expectations = entry(_scatter), entry(_expectations)
apart, joint_terms = entry(_apart), entry(_joint_terms)


@entry
def next_parameters(
    counts, sums, origins, previous, linear, least, ridge, eps, leave_out, largest, one_joint, constants
):
    """An M-step with covariance matrices, and what the next E-step has to know: `expectations` to `joint_terms` in one call.

    Parameters
    ----------
    counts, sums, origins, previous, linear, least
        As for `expectations`.
    ridge : float
    eps : float
        As for `scatter`.
    leave_out, largest
        As for `apart`.
    one_joint : bool
        Whether the last result is asked for.
    constants : tuple of five floats
        Rounding of float64, rounding of a variance at least, ``linalg.SINGULAR``, ``linalg.DIGITS``, and m log(2 pi).

    Returns
    -------
    usual : bool
        Whether no covariance is singular or in doubt; else what follows is not to be used.
    parameters : tuple
        Weights (K, L), means (K, m) and covariances (K, m, m).
    w : ndarray of shape (K, H)
        As of `natural_parameters`, less the penalties.
    terms : tuple
        What `apart` returns.
    joint : tuple
        What `joint_terms` returns for all components and classes.
    """
    exact_eps, least_rounding, singular, digits, constant = constants
    weights, means, phi, offsets, n_k = _expectations(counts, sums, origins, previous, linear, least)
    covariances, rounding = _scatter(phi, offsets, means, eps, exact_eps, least_rounding, ridge)
    inverses, log_det = inverse_factors(covariances)
    _, _, usual = _trusted(covariances, inverses, rounding, n_k, ridge, singular, exact_eps, digits)
    w, traces, definite = _natural_parameters(means, inverses, log_det, constant)
    terms = _apart(w, traces, ridge, weights, leave_out, largest)
    log_weights, _, penalties, rest, common, _, _ = terms
    some = len(w) if one_joint else 0
    joint = _joint_terms(rest[:some], common, log_weights[:some], penalties[:some].reshape((some, 1)))
    return usual and definite, (weights, means, covariances), w, terms, joint
