"""What fine-tuning does with the Cholesky factors of precisions, compiled.

See ``compiled`` for how this module is imported.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import compiled, entry


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
