"""What an E-step leaves for the M-step: sums over rows, and the means they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skem.engine.linalg import EPS, LEAST_ROUNDING

_EPS = {np.dtype(dtype): float(np.finfo(dtype).eps) for dtype in (np.float32, np.float64)}


@dataclass
class SufficientStatistics:
    """The sums over rows that an E-step leaves; they grow chunk by chunk.

    Attributes
    ----------
    counts : ndarray of shape (K, L)
        n_kc, the expected rows of each component in each class.
    sums : ndarray of shape (K, H)
        T, the sums of phi(x - origin) weighted by the responsibilities.
    origins : ndarray of shape (K, m)
        About which the sums of each component are taken.
    dtype : numpy dtype
        In which they were taken.
    log_likelihood, objective : float
        Of all rows, in nats: plain and with the penalties.
    """

    counts: np.ndarray
    sums: np.ndarray
    origins: np.ndarray
    dtype: np.dtype
    log_likelihood: float = 0.0
    objective: float = 0.0

    @property
    def eps(self) -> float:
        """Rounding of the type of the sums."""
        return _EPS[self.dtype]

    def replace(self, components: np.ndarray, other: SufficientStatistics) -> None:
        """Take over the sums of some components, a mask of shape (K,), from statistics about other origins."""
        self.sums[components] = other.sums[components]
        self.origins[components] = other.origins[components]


class Moments(NamedTuple):
    """Weighted means over the rows of each component, about an origin of its own.

    Attributes
    ----------
    phi : ndarray of shape (K, H)
        E[phi(x - origin)].
    offsets : ndarray of shape (K, m)
        E[x - origin].
    means : ndarray of shape (K, m)
        Origins plus offsets.
    counts : ndarray of shape (K,)
        Expected rows.
    eps : float
        Rounding of the type the sums were taken in.
    """

    phi: np.ndarray
    offsets: np.ndarray
    means: np.ndarray
    counts: np.ndarray
    eps: float = EPS

    def rounding(self, variances: np.ndarray) -> np.ndarray:
        """Rounding of the terms of ``variances`` = E[(x - origin)^2] - offset^2, (K, m) or (K, 1); shape (K, m)."""
        # Of sums about a mean only the rounding of the rows themselves is left.
        squares = np.maximum(self.offsets * self.offsets, 4 * EPS * self.means * self.means)
        # That of a difference itself is what ``SINGULAR`` is about, in float64.
        return np.maximum(self.eps * (squares if self.eps == EPS else squares + variances), LEAST_ROUNDING)
