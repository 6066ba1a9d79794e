"""The classical radial basis function network, trained in two stages: the baseline of Titsias and Likas (2001).

First a mixture of spherical Gaussians is fitted to all rows, whatever their class; its kernels become basis functions.
Then the output weights solve a linear system.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import euclidean_distances
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skem.estimators._checking import CheckedParameters, check_features
from skem.estimators._docstrings import documented
from skem.estimators.gaussian_mixture import GaussianMixture


@documented
class GaussianKernels(CheckedParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features exp(-|x - mu_j|^2 / (2 s_j^2)) of the kernels of an unsupervised mixture of spherical Gaussians.

    Parameters
    ----------
    n_components : int, default=8
        M, the number of kernels.
    widths : {"farthest", "mixture"}, default="farthest"
        s_j: for all kernels the largest distance between two centres, which is what the Netlab toolbox of the paper does
        unless told otherwise; or the standard deviations of the mixture, as the paper has it in words.
    %(max_iter)s
    %(tol)s
        Of the mixture.
    %(reg_covar)s
        In squared input units.
    random_state : int, RandomState instance or None, default=None
        Of the k-means that EM starts from.

    Attributes
    ----------
    means_ : ndarray of shape (n_components, n_features)
    widths_ : ndarray of shape (n_components,)
        s_j, in input units.
    %(n_iter_)s
    %(n_features_in_)s
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "widths": [StrOptions({"farthest", "mixture"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
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
        """Fit the mixture to all rows.

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
            Fewer rows than kernels, beside what ``GaussianMixture`` refuses.
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
        """The activations, shape (n_samples, n_components)."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False).astype(np.float64)
        # Where widths are as fitted, their squares are without the rounding of a square root.
        fitted = np.array_equal(self.widths_, np.sqrt(self._variances))
        variances = self._variances if fitted else np.square(self.widths_)
        return np.exp(-0.5 * euclidean_distances(X, self.means_, squared=True) / variances)

    @property
    def _n_features_out(self) -> int:
        return len(self.means_)


def rbf_network(n_components: int = 8, **params: Any) -> Pipeline:
    """The two-stage RBF network as a pipeline: ``GaussianKernels``, then least squares on class indicators.

    Parameters
    ----------
    n_components : int, default=8
        M, the number of kernels.
    **params
        Of ``GaussianKernels``.

    Returns
    -------
    Pipeline
        With steps "kernels" and "outputs".
    """
    # A trace of a ridge, so that kernels without rows do not make the system singular.
    outputs = RidgeClassifier(alpha=1e-8, solver="svd")
    return Pipeline([("kernels", GaussianKernels(n_components, **params)), ("outputs", outputs)])
