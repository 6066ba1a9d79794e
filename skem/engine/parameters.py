"""The records that the engine exchanges, and the constants of its numerics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

FLOAT64 = np.dtype(np.float64)
LOG_2PI = 1.8378770664093453
EPS = 2.0**-52
"""Spacing of float64 at one."""

LARGEST_INTEGER = 2**31 - 1
"""Bound of integer parameters such as K, which no fit needs: NumPy and compiled loops overflow at 2^63."""

DIGITS = 1e3
"""A difference of two terms has three digits where it is so many times larger than the rounding of the terms."""

SINGULAR = DIGITS * EPS
"""A covariance is singular if a pivot, the variance of a feature given the features before it, is at most this times m times the
sum of c_j^2 var_j; c_j are the coefficients of that prediction, and 1 for the feature itself. Fewer than three digits of the
inverse would be right."""

LEAST_ROUNDING = 1e-284
"""Of a variance, so that none underflows. EM with missing values makes that of a constant feature less in every iteration."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """The parameters of one shared-kernel mixture (Pulford 2022, eq. 1).

    Attributes
    ----------
    weights : ndarray of shape (K, L)
        pi_kc, one column per class, each summing to one.
    means : ndarray of shape (K, m)
        mu_k.
    covariances : ndarray
        P_k; its shape depends on the covariance type: (K, m, m) full, (m, m) tied, (K, m) diag and
        (K,) spherical.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


class Gaussians(NamedTuple):
    """Components in the form that densities are computed from: z = U (x - mu), log N(x; mu, P) = log_scale - |z|^2 / 2.

    Attributes
    ----------
    means : ndarray of shape (K, m)
    whiteners : ndarray
        U = L^-1 of P = L L^T: (K, m, m) full, (1, m, m) tied, (K, m) diagonal and spherical.
    shifts : ndarray of shape (K, m)
        U mu.
    log_scales : ndarray of shape (K,)
        log N(mu_k; mu_k, P_k).
    traces : ndarray of shape (K,)
        tr(P_k^-1).
    sensitivities : ndarray of shape (K,)
        Error of z = U x - U mu in units of the relative rounding of features, for samples of the component: see `matrices.factorise`.
    cancellations : ndarray of shape (K,)
        sqrt(sum_ij (U_ij sigma_j)^2 / m): the terms of U (x - mu) over their sums. One without correlations.
    """

    means: np.ndarray
    whiteners: np.ndarray
    shifts: np.ndarray
    log_scales: np.ndarray
    traces: np.ndarray
    sensitivities: np.ndarray
    cancellations: np.ndarray

    def is_float32_safe(self, weights: np.ndarray, extent: float, *, pairs: bool = False) -> bool:
        """True if log-densities are exact enough in float32, of the components with a weight (K, L), for features up to ``extent``.

        With ``pairs``, x and mu of narrow components are pairs of float32 numbers, and x - mu has the rounding of float32 only.
        """
        # At least |x|^2, and times the trace at least |U x|^2 and the square of each element of U.
        reach = max(1.0, self.means.shape[1] * extent**2)
        if not reach < LARGEST32:
            return False
        if self.sensitivities.max() < SAFE32 and self.traces.max() * reach < LARGEST32:
            return True
        safe = self.sensitivities < SAFE32
        if pairs and not self.is_shared:
            safe |= (self.cancellations < MOST_CANCELLATION) & (self.sensitivities < SAFE_PAIRS)
        safe &= self.traces * reach < LARGEST32
        # Samples of shared covariances are whitened about the mean of all components.
        return bool(safe.all() or (not self.is_shared and safe[weights.any(axis=1)].all()))

    @property
    def is_shared(self) -> bool:
        """True if components have one whitener."""
        return len(self.whiteners) < len(self.means)

    def needs_pairs(self, dtype: np.dtype) -> bool:
        """True if densities in a type need pairs of numbers, see `is_float32_safe`."""
        return dtype != FLOAT64 and not self.is_shared and not bool((self.sensitivities < SAFE32).all())


LARGEST32 = 1e36
"""Of |U x|^2 and |x|^2, so that no square overflows in float32."""

SAFE32, SAFE64 = 1e-4 * 2.0**24, 1e-8 * 2.0**53
"""Sensitivities up to which z is off by less than 1e-4 in float32, and 1e-8 in float64. Promised are 1e-3 + 1e-6 |log p| nats in
float32 and 1e-6 (1 + |log p|) in float64; `tests/digits.py` measures errors over the promise."""


SAFE_PAIRS = 1e-4 * 2.0**48
"""The same for pairs of float32 numbers."""

MOST_CANCELLATION = 4.0
"""Of U (x - mu), so that |U (x - mu)|^2 keeps a relative 1e-6 in float32 wherever x is."""

LEAST32, LEAST64 = -80.0, -700.0
"""Log of a density over the largest one of its sample up to which it counts as zero, in float32 and float64. A little below, numbers
are subnormal, and products with them take fifty times as long."""


@dataclass(eq=False)
class Statistics:
    """Sums over samples that an E-step leaves, about the means of the mixture before the M-step.

    Attributes
    ----------
    counts : ndarray of shape (K, L)
        n_kc = sum r, the expected samples of each component in each class.
    offsets : ndarray of shape (K, m)
        sum r (x - mu).
    scatter : ndarray
        sum r (x - mu) (x - mu)^T: (K, m, m) full; (1, m, m) tied, summed over components; its diagonal, (K, m), diagonal;
        the mean of its diagonal, (K, 1), spherical.
    log_likelihood, objective : float
        Weighted sums of log p(x|c), without and with the penalties, in nats.
    dtype : numpy dtype
        Type that the sums of a tile were taken in.
    narrow : ndarray of bool, shape (K,), or None
        Components whose samples had no rounding before the mean was subtracted.
    """

    counts: np.ndarray
    offsets: np.ndarray
    scatter: np.ndarray
    log_likelihood: float = 0.0
    objective: float = 0.0
    dtype: np.dtype = FLOAT64
    narrow: np.ndarray | None = None

    @property
    def eps(self) -> float:
        """Rounding of the type of the sums."""
        return EPS if self.dtype.itemsize == 8 else 2.0**-23

    def __add__(self, other: Self) -> Statistics:
        return Statistics(
            self.counts + other.counts,
            self.offsets + other.offsets,
            self.scatter + other.scatter,
            self.log_likelihood + other.log_likelihood,
            self.objective + other.objective,
            self.dtype,
            self.narrow,
        )
