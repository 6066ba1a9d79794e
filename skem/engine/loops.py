"""Iterations of EM without Python between them.

``compiled`` imports this module. With some hundred samples, Python's part of an iteration takes five times as long as the rest.
"""

from __future__ import annotations

from skem.engine import kernels, matrices
from skem.engine.kernels import entry
from skem.engine.parameters import SAFE32, SINGULAR

_e_step, _m_step = kernels.e_step.dispatcher, matrices.m_step.dispatcher
_arrange, _factorise = matrices.arrange.dispatcher, matrices.factorise.dispatcher


@entry
def iterations(samples, given, limits, log_sharing, states, memory):
    """Run EM with full covariances on one chunk of samples, until something happens that only ``em.m_step`` and ``em.e_step`` handle.

    That is a covariance that is not regular; or in float32 a variance without three digits, or densities that need more of them.

    Parameters
    ----------
    samples : tuple
        As in `kernels.e_step`.
    given : tuple
        Means (K, m), covariances, counts, offsets and scatter, and the mask (K,) of narrow components: the last M-step and E-step.
    limits : tuple
        Those of `matrices.m_step`, and the largest trace in float32.
    log_sharing : ndarray of shape (K, L) or (K, 1)
    states : tuple
        Overwritten: weights, log-weights, means, covariances, whiteners U, U mu, the four arrays (4, K) of `matrices.factorise`, counts,
        offsets and scatter (a tuple, zero before), and log-likelihood and objective; of each iteration, along one more axis.
    memory : tuple
        For `matrices.factorise`, for `matrices.m_step`, the arrays of `matrices.arrange`, penalties, and for `kernels.e_step`.

    Returns
    -------
    int
        How many iterations were done.
    """
    means, covariances, counts, offsets, scatter, narrow = given
    of_m_step, largest_trace = limits
    weights, log_weights, new_means, new_covariances, whiteners, U_means, factors, sums, scores = states
    (R, regular), (mean_shifts, n_k, rounding, not_narrow), arrays, penalties, (numbers, scratch) = memory
    is_float32 = scratch.itemsize == 4
    K, m = means.shape
    for i in range(len(scores)):
        for k in range(K):  # of components that are not used, which keep theirs
            for j in range(m):
                for h in range(m):
                    new_covariances[i, k, j, h] = covariances[k, j, h]
        maximised = weights[i], log_weights[i], new_means[i], mean_shifts, n_k, rounding, new_covariances[i]
        _m_step((counts, offsets), scatter, means, narrow, of_m_step, maximised)
        log_scales, traces, sensitivities = factors[i, 0], factors[i, 1], factors[i, 2]
        factorised = R, whiteners[i], U_means[i], (log_scales, traces, sensitivities, factors[i, 3]), regular
        all_regular, all_exact = _factorise(new_means[i], new_covariances[i], rounding, SINGULAR, factorised)
        if not all_regular or (is_float32 and not all_exact):
            return i
        for k in range(K):
            if is_float32 and not (sensitivities[k] < SAFE32 and traces[k] < largest_trace):
                return i
            for c in range(penalties.shape[1]):
                penalties[k, c] = 0.5 * of_m_step[2] * traces[k] - log_sharing[k, c]
        _arrange((new_means[i], whiteners[i], U_means[i], sensitivities), arrays)
        mixture = log_scales, log_weights[i], penalties, numbers
        means, covariances = new_means[i], new_covariances[i]
        counts, offsets, scatter = sums[0][i], sums[1][i], sums[2][i]
        narrow = not_narrow
        scores[i, 0], scores[i, 1], exact = _e_step(samples, arrays, mixture, (counts, offsets, scatter), scratch)
        if not exact:
            return i
    return len(scores)
