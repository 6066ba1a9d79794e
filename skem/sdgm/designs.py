"""The features that linear predictors of a softmax mixture are made of, and their products."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from skem.engine.threads import go_on


class Designs:
    """The designs of all components side by side.

    Parameters
    ----------
    designs : sequence of S ndarrays of shape (n, R_s)
    """

    def __init__(self, designs: Sequence[np.ndarray]) -> None:
        self.columns = np.concatenate(designs, axis=1)
        edges = np.cumsum([0] + [design.shape[1] for design in designs])
        self.slices = [slice(begin, end) for begin, end in pairwise(edges)]
        self.owners = np.repeat(np.arange(len(designs)), np.diff(edges))

    def predictors(self, coef: np.ndarray) -> np.ndarray:
        """Shape (n, S), a component after the other in memory: sums over few components are then sums of long rows."""
        return np.stack([self.columns[:, part] @ coef[part] for part in self.slices]).T

    def gradient(self, residuals: np.ndarray) -> np.ndarray:
        """sum_n residual_ns phi_ns for residuals of shape (n, S) (eq. 14, with its sum over rows)."""
        return np.concatenate([residuals[:, s] @ self.columns[:, part] for s, part in enumerate(self.slices)])

    def curvature(self, probabilities: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Minus the Hessian of J (eq. 15, with its sum over rows), positive semidefinite."""
        scaled = self.columns * (np.sqrt(weights)[:, None] * probabilities)[:, self.owners]
        curvature = -(scaled.T @ scaled)
        # 1 - p as a sum over the others: where p is nearly one, their difference would be rounding, and the matrix indefinite.
        others = probabilities @ (1.0 - np.eye(probabilities.shape[1]))
        for s, part in enumerate(self.slices):
            go_on()
            # Not what is above plus the rest, for the same reason.
            spread = np.sqrt(weights * probabilities[:, s] * others[:, s])
            root = self.columns[:, part] * spread[:, None]
            curvature[part, part] = root.T @ root
        return curvature
