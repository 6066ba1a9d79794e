"""Radial basis function network trained in two stages, the baseline of Titsias and Likas (2001).

The first stage fits a mixture of spherical Gaussians to the samples of all classes; its components become basis functions. The
second stage solves a linear system for the output weights.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import euclidean_distances
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skem.estimators._checking import check_features, integers, numbers
from skem.estimators._docstrings import documented
from skem.estimators._sklearn import StrOptions
from skem.estimators._state import POSITIVE, expect
from skem.estimators.gaussian_mixture import GaussianMixture


@documented
class GaussianKernels(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Basis functions exp(-|x - mu_j|^2 / (2 s_j^2)) from an unsupervised mixture of spherical Gaussians.

    Parameters
    ----------
    n_components : int
        Number of basis functions, M. More of them allow more detailed boundaries.
    widths : {"farthest", "mixture"}
        Widths s_j. "farthest" gives all basis functions the largest distance between two centres, the default of the Netlab
        toolbox that the paper used. "mixture" gives each the standard deviation of its component, as the paper states.
    reg_covar
        Its unit is the square of the input unit.

    Attributes
    ----------
    means_ : ndarray of shape (n_components, n_features)
        Centres mu_j.
    widths_ : ndarray of shape (n_components,)
        Widths s_j, in input units.
    n_iter_, n_features_in_
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [integers(1)],
        "widths": [StrOptions({"farthest", "mixture"})],
        "max_iter": [integers(1)],
        "tol": [numbers(0)],
        "reg_covar": [numbers(0)],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        widths: str = "farthest",
        max_iter: int = 100,
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.widths = widths
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> GaussianKernels:
        """Fit the mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Fewer samples than components, beside the errors of ``GaussianMixture``.
        """
        self._validate_params()
        X = check_features(self, X, ensure_min_samples=2).astype(np.float64)
        mixture = GaussianMixture(
            self.n_components,
            covariance_type="spherical",
            init="kmeans",
            max_iter=self.max_iter,
            tol=self.tol,
            reg_covar=self.reg_covar,
            random_state=self.random_state,
        ).fit(X)
        self.means_, self.n_iter_ = mixture.means_, mixture.n_iter_
        self._variances = mixture.covariances_
        if self.widths == "farthest" and len(self.means_) > 1:
            farthest = euclidean_distances(self.means_, squared=True).max()
            self._variances = np.full(len(self.means_), max(farthest, self.reg_covar))
        self.widths_ = np.sqrt(self._variances)
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Values of the basis functions, shape (n_samples, n_components)."""
        check_is_fitted(self)
        expect("means_", self.means_, (None, self.n_features_in_))
        expect("widths_", self.widths_, (len(self.means_),), least=POSITIVE)
        X = check_features(self, X, reset=False).astype(np.float64)
        # Fitted variances do not have the rounding of a square root.
        fitted = np.array_equal(self.widths_, np.sqrt(self._variances))
        variances = self._variances if fitted else np.square(self.widths_)
        return np.exp(-0.5 * euclidean_distances(X, self.means_, squared=True) / variances)

    @property
    def _n_features_out(self) -> int:
        return len(self.means_)


def rbf_network(n_components: int = 8, **params: Any) -> Pipeline:
    """Make the two-stage RBF network, a pipeline of ``GaussianKernels`` and least squares on class indicators.

    Parameters
    ----------
    n_components : int, default=8
        Number of basis functions, M.
    **params
        Other parameters of ``GaussianKernels``.

    Returns
    -------
    Pipeline
        Steps "kernels" and "outputs".
    """
    # A little regularisation, as basis functions without samples would make the system singular.
    outputs = RidgeClassifier(alpha=1e-8, solver="svd")
    return Pipeline([("kernels", GaussianKernels(n_components, **params)), ("outputs", outputs)])
