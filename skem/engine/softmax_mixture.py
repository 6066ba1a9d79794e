"""A mixture per class inside one softmax, P(c, m|x) of Hayashi and Uchida (2021, eq. 1), and its posterior mode by EM.

Each component has a design, the features that its linear predictor is made of. Coefficients have the prior N(0, I): any
other precision is a matter of how the design is scaled. A component without columns has the predictor zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, cho_factor

from skem.engine.parameters import EPS
from skem.engine.threads import go_on

ARMIJO = 1e-4
"""A step has to gain this share of what the gradient promises."""
SHORTEST_STEP = 1e-10
"""A shorter step gains rounding only."""
NEWTON_ITER = 50
DECREMENT = 1e-12
"""Newton stops where the quadratic model promises less than this, in nats for all rows together. The precision of a small
weight is one over its square: at 1e-8 such precisions went back and forth for ever and the fit did not converge."""
MANY = 250
"""Coefficients; for more of them an earlier factor of the Hessian is used again."""
CONJUGATE_ITER = 10
"""Iterations of conjugate gradients from which a new factor takes less time."""
SAME_RESPONSIBILITIES = 1e-4
"""EM stops where no responsibility changes by more."""


@dataclass(frozen=True)
class LabelledRows:
    """The samples to be explained: classes, weights, and the components of each class.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
    weights : ndarray of shape (n,)
        A row of weight two counts as two rows.
    component_classes : ndarray of int, shape (S,)
        The class of each component.
    """

    codes: np.ndarray
    weights: np.ndarray
    component_classes: np.ndarray

    @property
    def own(self) -> np.ndarray:
        """Which components are of the class of a row, shape (n, S)."""
        return self.codes[:, None] == self.component_classes


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


class Mode(NamedTuple):
    """The mode of the posterior of the coefficients, given their precisions.

    Attributes
    ----------
    coef : ndarray
        One after the other, as the columns of the designs.
    responsibilities : ndarray of shape (n, S)
        r = P(m | c, x), zero for components of other classes.
    curvature : ndarray
        Minus the Hessian of J at ``coef``.
    objective : list of float
        log P(T|X, w) + log prior of the coefficients, but for a constant, before the first iteration of EM and after each.
    """

    coef: np.ndarray
    responsibilities: np.ndarray
    curvature: np.ndarray
    objective: list[float]


def log_joint(designs: Designs, coef: np.ndarray, log_pi: np.ndarray) -> np.ndarray:
    """log P(c, m|x), shape (n, S) (eq. 1)."""
    return _log_shares(log_pi + designs.predictors(coef))[0]


def _log_shares(log_values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x_ns - log sum_s exp(x_ns), shape (n, S), and that logarithm, (n, 1); one value of each row is finite.

    SciPy's functions take three times as long for a few hundred rows.
    """
    largest = log_values.max(axis=1, keepdims=True)
    below = log_values - largest  # first, as the sum hides no digits of it where predictors are large
    log_sum = np.log(np.exp(below).sum(axis=1, keepdims=True))
    return below - log_sum, largest + log_sum


def expected_objective(
    rows: LabelledRows, responsibilities: np.ndarray, log_probabilities: np.ndarray, coef: np.ndarray
) -> float:
    """J - w'w/2 (eq. 11, with the half that it lacks)."""
    with np.errstate(invalid="ignore"):
        terms = np.where(responsibilities > 0, responsibilities * log_probabilities, 0.0)
    return float(rows.weights @ terms.sum(axis=1) - 0.5 * coef @ coef)


def objective_and_responsibilities(
    rows: LabelledRows, designs: Designs, coef: np.ndarray, log_pi: np.ndarray
) -> tuple[float, np.ndarray]:
    """The objective of EM, and its E-step."""
    own = np.where(rows.own, log_joint(designs, coef, log_pi), -np.inf)
    log_shares, log_class = _log_shares(own)
    return float(rows.weights @ log_class[:, 0] - 0.5 * coef @ coef), np.exp(log_shares)


def factor_of_precision(curvature: np.ndarray) -> tuple[np.ndarray, bool]:
    """The Cholesky factor of I + K for a positive semidefinite K, as `scipy.linalg.cho_solve` takes it.

    If K is so large that its rounding hides I, the rounding error is added to the diagonal.
    """
    n, rounding = len(curvature), EPS
    precision = curvature + np.eye(n)
    while True:
        try:
            return cho_factor(precision, lower=True)
        except np.linalg.LinAlgError:
            precision[np.diag_indices(n)] += n * rounding * np.trace(curvature)
            rounding *= 10.0


def solve(factor: tuple[np.ndarray, bool], vector: np.ndarray) -> np.ndarray:
    """`scipy.linalg.cho_solve` for a vector and `factor_of_precision`, in a third of its time."""
    lower, _ = factor
    if not len(vector):  # all weights are dropped
        return vector
    return blas.dtrsv(lower, blas.dtrsv(lower, vector, lower=1), lower=1, trans=1)


