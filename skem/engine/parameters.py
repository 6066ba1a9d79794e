"""The parameters of a mixture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MATRICES, DIAGONAL, SPHERICAL = range(3)
"""What phi(x) consists of: [x_i, x_i x_j for j >= i] for each i, and 1; [x, x^2, 1]; [x, |x|^2, 1]."""


@dataclass(frozen=True)
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
