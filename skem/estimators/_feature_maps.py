"""What the weights of an SDGM belong to: second-order features, or a kernel with training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from skem.engine.quadratic import kernel_scales, quadratic_features
from skem.engine.sparse_bayes import Basis
from skem.estimators._units import refuse_extreme

Kernel = Callable[[np.ndarray, np.ndarray], np.ndarray]

FARTHEST = 1e70
"""A row farther out is taken for one here in the same direction, so that its squares and their sums are finite."""

LARGEST = 1e100
"""Of a column: products of two, summed over rows, have to be finite."""


@dataclass(frozen=True)
class FeatureMap:
    """From features in input units to the columns that weights multiply; the first of them is one throughout.

    Attributes
    ----------
    form : {"dual", "primal"}
    kernel : {"poly2", "rbf"} or callable
    gamma : float
    shift, scale : ndarray of shape (m,)
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
        """What follows from the training rows: their units, and gamma from their variances.

        Raises
        ------
        ValueError
            A feature whose square overflows, or underflows though it varies.
        """
        mean = np.average(X, axis=0, weights=weights)
        with np.errstate(over="ignore"):
            variances = np.average((X - mean) ** 2, axis=0, weights=weights)
        refuse_extreme(variances, lambda: (X.min(axis=0), X.max(axis=0)))
        deviations = np.sqrt(variances)
        # Rounding of the mean leaves a constant column with a deviation that is not zero.
        deviations[np.ptp(X, axis=0) == 0] = 0.0
        if standardize:
            shift = np.where(deviations > 0, mean, X[0])
            scale = np.where(deviations > 0, deviations * np.sqrt(X.shape[1]), 1.0)
        else:
            shift, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if isinstance(gamma, str):
            spread = float(((deviations / scale) ** 2).sum())
            gamma = 1.0 / spread if spread > 0 else 1.0
        return cls(form, kernel, float(gamma), shift, scale)

    def internal(self, X: np.ndarray) -> np.ndarray:
        """Centred and scaled."""
        with np.errstate(over="ignore"):
            internal = np.clip((X - self.shift) / self.scale, -1e300, 1e300)
        farthest = np.abs(internal).max(axis=1, keepdims=True)
        return internal / np.maximum(farthest / FARTHEST, 1.0)

    def columns(self, internal: np.ndarray, support: np.ndarray | None = None) -> np.ndarray:
        """The columns of these rows, shape (n, H), in the dual form for these support rows."""
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
            raise ValueError(f"the kernel gave an array of shape {gram.shape} instead of {shape}")
        if not np.isfinite(gram).all():
            raise ValueError("the kernel gave values that are not finite")
        return gram

    def n_columns(self, internal: np.ndarray) -> int:
        """H, for these distinct training rows."""
        return n_quadratic(internal.shape[1]) if self.form == "primal" else 1 + len(internal)

    def rank(self, internal: np.ndarray, solver: str) -> int:
        """Of the columns, as far as it is known and the solver is to use it."""
        reducible = self.form == "dual" and self.kernel == "poly2" and solver != "direct"
        return (
            min(n_quadratic(internal.shape[1]), self.n_columns(internal))
            if reducible
            else self.n_columns(internal)
        )

    def basis(self, internal: np.ndarray, indices: np.ndarray, solver: str) -> Basis:
        """The columns of rows, as indices of these distinct training rows; factorised where that makes them fewer.

        Raises
        ------
        ValueError
            A kernel that is not finite or not symmetric.
        """
        columns = self.columns(internal, internal)
        if self.form == "dual" and callable(self.kernel):
            gram = columns[:, 1:]
            if not np.allclose(gram, gram.T, rtol=1e-8, atol=1e-10 * np.abs(gram).max()):
                raise ValueError("the kernel is not symmetric: kernel(X, X) differs from its transpose")
        if np.abs(columns).max() > LARGEST:
            raise ValueError("features are too large for their squares in float64: set standardize=True")
        if self.rank(internal, solver) == columns.shape[1]:
            return Basis(columns[indices])
        features = quadratic_features(internal) * kernel_scales(internal.shape[1])
        constant = np.eye(1, features.shape[1])
        return Basis(columns[indices], (features[indices], np.concatenate([constant, features]).T))


def n_quadratic(m: int) -> int:
    """Number of second-order features of ``m`` features."""
    return (m + 1) * (m + 2) // 2
