"""Second-order features and their kernel (Hayashi and Uchida 2021, eqs. 2 and 8)."""

from __future__ import annotations

import numpy as np


def quadratic_features(X: np.ndarray) -> np.ndarray:
    """phi(x) = [1, x, x_i x_j for i <= j], shape (n, (m + 1)(m + 2) / 2) (eq. 2)."""
    first, second = np.triu_indices(X.shape[1])
    return np.concatenate([np.ones((len(X), 1)), X, X[:, first] * X[:, second]], axis=1)


def kernel_scales(n_features: int) -> np.ndarray:
    """Factors that make (x'y + 1)^2 the inner product of features: sqrt(2) for x and for products of two of them.

    The paper leaves these factors out.
    """
    first, second = np.triu_indices(n_features)
    products = np.where(first == second, 1.0, np.sqrt(2.0))
    return np.concatenate([[1.0], np.full(n_features, np.sqrt(2.0)), products])