class NewtonSteps:
    """Solves (I + K) step = gradient, K minus the Hessian of J, where K changes little from one step to the next.

    With many coefficients most of the time would be that of the factors of I + K, so one is kept, and preconditions conjugate
    gradients for the following K; their products take the designs only.
    """

    def __init__(self, rows: LabelledRows, designs: Designs) -> None:
        self.weights, self.designs = rows.weights, designs
        self.factor: tuple[np.ndarray, bool] | None = None

    def step(self, probabilities: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """For P(c, m|x) of shape (n, S); its error is less than what a Newton step leaves, see `DECREMENT`."""
        if self.factor is not None and len(gradient) > MANY:
            found = self._conjugate_gradients(self.factor, probabilities, gradient)
            if found is not None:
                return found
        self.factor = factor_of_precision(self.designs.curvature(probabilities, self.weights))
        return solve(self.factor, gradient)

    def _conjugate_gradients(
        self, factor: tuple[np.ndarray, bool], probabilities: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray | None:
        """None if `CONJUGATE_ITER` iterations are not enough."""
        found, left = np.zeros_like(gradient), gradient.copy()
        direction = solve(factor, left)
        norm = float(left @ direction)
        enough = 1e-4 * max(min(norm, norm * norm), DECREMENT)
        for _ in range(CONJUGATE_ITER):
            go_on()
            if norm <= enough:
                return found
            moved = self._product(probabilities, direction)
            length = norm / float(direction @ moved)
            found += length * direction
            left -= length * moved
            towards = solve(factor, left)
            before, norm = norm, float(left @ towards)
            direction = towards + norm / before * direction
        return None

    def _product(self, probabilities: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """(I + K) coef."""
        predictors = self.designs.predictors(coef)
        mean = (probabilities * predictors).sum(axis=1, keepdims=True)
        return coef + self.designs.gradient(self.weights[:, None] * probabilities * (predictors - mean))


def maximise_expectation(
    rows: LabelledRows,
    designs: Designs,
    responsibilities: np.ndarray,
    coef: np.ndarray,
    log_pi: np.ndarray,
    newton: NewtonSteps,
) -> np.ndarray:
    """The M-step: Newton's method with backtracking (eqs. 12 and 13).

    It maximises a concave function, so it may start anywhere. Without the weights that were dropped since, the coefficients
    may say the wrong class for certain: there the curvature is zero and Newton's method finds no way out. Zero is a better initialisation.
    """
    known = log_joint(designs, coef, log_pi)
    value = expected_objective(rows, responsibilities, known, coef)
    zeros = np.zeros_like(coef)
    from_zeros = log_joint(designs, zeros, log_pi)
    value_from_zeros = expected_objective(rows, responsibilities, from_zeros, zeros)
    if value_from_zeros > value:
        coef, value, known = zeros, value_from_zeros, from_zeros
    for _ in range(NEWTON_ITER):
        go_on()
        probabilities = np.exp(known)
        residuals = rows.weights[:, None] * (responsibilities - probabilities)
        gradient = designs.gradient(residuals) - coef
        step = newton.step(probabilities, gradient)
        promised = 0.5 * float(gradient @ step)
        length = 1.0
        while promised > DECREMENT and length > SHORTEST_STEP:
            moved = coef + length * step
            joint = log_joint(designs, moved, log_pi)
            reached = expected_objective(rows, responsibilities, joint, moved)
            if reached >= value + 2 * ARMIJO * length * promised:
                break
            length /= 2
        else:
            return coef
        coef, value, known = moved, reached, joint
        # The gain left after a whole step is about the square of the promised gain.
        if length == 1.0 and promised < DECREMENT**0.5:
            return coef
    return coef


def posterior_mode(
    rows: LabelledRows,
    designs: Designs,
    coef: np.ndarray,
    log_pi: np.ndarray,
    *,
    responsibilities: np.ndarray | None = None,
    em_iter: int = 50,
) -> Mode:
    """The mode of the posterior of the coefficients by EM over the components (Algorithm 1, its two inner loops).

    Parameters
    ----------
    rows : LabelledRows
    designs : Designs
    coef : ndarray
        Initial coefficients.
    log_pi : ndarray of shape (S,)
        Minus infinity for a component that has been dropped.
    responsibilities : ndarray of shape (n, S), optional
        Those of the first M-step; without them they follow from ``coef``.
    em_iter : int
        Maximum number of EM iterations.
    """
    value, following = objective_and_responsibilities(rows, designs, coef, log_pi)
    responsibilities, objective = following if responsibilities is None else responsibilities, [value]
    newton = NewtonSteps(rows, designs)
    for _ in range(em_iter):
        coef = maximise_expectation(rows, designs, responsibilities, coef, log_pi, newton)
        value, following = objective_and_responsibilities(rows, designs, coef, log_pi)
        objective.append(value)
        change = np.abs(following - responsibilities).max()
        responsibilities = following
        if change <= SAME_RESPONSIBILITIES:
            break
    probabilities = np.exp(log_joint(designs, coef, log_pi))
    return Mode(coef, responsibilities, designs.curvature(probabilities, rows.weights), objective)
