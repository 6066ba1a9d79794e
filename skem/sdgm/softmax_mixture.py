"""A mixture per class inside one softmax, P(c, m|x) of Hayashi and Uchida (2021, eq. 1), and its posterior mode by EM.

Each component has a design, the features that its linear predictor is made of. Coefficients have the prior N(0, I): any
other precision is a matter of how the design is scaled. A component without columns has the predictor zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skem.engine.threads import go_on
from skem.sdgm.designs import Designs
from skem.sdgm.precision import MANY, BlockPrecision, DensePrecision, Precision, takes_blocks

ARMIJO = 1e-4
"""A step has to gain this share of what the gradient promises."""
SHORTEST_STEP = 1e-10
"""A shorter step gains rounding only."""
NEWTON_ITER = 50
DECREMENT = 1e-12
"""Newton stops where the quadratic model promises less than this, in nats for all rows together. The precision of a small
weight is one over its square: at 1e-8 such precisions went back and forth for ever and the fit did not converge."""
CONJUGATE_ITER = 10
"""Iterations of conjugate gradients from which a new factor takes less time."""
SAME_RESPONSIBILITIES = 1e-4
"""EM stops where no responsibility changes by more."""
NEAR = 0.1
"""In an accelerated fit Newton's method takes over from EM where no responsibility changes by more. From farther away it often
reaches another mode."""


@dataclass(frozen=True, eq=False)
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


class Mode(NamedTuple):
    """The mode of the posterior of the coefficients, given their precisions.

    Attributes
    ----------
    coef : ndarray
        One after the other, as the columns of the designs.
    responsibilities : ndarray of shape (n, S)
        r = P(m | c, x), zero for components of other classes.
    precision : Precision
        I + K at ``coef``, K minus the Hessian of J.
    objective : list of float
        log P(T|X, w) + log prior of the coefficients, but for a constant, before the first iteration of EM and after each.
    """

    coef: np.ndarray
    responsibilities: np.ndarray
    precision: Precision
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


class Evaluation(NamedTuple):
    """An objective at some coefficients.

    Attributes
    ----------
    value : float
    joint : ndarray of shape (n, S)
        log P(c, m|x).
    responsibilities : ndarray of shape (n, S)
        The gradient of the objective is sum_n (r - P) phi - w.
    """

    value: float
    joint: np.ndarray
    responsibilities: np.ndarray


def evaluate_mixture(rows: LabelledRows, coef: np.ndarray, joint: np.ndarray) -> Evaluation:
    """The objective of EM, and its E-step, given log P(c, m|x)."""
    log_shares, log_class = _log_shares(np.where(rows.own, joint, -np.inf))
    return Evaluation(float(rows.weights @ log_class[:, 0] - 0.5 * coef @ coef), joint, np.exp(log_shares))


class Newton:
    """Newton's method with backtracking.

    Each step solves (I + K) step = gradient, K minus the Hessian of J, where K changes little from one step to the next.
    With many coefficients most of the time would be that of the factors of I + K, so one is kept, and preconditions conjugate
    gradients for the following K; their products take the designs only.
    """

    def __init__(self, rows: LabelledRows, designs: Designs, blocks: bool = False) -> None:
        self.rows, self.designs = rows, designs
        self.precision: Precision | None = None
        self.many = designs.columns.shape[1] > MANY
        sizes = [part.stop - part.start for part in designs.slices]
        self.kind = BlockPrecision if blocks and takes_blocks(len(rows.codes), sizes) else DensePrecision

    def precision_at(self, probabilities: np.ndarray) -> Precision:
        """I + K for P(c, m|x)."""
        return self.kind(self.designs, probabilities, self.rows.weights)

    def ascend(
        self,
        coef: np.ndarray,
        evaluate: Callable[[np.ndarray], Evaluation],
        max_iter: int,
        *,
        latent: bool = False,
    ) -> tuple[np.ndarray, Evaluation, list[float]]:
        """Maximise an objective, and return the coefficients, the objective there, and its value after each step.

        ``latent`` is True for the objective of EM itself, whose responsibilities vary with the coefficients.
        """
        at, values = evaluate(coef), []
        for _ in range(max_iter):
            go_on()
            probabilities = np.exp(at.joint)
            residuals = self.rows.weights[:, None] * (at.responsibilities - probabilities)
            gradient = self.designs.gradient(residuals) - coef
            step = self._step(probabilities, gradient, at.responsibilities if latent else None)
            promised, length = 0.5 * float(gradient @ step), 1.0
            while promised > DECREMENT and length > SHORTEST_STEP:
                moved = coef + length * step
                reached = evaluate(moved)
                if reached.value >= at.value + 2 * ARMIJO * length * promised:
                    break
                length /= 2
            else:
                break
            coef, at = moved, reached
            values.append(at.value)
            # The gain left after a whole step is about the square of the promised gain.
            if length == 1.0 and promised < DECREMENT**0.5:
                break
        return coef, at, values

    def _step(
        self, probabilities: np.ndarray, gradient: np.ndarray, responsibilities: np.ndarray | None
    ) -> np.ndarray:
        """Return the step for P(c, m|x), (n, S); its error is less than what a Newton step leaves, see `DECREMENT`.

        Given ``responsibilities``, the Hessian is that of the objective of EM instead of J. It may be indefinite; the step
        ascends nevertheless.
        """
        operands = probabilities, gradient, responsibilities
        if self.many and self.precision is not None:
            # The Hessian of EM's objective is farther from K, so it takes more iterations.
            step, exact = self._conjugate_gradients(
                *operands, CONJUGATE_ITER * (4 if responsibilities is not None else 1)
            )
            if exact:
                return step
        self.precision = self.precision_at(probabilities)
        if responsibilities is None:
            return self.precision.solve(gradient)
        return self._conjugate_gradients(*operands, 10 * CONJUGATE_ITER)[0]

    def _conjugate_gradients(
        self,
        probabilities: np.ndarray,
        gradient: np.ndarray,
        responsibilities: np.ndarray | None,
        max_iter: int,
    ) -> tuple[np.ndarray, bool]:
        """Return the step, and False if it is not exact enough."""
        assert self.precision is not None
        step, left = np.zeros_like(gradient), gradient.copy()
        direction = self.precision.solve(left)
        norm = float(left @ direction)
        enough = 1e-4 * max(min(norm, norm * norm), DECREMENT)
        for iteration in range(max_iter):
            go_on()
            if norm <= enough:
                return step, True
            moved = self._product(probabilities, direction, responsibilities)
            curvature = float(direction @ moved)
            if curvature <= 0:
                return step if iteration else direction, True
            length = norm / curvature
            step += length * direction
            left -= length * moved
            towards = self.precision.solve(left)
            before, norm = norm, float(left @ towards)
            direction = towards + norm / before * direction
        return step, False

    def _product(
        self, probabilities: np.ndarray, coef: np.ndarray, responsibilities: np.ndarray | None
    ) -> np.ndarray:
        """Minus the Hessian times a vector; (I + K) coef without ``responsibilities``."""
        predictors = self.designs.predictors(coef)
        spread = probabilities * (predictors - (probabilities * predictors).sum(axis=1, keepdims=True))
        if responsibilities is not None:
            mean = (responsibilities * predictors).sum(axis=1, keepdims=True)
            spread -= responsibilities * (predictors - mean)
        return coef + self.designs.gradient(self.rows.weights[:, None] * spread)


def maximise_expectation(
    newton: Newton, responsibilities: np.ndarray, coef: np.ndarray, log_pi: np.ndarray
) -> np.ndarray:
    """The M-step by Newton's method (eqs. 12 and 13).

    It maximises a concave function, so it may start anywhere. Without the weights that were dropped since, the coefficients
    may say the wrong class for certain: there the curvature is zero and Newton's method finds no way out. Zero is a better initialisation.
    """

    def evaluate(coef: np.ndarray) -> Evaluation:
        joint = log_joint(newton.designs, coef, log_pi)
        return Evaluation(
            expected_objective(newton.rows, responsibilities, joint, coef), joint, responsibilities
        )

    zeros = np.zeros_like(coef)
    start = zeros if evaluate(zeros).value > evaluate(coef).value else coef
    return newton.ascend(start, evaluate, NEWTON_ITER)[0]


def posterior_mode(
    rows: LabelledRows,
    designs: Designs,
    coef: np.ndarray,
    log_pi: np.ndarray,
    *,
    responsibilities: np.ndarray | None = None,
    em_iter: int = 50,
    accelerated: bool = False,
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
    accelerated : bool
        Newton's method takes over once EM is near the mode.
    """

    def evaluate(coef: np.ndarray) -> Evaluation:
        return evaluate_mixture(rows, coef, log_joint(designs, coef, log_pi))

    at = evaluate(coef)
    responsibilities, objective = (
        at.responsibilities if responsibilities is None else responsibilities,
        [at.value],
    )
    newton = Newton(rows, designs, blocks=accelerated)
    for iteration in range(em_iter):
        coef = maximise_expectation(newton, responsibilities, coef, log_pi)
        at = evaluate(coef)
        objective.append(at.value)
        change = np.abs(at.responsibilities - responsibilities).max()
        responsibilities = at.responsibilities
        if change <= SAME_RESPONSIBILITIES:
            break
        if accelerated and change <= NEAR:
            # It needs far fewer steps than EM where components overlap.
            coef, at, values = newton.ascend(coef, evaluate, em_iter - iteration, latent=True)
            objective += values
            break
    return Mode(coef, at.responsibilities, newton.precision_at(np.exp(at.joint)), objective)
