"""A mixture as numbers without constraints, for gradient steps: whatever they are, it is a valid mixture.

Precisions are L L^T with a positive diagonal of L, or squares of positive numbers, so they are positive definite; weights
are a softmax, so they lie on the simplex. What counts is relative to where the steps begin, so the units of the features
do not matter: row i of each L, and element i of P^-1 mu, in units of L_ii at the start, and the diagonal as its logarithm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from skem.engine import compiled
from skem.engine.covariance_type import CovarianceType
from skem.engine.linalg import LOG_2PI
from skem.engine.parameters import MATRICES, Mixture


class ClassWeights:
    """Weights pi_kc of the pairs of a component and a class that are not zero at the start; a class's pairs stand together.

    Attributes
    ----------
    components : ndarray of int, shape (A,)
        The component of each pair.
    borders : ndarray of int, shape (L + 1,)
        Class c has the pairs borders[c] to borders[c + 1].
    """

    def __init__(self, weights: np.ndarray) -> None:
        self._shape = weights.shape
        self._classes, self.components = np.nonzero(weights.T)
        self.borders = np.searchsorted(self._classes, np.arange(weights.shape[1] + 1))

    def of(self, by_pair: np.ndarray) -> np.ndarray:
        """What there is of each pair, (A,), as a matrix, (K, L), with zeros for the others."""
        matrix = np.zeros(self._shape)
        matrix[self.components, self._classes] = by_pair
        return matrix

    def pairs(self, matrix: np.ndarray) -> np.ndarray:
        """What a matrix, (K, L), has for each pair, (A,)."""
        return matrix[self.components, self._classes]

    def sums(self, by_pair: np.ndarray) -> np.ndarray:
        """Sums over the pairs of a class, for each pair, (A,)."""
        return np.add.reduceat(by_pair, self.borders[:-1])[self._classes]

    def log_softmax(self, logits: np.ndarray) -> np.ndarray:
        """log pi of each pair, (A,)."""
        shifted = logits - np.maximum.reduceat(logits, self.borders[:-1])[self._classes]
        return shifted - np.log(self.sums(np.exp(shifted)))


class FreeParameters(ABC):
    """The map between a mixture and a vector theta of free parameters.

    Parameters
    ----------
    start : Mixture
        Where the steps begin.
    covariance_type : CovarianceType

    Attributes
    ----------
    weights : ClassWeights
    """

    def __init__(self, start: Mixture, covariance_type: CovarianceType) -> None:
        self._type, self.weights = covariance_type, ClassWeights(start.weights)
        self._K, self._m = start.means.shape
        self._n_precisions = self._K

    @staticmethod
    def of(start: Mixture, covariance_type: CovarianceType) -> FreeParameters:
        kind = PrecisionFactors if covariance_type.family == MATRICES else PrecisionRoots
        return kind(start, covariance_type)

    @abstractmethod
    def theta(self, mixture: Mixture) -> np.ndarray:
        """The free parameters of a mixture, shape (n_free,)."""

    @abstractmethod
    def mixture(self, theta: np.ndarray) -> Mixture: ...

    @abstractmethod
    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """w with log N(x; mu_k, P_k) = w_k . phi(x), shape (K, H), log pi of each pair, (A,), and the means, (K, m)."""

    @abstractmethod
    def gradient(
        self, theta: np.ndarray, means: np.ndarray, sums: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """The gradient in theta of sum_k sums_k . w_k + sum_a counts_a log pi_a, shape (n_free,).

        Parameters
        ----------
        theta : ndarray of shape (n_free,)
        means : ndarray of shape (K, m)
            Those that `natural` gives with it.
        sums : ndarray of shape (K, H)
        counts : ndarray of shape (A,)
        """

    def _parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Views of theta: linear parameters, (K, m), those of precisions, a row each, and the logits of weights, (A,)."""
        n_linear, n_weights = self._K * self._m, len(self.weights.components)
        linear, precisions, logits = np.split(theta, [n_linear, len(theta) - n_weights])
        return linear.reshape(self._K, self._m), precisions.reshape(self._n_precisions, -1), logits

    def _join(self, linear: np.ndarray, precisions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return np.concatenate([linear.ravel(), precisions.ravel(), np.log(self.weights.pairs(weights))])

    def _mixture(self, logits: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> Mixture:
        weights = self.weights.of(np.exp(self.weights.log_softmax(logits)))
        return Mixture(weights, means, covariances.reshape(self._type.shapes(self._K, self._m)[0]))

    def _of_logits(self, logits: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return counts - np.exp(self.weights.log_softmax(logits)) * self.weights.sums(counts)


class PrecisionFactors(FreeParameters):
    """For matrices: P^-1 = L L^T with lower triangular L, one per component or one for all."""

    def __init__(self, start: Mixture, covariance_type: CovarianceType) -> None:
        super().__init__(start, covariance_type)
        factors = self._factors(start)
        self._n_precisions, self._scale = len(factors), np.diagonal(factors, axis1=1, axis2=2).copy()

    def _factors(self, mixture: Mixture) -> np.ndarray:
        """L of each covariance, (F, m, m)."""
        matrices = mixture.covariances.reshape(-1, self._m, self._m)
        # P = U U^T with upper triangular U is a Cholesky factorisation with the order of features reversed; L = U^-T.
        upper = np.linalg.cholesky(matrices[:, ::-1, ::-1])[:, ::-1, ::-1]
        return np.tril(np.swapaxes(np.linalg.inv(upper), 1, 2))

    def theta(self, mixture: Mixture) -> np.ndarray:
        factors = self._factors(mixture)
        linear = factors @ (np.swapaxes(factors, 1, 2) @ mixture.means[:, :, None])
        relative, diagonal = factors / self._scale[:, :, None], np.arange(self._m)
        relative[:, diagonal, diagonal] = np.log(relative[:, diagonal, diagonal])
        rows, columns = np.tril_indices(self._m)
        return self._join(linear[:, :, 0] / self._scale, relative[:, rows, columns], mixture.weights)

    def mixture(self, theta: np.ndarray) -> Mixture:
        linear, packed, logits = self._parts(theta)
        (rows, columns), diagonal = np.tril_indices(self._m), np.arange(self._m)
        factors = np.zeros((self._n_precisions, self._m, self._m))
        factors[:, rows, columns] = packed
        factors[:, diagonal, diagonal] = np.exp(factors[:, diagonal, diagonal])
        inverses = np.linalg.inv(factors * self._scale[:, :, None])
        covariances = np.swapaxes(inverses, 1, 2) @ inverses
        covariances = 0.5 * (covariances + np.swapaxes(covariances, 1, 2))
        means = (covariances @ (linear * self._scale)[:, :, None])[:, :, 0]
        return self._mixture(logits, means, covariances)

    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        linear, packed, logits = self._parts(theta)
        w, means = compiled.factors().factored_parameters(linear, packed, self._scale, self._m * LOG_2PI)
        return w, self.weights.log_softmax(logits), means

    def gradient(
        self, theta: np.ndarray, means: np.ndarray, sums: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        _, packed, logits = self._parts(theta)
        of_linear, of_packed = compiled.factors().factored_gradient(sums, means, packed, self._scale)
        return np.concatenate([of_linear.ravel(), of_packed.ravel(), self._of_logits(logits, counts)])


class PrecisionRoots(FreeParameters):
    """For variances: precisions are exp(2 s), with s of each component and feature, or of each component."""

    def __init__(self, start: Mixture, covariance_type: CovarianceType) -> None:
        super().__init__(start, covariance_type)
        self._scale = 1.0 / np.sqrt(start.covariances.reshape(self._K, -1))

    def theta(self, mixture: Mixture) -> np.ndarray:
        variances = mixture.covariances.reshape(self._K, -1)
        roots = -0.5 * np.log(variances) - np.log(self._scale)
        return self._join(mixture.means / variances / self._scale, roots, mixture.weights)

    def _precisions(self, roots: np.ndarray) -> np.ndarray:
        return (np.exp(roots) * self._scale) ** 2

    def mixture(self, theta: np.ndarray) -> Mixture:
        linear, roots, logits = self._parts(theta)
        precisions = self._precisions(roots)
        return self._mixture(logits, linear * self._scale / precisions, 1.0 / precisions)

    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        linear, roots, logits = self._parts(theta)
        precisions = self._precisions(roots)
        means = linear * self._scale / precisions
        constants = 0.5 * np.broadcast_to(np.log(precisions), means.shape).sum(axis=1)
        constants -= 0.5 * ((means**2 * precisions).sum(axis=1) + self._m * LOG_2PI)
        w = np.concatenate([linear * self._scale, -0.5 * precisions, constants[:, None]], axis=1)
        return w, self.weights.log_softmax(logits), means

    def gradient(
        self, theta: np.ndarray, means: np.ndarray, sums: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        _, roots, logits = self._parts(theta)
        precisions, n, squares = self._precisions(roots), sums[:, -1:], means**2
        if precisions.shape[1] == 1:
            squares = squares.sum(axis=1, keepdims=True)
        n_features = self._m // precisions.shape[1]  # that share a precision
        of_roots = n * n_features - precisions * (sums[:, self._m : -1] - n * squares)
        of_linear = (sums[:, : self._m] - n * means) * self._scale
        return np.concatenate([of_linear.ravel(), of_roots.ravel(), self._of_logits(logits, counts)])
