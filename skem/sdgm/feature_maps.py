"""Features that the weights of an SDGM multiply: second-order features, or a kernel with training samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from skem.estimators._units import refuse_extreme
from skem.sdgm.quadratic import kernel_scales, quadratic_features
from skem.sdgm.sparse_bayes import Basis

Kernel = Callable[[np.ndarray, np.ndarray], np.ndarray]

FARTHEST = 1e70
"""Largest scaled feature. A sample farther out moves here along its direction, so that sums of its squares are finite."""

LARGEST = 1e100
"""Largest element of a column; sums over samples of products of two such elements are finite."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Map from features in input units to the columns that weights multiply; the first column is constant.

    Attributes
    ----------
    form : {"dual", "primal"}
    kernel : {"poly2", "rbf"} or callable
    gamma : float
    shift, scale : ndarray of shape (m,)
        Features are (X - shift) / scale inside.
    """

    form: str
    kernel: str | Kernel
    gamma: float
    shift: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        weights: np.ndarray,
        form: str,
        kernel: str | Kernel,
        *,
        gamma: float | str,
        standardize: bool,
    ) -> FeatureMap:
        """Take units, and gamma for "scale", from the variances of training samples.

        Raises
        ------
        ValueError
            A feature whose square overflows, or underflows though it varies; without ``standardize``, one above 1e70.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.average(X, axis=0, weights=weights)
            variances = np.average((X - mean) ** 2, axis=0, weights=weights)
        refuse_extreme(variances, lambda: (X.min(axis=0), X.max(axis=0)))
        deviations = np.sqrt(variances)
        # The rounding of the mean gives a constant feature a standard deviation above zero.
        deviations[np.ptp(X, axis=0) == 0] = 0.0
        if standardize:
            shift = np.where(deviations > 0, mean, X[0])
            scale = np.where(deviations > 0, deviations * np.sqrt(X.shape[1]), 1.0)
        else:
            far = np.argwhere(np.abs(X) > FARTHEST)
            if len(far):
                i, j = far[0]
                raise ValueError(
                    f"feature {j} is {X[i, j]:.3g}, and features are too large for their squares: set standardize=True"
                )
            shift, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if isinstance(gamma, str):
            spread = float(((deviations / scale) ** 2).sum())
            gamma = 1.0 / spread if spread > 0 else 1.0
        return cls(form, kernel, float(gamma), shift, scale)

    def internal(self, X: np.ndarray) -> np.ndarray:
        """Centre and scale features, and bring far samples nearer."""
        with np.errstate(over="ignore"):
            internal = np.clip((X - self.shift) / self.scale, -1e300, 1e300)
        farthest = np.abs(internal).max(axis=1, keepdims=True)
        return internal / np.maximum(farthest / FARTHEST, 1.0)

    def columns(self, internal: np.ndarray, support: np.ndarray | None = None) -> np.ndarray:
        """Columns of these samples, shape (n, H); in the dual form the kernel with the support samples."""
        if self.form == "primal":
            return quadratic_features(internal)
        assert support is not None
        return np.concatenate([np.ones((len(internal), 1)), self._gram(internal, support)], axis=1)

    def _gram(self, internal: np.ndarray, support: np.ndarray) -> np.ndarray:
        shape = len(internal), len(support)
        if not len(support):
            return np.empty(shape)
        if self.kernel == "poly2":
            return (internal @ support.T + 1.0) ** 2
        if self.kernel == "rbf":
            return rbf_kernel(internal, support, gamma=self.gamma)
        assert callable(self.kernel)
        gram = np.asarray(self.kernel(internal, support), dtype=np.float64)
        if gram.shape != shape:
            raise ValueError(f"kernel(X, Y) must have shape {shape}, got {gram.shape}")
        if not np.isfinite(gram).all():
            raise ValueError("kernel(X, Y) must be finite, got NaN or infinite values")
        return gram

    def size(self, internal: np.ndarray, solver: str) -> tuple[int, int]:
        """H, for these distinct training samples, and the number of columns that the solver works with."""
        n_second_order = n_quadratic(internal.shape[1])
        n_columns = n_second_order if self.form == "primal" else 1 + len(internal)
        if self.form == "dual" and self.kernel == "poly2" and solver != "direct":
            return n_columns, min(n_second_order, n_columns)
        return n_columns, n_columns

    def basis(self, internal: np.ndarray, indices: np.ndarray, solver: str) -> Basis:
        """Columns of training samples, given as indices of distinct ones; factorised where the rank is smaller.

        Raises
        ------
        ValueError
            A kernel that is not finite or not symmetric.
        """
        columns = self.columns(internal, internal)
        if self.form == "dual" and callable(self.kernel):
            gram = columns[:, 1:]
            if not np.allclose(gram, gram.T, rtol=1e-8, atol=1e-10 * np.abs(gram).max()):
                raise ValueError("kernel(X, X) must be symmetric, and differs from its transpose")
        if np.abs(columns).max() > LARGEST:
            raise ValueError("features are too large for their squares in float64: set standardize=True")
        if self.size(internal, solver)[1] == columns.shape[1]:
            return Basis(columns[indices])
        features = quadratic_features(internal) * kernel_scales(internal.shape[1])
        constant = np.eye(1, features.shape[1])
        return Basis(columns[indices], (features[indices], np.concatenate([constant, features]).T))


def n_quadratic(m: int) -> int:
    """Number of second-order features of ``m`` features."""
    return (m + 1) * (m + 2) // 2
