"""Products and logarithms with the same bits on every processor, and singular covariances with what takes their place."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from skem.engine import compiled
from skem.engine.parameters import EPS, SINGULAR, Gaussians
from skem.engine.rows import for_loops


def regularity(covariances: np.ndarray, *, singular: float = SINGULAR) -> np.ndarray:
    """Mask (...) of the covariances (..., m, m) that are positive definite but for rounding; see `matrices.factorise`."""
    shape, m = covariances.shape[:-2], covariances.shape[-1]
    flat = np.ascontiguousarray(covariances, dtype=np.float64).reshape(-1, m, m)
    means = np.zeros((len(flat), m))
    return factorised(means, flat, means, singular)[1].reshape(shape)


def factorised(
    means: np.ndarray, covariances: np.ndarray, rounding: np.ndarray, singular: float
) -> tuple[Gaussians, np.ndarray, bool, bool]:
    """See `matrices.factorise`: Gaussians, the mask of regular covariances, and whether all are regular, and exact."""
    (K, m), G = means.shape, len(covariances)
    U, shifts, numbers = np.empty(covariances.shape), np.empty((K, m)), np.empty((4, K))
    regular, R = np.empty(G, dtype=bool), np.empty((m, m))
    out = R, U, shifts, numbers, regular
    all_regular, exact = compiled.matrices().factorise(means, covariances, rounding, singular, out)
    return Gaussians(means, U, shifts, *numbers), regular, all_regular, exact


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b of matrices (n, p) or (K, n, p), and (p, q) or (K, p, q), whose bits do not depend on the processor, as those of BLAS do."""
    left, right = np.array(np.swapaxes(a, -1, -2), order="C", ndmin=3), np.array(b, order="C", ndmin=3)
    result = transposed_product(left, right)
    return result if max(a.ndim, b.ndim) > 2 else result[0]


def transposed_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a^T b of matrices (K or 1, p, n) and (K or 1, p, q), see `product`."""
    (_, n_terms, n), q, matrices = a.shape, b.shape[2], compiled.matrices()
    columns, out = q + -q % matrices.LANES, np.empty((max(len(a), len(b)), n, q))
    scratch = np.zeros((min(n_terms, matrices.TERMS), columns)), np.empty((n, columns))
    matrices.product(a, b, out, scratch)
    return out


def longest_axes(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalue (K,) of covariances (K, m, m), and its eigenvector (K, m), whose largest element is positive.

    The bits of LAPACK's depend on the processor.
    """
    power = covariances
    for _ in range(32):
        power = power / np.trace(power, axis1=1, axis2=2)[:, None, None]
        power = product(power, power)
    columns = np.einsum("kii->ki", power).argmax(axis=1)
    axes = power[np.arange(len(power)), :, columns]
    axes = axes / np.sqrt((axes**2).sum(axis=1, keepdims=True))
    return (axes * product(covariances, axes[:, :, None])[:, :, 0]).sum(axis=1), axes


def weighted_sum(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """sum_n w_n x_n, (m,), of samples (n, m). BLAS, and einsum on ARM, would fuse products with sums; NumPy's sums take five times as long."""
    return moments(weights, x, np.zeros(x.shape[1]))[0]


def weighted_sums(weights: np.ndarray, x: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """sum_n w_n x_n, (K, m), of the samples (n, m) of each label (n,)."""
    out = np.zeros((n_clusters, x.shape[1]))
    numbers = [a.astype(np.float64, copy=False) for a in (weights, x)]
    of_samples = for_loops(labels.astype(np.int32, copy=False))
    compiled.matrices().weighted_sums(*map(for_loops, numbers), of_samples, out)
    return out


def moments(weights: np.ndarray, x: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """sum_n w_n d_n and sum_n w_n d_n^2, (2, m), of d = x - shift, for samples (n, m)."""
    out = np.empty((2, len(shift)))
    numbers = [a.astype(np.float64, copy=False) for a in (weights, x, shift)]
    compiled.matrices().moments(*map(for_loops, numbers), out)
    return out


def logarithms(x: np.ndarray) -> np.ndarray:
    """log of numbers by the C library, whose bits do not depend on the width of vectors, as NumPy's do."""
    return xlogy(1.0, x)


def exponentials(x: np.ndarray) -> np.ndarray:
    """exp of float64 numbers up to zero, with the same bits on every processor."""
    result = np.array(x, order="C")
    compiled.kernels().exponentiate(result.reshape(-1))
    return result


def linearly_dependent(x: np.ndarray, rounding: np.ndarray) -> bool:
    """True if the features of samples (m, n) are linearly dependent but for their ``rounding`` (m,).

    Their covariance decides less often: its entries are squares, which lose twice as many digits.
    """
    m, n = x.shape
    if n <= m:
        return True
    deviations = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt((deviations**2).mean(axis=1))
    spread[spread <= 4 * rounding] = 1.0
    _, values, directions = np.linalg.svd((deviations / spread[:, None]).T, full_matrices=False)
    # Squares of a constant feature far from zero may overflow.
    least = 4 * (np.hypot.reduce(directions[-1] * rounding / spread) + m * EPS)
    return bool(values[-1] <= least * np.sqrt(n))


def keep_regular(
    covariances: np.ndarray, regular: np.ndarray, previous: np.ndarray, raisable: np.ndarray
) -> np.ndarray:
    """Replace the covariances that are not regular.

    The previous covariance replaces a singular one. But with regularisation, S + r I is singular in rounding only. Its diagonal
    is then raised until it is regular, and the result is used if its likelihood is higher than that of the previous covariance.
    So the objective does not fall, and a covariance that was far too broad does not stay so.

    Parameters
    ----------
    covariances, previous : ndarray of shape (G, m, m)
    regular : ndarray of bool, shape (G,)
    raisable : ndarray of bool, shape (G,)
        Mask of covariances with regularisation.
    """
    m = covariances.shape[-1]
    chosen = np.where(regular[:, None, None], covariances, previous)
    for g in np.flatnonzero(~regular & raisable):
        scatter = covariances[g]
        raised = scatter + 4 * m * SINGULAR * np.diag(scatter.diagonal())
        if regularity(raised) and _mean_log_normal(raised, scatter) > _mean_log_normal(previous[g], scatter):
            chosen[g] = raised
    return chosen


def _mean_log_normal(P: np.ndarray, S: np.ndarray) -> float:
    """Mean of log N(x; mu, P) over samples with mean mu and covariance S."""
    zeros = np.zeros((1, len(P)))
    gaussians, *_ = factorised(zeros, P[None], zeros, SINGULAR)
    U = gaussians.whiteners[0]
    return float(gaussians.log_scales[0] - 0.5 * (product(U, S) * U).sum())
