"""Sparse Bayesian learning of a softmax mixture: a precision per weight, chosen by the evidence (Hayashi and Uchida 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from skem.engine.kmeans import assign, lloyd
from skem.engine.samples import Samples
from skem.engine.starts import MAX_ITER
from skem.engine.threads import Workers
from skem.sdgm.designs import Designs
from skem.sdgm.softmax_mixture import LabelledRows, posterior_mode

LEAST_SHARE = 1e-8
"""A component whose share of its class is less than this has gone."""

LARGE = 1500
"""Initial coefficients of the designs. Fits with more are accelerated; with fewer EM runs to its end, as in Algorithm 1."""


@dataclass(frozen=True, eq=False)
class Basis:
    """The basis functions that the weights of each component multiply.

    Attributes
    ----------
    columns : ndarray of shape (n, H)
        phi(x) of each row, or its kernel with each row.
    factors : pair of ndarray of shape (n, R) and (R, H), or None
        Two factors of ``columns`` where R is less than H.
    """

    columns: np.ndarray
    factors: tuple[np.ndarray, np.ndarray] | None = None

    def largest(self) -> int:
        """The most columns that a component's design can have."""
        return self.columns.shape[1] if self.factors is None else self.factors[0].shape[1]


class ScaledDesign(NamedTuple):
    """A component's design for coefficients z with the prior N(0, I), and what makes weights of them.

    With Phi the columns of live weights and A their precisions, w = A^-1/2 Q z. Without factors Q = I. With Phi = F B,
    the mode lies in the range of A^-1 B': of B A^-1/2 = L Q' with orthonormal Q, F L is the design. This is Woodbury's
    identity without its cancellation.
    """

    columns: np.ndarray
    deviations: np.ndarray  # A^-1/2
    rotation: np.ndarray | None  # Q, (live, R)

    @classmethod
    def of(cls, basis: Basis, live: np.ndarray, precisions: np.ndarray) -> ScaledDesign:
        deviations = 1.0 / np.sqrt(precisions[live])
        if basis.factors is None or live.sum() <= basis.largest():
            return cls(basis.columns[:, live] * deviations, deviations, None)
        left, right = basis.factors
        rotation, triangle = qr((right[:, live] * deviations).T, mode="economic")
        return cls(left @ triangle.T, deviations, rotation)

    def weights(self, coef: np.ndarray) -> np.ndarray:
        return self.deviations * (coef if self.rotation is None else self.rotation @ coef)

    def coef(self, weights: np.ndarray) -> np.ndarray:
        """The coefficients of the same predictor whose prior is largest."""
        scaled = weights / self.deviations
        return scaled if self.rotation is None else self.rotation.T @ scaled

    def well_determined(self, shares: np.ndarray) -> np.ndarray:
        """gamma = 1 - alpha lambda of each weight, from the component's block of (I + K)^-1 K."""
        if self.rotation is None:
            return shares.diagonal()
        return np.einsum("ij,jk,ik->i", self.rotation, shares, self.rotation, optimize=True)


@dataclass(frozen=True, eq=False)
class State:
    """Results of an outer iteration.

    Attributes
    ----------
    weights, precisions : ndarray of shape (S, H)
        Zero and infinity where a weight has been dropped.
    pi : ndarray of shape (S,)
        Shares of the components within their classes.
    objective : float
        log P(T|X, w) - w'Aw/2 at the mode, in nats, before the precisions were updated.
    converged : bool
    """

    weights: np.ndarray
    precisions: np.ndarray
    pi: np.ndarray
    objective: float
    converged: bool


def initial_responsibilities(
    internal: np.ndarray, samples: LabelledRows, by_kmeans: bool, random_state: np.random.RandomState
) -> np.ndarray:
    """Responsibilities of the first M-step, shape (n, S): samples belong to a component of their class (appendix C).

    Centres are samples drawn from the class; samples belong to the nearest centre, before or after k-means.
    """
    responsibilities, workers = np.zeros((len(internal), len(samples.component_classes))), Workers()
    for c, n_components in enumerate(np.bincount(samples.component_classes)):
        members = np.flatnonzero(samples.codes == c)
        centres = internal[random_state.permutation(members)[:n_components]]
        points = Samples.of_array(internal[members], samples.weights[members], workers)
        labels = lloyd(points, centres, max_iter=MAX_ITER).labels if by_kmeans else assign(points, centres)
        responsibilities[members, np.flatnonzero(samples.component_classes == c)[labels]] = 1.0
    return responsibilities


