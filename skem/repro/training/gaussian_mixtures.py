"""Gaussian mixtures of scikit-learn as a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.mixture import GaussianMixture
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class GaussianMixtureClassifier(ClassifierMixin, BaseEstimator):
    """One scikit-learn Gaussian mixture of full covariance per class, and Bayes' rule.

    Parameters
    ----------
    n_components : int, default=2
        Components of each class; a class with fewer rows gets as many as it has rows.
    reg_covar : float, default=0.1
        Added to the diagonal of every covariance, in squared input units; less overfits images.
    class_prior : {"uniform", "empirical"}, default="uniform"
        Equal for all classes, or their share of the training rows.
    random_state : int, RandomState instance or None, default=None
        For the k-means starts.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (L,)
        Class labels and prior probabilities.
    mixtures_ : list of L fitted `GaussianMixture`
        The class-conditional densities.
    """

    def __init__(
        self,
        *,
        n_components: int = 2,
        reg_covar: float = 0.1,
        class_prior: str = "uniform",
        random_state=None,
    ) -> None:
        self.n_components = n_components
        self.reg_covar = reg_covar
        self.class_prior = class_prior
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> GaussianMixtureClassifier:
        """Fit one mixture per class; `X` of shape (n, M), `y` of shape (n,), at least two rows per class."""
        X, y = map(np.asarray, validate_data(self, X, y, ensure_min_samples=2))
        check_classification_targets(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        if counts.min() < 2:
            raise ValueError(f"class {self.classes_[counts.argmin()]!r} has one sample, a mixture needs two")
        if self.class_prior not in ("uniform", "empirical"):
            raise ValueError(f'class_prior must be "uniform" or "empirical", got {self.class_prior!r}')
        share = np.ones(len(counts)) if self.class_prior == "uniform" else counts
        self.class_prior_ = share / share.sum()
        with config_context(array_api_dispatch=False):  # with it, GaussianMixture has no k-means start
            self.mixtures_ = [
                GaussianMixture(
                    min(self.n_components, count), reg_covar=self.reg_covar, random_state=self.random_state
                ).fit(X[y == label])
                for label, count in zip(self.classes_, counts, strict=True)
            ]
        return self

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log posterior log p(c|x) in nats, shape (n, L)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        joint = np.stack([m.score_samples(X) for m in self.mixtures_], axis=1) + np.log(self.class_prior_)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Posterior p(c|x), shape (n, L)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class of the largest posterior, shape (n,)."""
        best = self.predict_log_proba(X).argmax(axis=1)  # first: it checks that there is a fit
        return self.classes_[best]
