"""What the engine asks of a type of covariance.

For x in R^m let phi(x) = [x, products of x, 1], of length H. The log-density of a Gaussian is linear in
phi, log N(x; mu, P) = w . phi(x), and the sums an M-step needs are linear in phi as well. So one matrix
product gives the log-densities of all components on a chunk of rows, and a second one all their moments.
A covariance type knows its phi, its w and its way back from moments to parameters. Features run along
rows, (m, n) and (H, n): products of whole rows are then contiguous.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from skem.engine import compiled
from skem.engine.moments import Moments


class CovarianceType(ABC):
    """A type of covariance; its instances hold nothing. K components have covariances in one array, "what it keeps"."""

    name: ClassVar[str]
    family: ClassVar[int]
    """What phi is, one of the constants in `parameters`."""

    # Densities

    @abstractmethod
    def n_quadratic(self, m: int) -> int:
        """H, the length of phi for m features."""

    def features(self, x: np.ndarray) -> np.ndarray:
        """phi of (m, n) features, shape (H, n)."""
        phi = np.empty((self.n_quadratic(len(x)), x.shape[1]), x.dtype)
        compiled.kernels().quadratic_features(np.ascontiguousarray(x), self.family, phi)
        return phi

    def made_for(self, k: int) -> int | None:
        """What phi is, where an E-step with k components makes it; None where it takes less time without."""
        return self.family

    def linear(self, m: int) -> np.ndarray:
        """Where in phi the features themselves stand, (m,); the constant is last."""
        return np.arange(m)

    @abstractmethod
    def natural(self, means: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w with log N(x; mu_k, P_k) = w_k . phi(x), shape (K, H), and tr(P_k^-1), shape (K,)."""

    @abstractmethod
    def factors(self, covariances: np.ndarray, components: np.ndarray, m: int) -> np.ndarray:
        """L of P_k = L L^T of some components: (k, m, m), or deviations, (k, m, 1) or (k, 1, 1), where P_k is diagonal."""

    def weighted_sums(self, x: np.ndarray, origin: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """phi(x - origin) weighted and summed over rows, of one component: (H,); x is (m, n), ``weights`` (n,), all of one type."""
        return compiled.kernels().weighted_sums(np.ascontiguousarray(x), origin, weights, self.family)

    @abstractmethod
    def of_scatter(self, matrices: np.ndarray) -> np.ndarray:
        """phi summed over rows that have these scatter matrices (K, m, m), but for features and constant: (K, H)."""

    # The M-step

    @abstractmethod
    def maximise(
        self, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P_k = S_k + r I (Pulford 2022, eq. 18), no eigenvalue below ``floor``; two masks (K,): components in doubt, and singular.

        Raising eigenvalues to the floor is the exact M-step under that constraint. What turned singular stays as it
        was in ``previous``, or see ``keep_regular``. In doubt is a difference with less than three digits above the
        rounding of its terms.
        """

    # What it keeps

    @abstractmethod
    def n_parameters(self, K: int, m: int) -> int:
        """Free parameters of the covariances of K components of m features."""

    @abstractmethod
    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        """The shapes that covariances given by a user may have."""

    @abstractmethod
    def regular(self, covariances: np.ndarray) -> bool:
        """Whether every covariance is symmetric and positive definite."""

    @abstractmethod
    def compress(self, covariances: np.ndarray) -> np.ndarray:
        """From (K, m, m) matrices to what it keeps."""

    @abstractmethod
    def dense(self, covariances: np.ndarray, n_components: int, m: int) -> np.ndarray:
        """From what it keeps to (K, m, m) matrices."""

    def of_groups(self, covariances: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """What it keeps of components of which number k has the matrix ``covariances[groups[k]]``."""
        return self.compress(covariances)[groups]

    @abstractmethod
    def rescaled(self, covariances: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """The covariances of x * factor, for a factor per feature, shape (m,)."""

    def to_engine(self, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """What it keeps of x / scale, from covariances of x in one of its `shapes`; ``scale`` has shape (m,).

        Raises
        ------
        ValueError
            Where one covariance is kept, and several that differ are given.
        """
        return self.rescaled(covariances, 1.0 / scale)

    def to_input(self, covariances: np.ndarray, scale: np.ndarray, same_scale: bool) -> np.ndarray:
        """The covariances of x * scale, from what it keeps of x; ``same_scale`` if that of all features is the same."""
        return self.rescaled(covariances, scale)