def iterations(
    rows: LabelledRows,
    basis: Basis,
    responsibilities: np.ndarray,
    *,
    max_iter: int,
    em_iter: int,
    tol: float,
    max_precision: float,
    one_precision: bool = False,
) -> Iterator[State]:
    """Algorithm 1: the mode, then precisions (eq. 17) and shares (eq. 18), until the precisions stay the same.

    The last component is the reference: its weights are zero throughout. Weights start at zero and precisions at one
    (appendix C); the first M-step has the responsibilities given.

    Parameters
    ----------
    rows : LabelledRows
    basis : Basis
    responsibilities : ndarray of shape (n, S)
    max_iter, em_iter : int
        Maximum number of iterations, and of EM iterations in each.
    tol : float
        Stop where the sum of squared changes of the precisions' logarithms is less, and no weight was dropped. Precisions that
        approach a value above ``max_precision`` do not count: once all others are settled, their weights are dropped one by one.
    max_precision : float
        A weight with a larger one is dropped.
    one_precision : bool
        All weights of a component have one precision in common, and none is dropped but with its component: a mixture of
        Gaussian processes.
    """
    S, H = len(rows.component_classes), basis.columns.shape[1]
    weights, precisions = np.zeros((S, H)), np.ones((S, H))
    precisions[-1] = np.inf
    class_weight = np.bincount(rows.codes, weights=rows.weights)[rows.component_classes]
    pi = 1.0 / np.bincount(rows.component_classes)[rows.component_classes]
    first: np.ndarray | None = responsibilities
    accelerated = (S - 1) * basis.largest() > LARGE
    for _ in range(max_iter):
        live = np.isfinite(precisions)
        scaled = [ScaledDesign.of(basis, live[s], precisions[s]) for s in range(S)]
        designs = Designs([each.columns for each in scaled])
        start = np.concatenate([scaled[s].coef(weights[s, live[s]]) for s in range(S)])
        with np.errstate(divide="ignore"):
            log_pi = np.log(pi)
        mode = posterior_mode(
            rows, designs, start, log_pi, responsibilities=first, em_iter=em_iter, accelerated=accelerated
        )
        first = None
        pi = (rows.weights @ mode.responsibilities) / class_weight
        pi[pi < LEAST_SHARE] = 0.0
        before, precisions, weights = precisions, np.full((S, H), np.inf), np.zeros((S, H))
        optima = np.zeros((S, H))
        for s, part in enumerate(designs.slices):
            weights[s, live[s]] = scaled[s].weights(mode.coef[part])
            gamma = scaled[s].well_determined(mode.precision.shares(s))
            with np.errstate(divide="ignore", invalid="ignore"):
                updated = gamma / weights[s, live[s]] ** 2
            if one_precision and live[s].any():
                squares, total = float((weights[s, live[s]] ** 2).sum()), float(gamma.sum())
                updated[:] = min(total / squares, max_precision) if min(squares, total) > 0 else max_precision
                updated[pi[s] == 0] = np.inf  # it explains nothing, and its share stays zero
            else:
                # A gamma of zero is that of a column of zeros: such a weight has nothing to do.
                updated[~(gamma > 0) | (pi[s] == 0) | (updated > max_precision)] = np.inf
                optima[s, live[s]] = _optima(updated, before[s, live[s]], gamma)
            precisions[s, live[s]] = updated
        weights[~np.isfinite(precisions)] = 0.0
        growing = (optima > max_precision) & np.isfinite(precisions)
        others = live & ~growing
        if one_precision:
            others[:, 1:] = False
        settled = float((np.log(precisions[others] / before[others]) ** 2).sum()) < tol
        converged = settled and not growing.any()
        if settled and not converged:
            slowest = np.unravel_index(np.where(growing, precisions, 0.0).argmax(), precisions.shape)
            precisions[slowest], weights[slowest] = np.inf, 0.0
        yield State(weights, precisions, pi, mode.objective[-1], converged)
        if converged:
            return


def _optima(updated: np.ndarray, before: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return the precision at which the evidence is largest, of each weight given the others (Faul and Tipping 2002).

    With s = gamma alpha / (1 - gamma) and q^2 = w^2 alpha^2 / (1 - gamma)^2 it is s^2 / (q^2 - s), or infinite where q^2 <= s. The
    update of eq. 17 approaches it, by a constant factor in each iteration where it is infinite.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (1.0 - gamma) * updated / before
        return np.where(ratio < 1.0, gamma * updated / (1.0 - ratio), np.inf)
