"""What every pass does with the parameters of a few components, compiled: NumPy's calls would take longer than a small E-step.

See ``compiled`` for how this module is imported.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import compiled, entry


@compiled
def _sizes(w, common, largest):
    """What ``rounding.Sizes`` consists of: sum_h (|w_kh - common_h| + |common_h|) largest_h, and the largest such factor, of
    each component, (K,), and of all; the sum of all is NaN where one is."""
    K, H = w.shape
    total, factor = np.zeros(K), np.zeros(K)
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
    return total, factor, largest_total, largest_factor


@entry
def penalised(w, traces, ridge, largest):
    """Take the penalties, r/2 tr(P_k^-1), off the constants of ``w``; return them, (K,), and the sizes of what is left."""
    K, H = w.shape
    penalties = np.empty(K)
    for k in range(K):
        penalties[k] = 0.5 * ridge * traces[k]
        w[k, H - 1] -= penalties[k]
    return penalties, _sizes(w, np.zeros(H), largest)


@entry
def apart(w, weights, size, leave_out, largest):
    """w less what all components have in common, and that, (H,), without the components of the mask ``leave_out``; the sizes.

    What is common is the mean, weighted by ``weights`` (K, L) and by the inverse squares of ``size`` (K,), within limits.
    """
    K, H = w.shape
    common, result, share = np.zeros(H), np.zeros((K, H)), np.zeros(K)
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
    return result, common, _sizes(w, common, largest)


@entry
def logarithms(weights):
    """log pi_kc, shape (K, L), and -inf where there is no weight."""
    result = np.empty(weights.shape)
    for k in range(weights.shape[0]):
        for c in range(weights.shape[1]):
            result[k, c] = np.log(weights[k, c])
    return result


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
