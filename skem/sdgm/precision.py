"""The precision of the posterior of a softmax mixture's coefficients, I + K, factorised as a whole or by components."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve, solve_triangular

from skem.engine.parameters import EPS
from skem.engine.threads import go_on
from skem.sdgm.designs import Designs

MANY = 250
"""Coefficients; for more of them an earlier factor of the Hessian is used again."""


def factor_of_precision(curvature: np.ndarray) -> tuple[np.ndarray, bool]:
    """The Cholesky factor of a positive definite I + K, as `scipy.linalg.cho_solve` takes it.

    If K is so large that its rounding hides I, the rounding error is added to the diagonal.
    """
    n, rounding = len(curvature), EPS
    precision = curvature + np.eye(n)
    while True:
        try:
            return cho_factor(precision, lower=True)
        except np.linalg.LinAlgError:
            precision[np.diag_indices(n)] += n * rounding * abs(np.trace(curvature))
            rounding *= 10.0


def solve(factor: tuple[np.ndarray, bool], vector: np.ndarray) -> np.ndarray:
    """`scipy.linalg.cho_solve` for a vector and `factor_of_precision`, in a third of its time."""
    lower, _ = factor
    if not len(vector):  # all weights are dropped
        return vector
    return blas.dtrsv(lower, blas.dtrsv(lower, vector, lower=1), lower=1, trans=1)


class Precision(Protocol):
    """I + K, the precision of the posterior, with K minus the Hessian of J."""

    def solve(self, vector: np.ndarray) -> np.ndarray:
        """Return (I + K)^-1 vector."""

    def shares(self, s: int) -> np.ndarray:
        """Return a component's block of (I + K)^-1 K: the data determine these shares of its coefficients (eq. 16)."""


class DensePrecision:
    """I + K with one Cholesky factor, which takes P^3 / 3 operations for P coefficients."""

    def __init__(self, designs: Designs, probabilities: np.ndarray, weights: np.ndarray) -> None:
        self._slices, self._curvature = designs.slices, designs.curvature(probabilities, weights)
        self._factor = factor_of_precision(self._curvature)

    def solve(self, vector: np.ndarray) -> np.ndarray:
        return solve(self._factor, vector)

    def shares(self, s: int) -> np.ndarray:
        part = self._slices[s]
        return self._shares[part, part]

    @cached_property
    def _shares(self) -> np.ndarray:
        return cho_solve(self._factor, self._curvature) if len(self._curvature) else self._curvature


class BlockPrecision:
    """I + K by Woodbury's identity: one factor per component, and one of the order of the samples.

    With A_s = diag(w p_s)^1/2 Phi_s and U_s = A_s' diag(p_s)^1/2, block s of I + K is B_s - U_s U_s', B_s = I + A_s' A_s, and other
    blocks are -U_s U_t'. So (I + K)^-1 = B^-1 + B^-1 U M^-1 U' B^-1 with M = I - U' B^-1 U, an n x n matrix.
    """

    def __init__(self, designs: Designs, probabilities: np.ndarray, weights: np.ndarray) -> None:
        self._designs, self._factors = designs, []
        self._spread = np.sqrt(weights)[:, None] * probabilities
        self._roots = np.sqrt(weights[:, None] * probabilities)
        coupling = np.zeros((len(weights), len(weights)), order="F")
        for s, part in enumerate(designs.slices):
            go_on()
            root = designs.columns[:, part] * self._roots[:, s, None]
            factor = factor_of_precision(root.T @ root) if root.size else (np.empty((0, 0)), True)
            self._factors.append(factor)
            if root.size:
                half = solve_triangular(factor[0], self._scaled(s).T, lower=True, check_finite=False)
                coupling -= half.T @ half
        self._outer = factor_of_precision(coupling)

    def _scaled(self, s: int) -> np.ndarray:
        """U_s', shape (n, R_s)."""
        return self._designs.columns[:, self._designs.slices[s]] * self._spread[:, s, None]

    def _by_block(self, vector: np.ndarray) -> np.ndarray:
        """B^-1 vector."""
        pairs = zip(self._factors, self._designs.slices, strict=True)
        return np.concatenate([solve(factor, vector[part]) for factor, part in pairs])

    def solve(self, vector: np.ndarray) -> np.ndarray:
        alone = self._by_block(vector)
        joint = solve(self._outer, (self._spread * self._designs.predictors(alone)).sum(axis=1))
        return alone + self._by_block(self._designs.gradient(self._spread * joint[:, None]))

    def shares(self, s: int) -> np.ndarray:
        """The difference of two shares, each accurate where it is small, instead of I - (I + K)^-1."""
        root = self._designs.columns[:, self._designs.slices[s]] * self._roots[:, s, None]
        if not root.size:
            return np.empty((0, 0))
        towards = cho_solve(self._factors[s], self._scaled(s).T, check_finite=False)
        half = solve_triangular(self._outer[0], towards.T, lower=True, check_finite=False)
        return cho_solve(self._factors[s], root.T @ root, check_finite=False) - half.T @ half


def _operations(n: int, sizes: Sequence[int]) -> tuple[float, float]:
    """Multiplications of `BlockPrecision` and `DensePrecision` for designs of these sizes."""
    total = sum(sizes)
    return sum(n * r * r + r**3 / 3 + n * n * r for r in sizes) + n**3 / 3, n * total**2 + total**3 / 3


def takes_blocks(n: int, sizes: Sequence[int]) -> bool:
    """Return True where `BlockPrecision` takes less time than `DensePrecision`, for designs of these sizes."""
    blocks, dense = _operations(n, sizes)
    return sum(sizes) > MANY and blocks < dense


def operations_of_factor(n: int, sizes: Sequence[int]) -> float:
    """Number of multiplications that I + K and its factor take."""
    return min(_operations(n, sizes))
