"""Outliers by a threshold on the density of a fitted model."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skem.estimators._callbacks import all_or_nothing
from skem.estimators._checking import check_attribute, check_features, check_weights, numbers
from skem.estimators._sklearn import HasMethods, StrOptions
from skem.estimators._units import weighted_percentile
from skem.estimators.gaussian_mixture import GaussianMixture

FENCE = 1.5
"""Interquartile ranges from a quartile to Tukey's fence."""


class DensityOutlierDetector(OutlierMixin, BaseEstimator):
    """Outlier detection by a threshold on log p(x), the density of a mixture or classifier.

    ``fit`` trains the estimator, and sets the threshold to the quantile ``contamination`` of log p(x) over the training samples, or
    to Tukey's fence.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Model with ``score_samples``: ``GaussianMixture``, ``GaussianMixturePath`` or a classifier with a density. None is
        ``GaussianMixture()``. Wrap a fitted model in ``sklearn.frozen.FrozenEstimator`` to set the threshold alone, on
        held-out samples for example.
    contamination : float or "auto", default=0.1
        Share of outliers among the training samples, in (0, 0.5]; it sets the threshold. Raise it to find more outliers. "auto"
        assumes no share: the threshold is Tukey's lower fence on the training samples, Q1 - 1.5 (Q3 - Q1) of the quartiles of
        log p(x). Up to a quarter of the samples may be outliers. Of a normal distribution 8% are below it with one feature, 5%
        with two, 3% with five and 1% with twenty.

    Attributes
    ----------
    estimator_ : estimator
        Fitted clone of ``estimator``.
    offset_ : float
        Threshold on ``score_samples``, in nats.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if the input has them.

    Notes
    -----
    Densities are higher on the samples of their fit than on new ones. With many parameters for the samples, far more new
    samples than ``contamination`` are outliers, unless the threshold comes from held-out samples.

    Samples with missing values are refused. Their densities are those of fewer features, in other units, and cannot be compared
    with one threshold.

    References
    ----------
    J. W. Tukey, "Exploratory data analysis", Addison-Wesley, 1977.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import DensityOutlierDetector, GaussianMixture
    >>> X, _ = load_iris(return_X_y=True)
    >>> detector = DensityOutlierDetector(GaussianMixture(3, random_state=0), contamination=0.04)
    >>> int((detector.fit_predict(X) == -1).sum())
    6
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "score_samples"]), None],
        "contamination": [numbers(0, 0.5, closed="right"), StrOptions({"auto"})],
    }

    def __init__(self, estimator: Any = None, *, contamination: float | str = 0.1) -> None:
        self.estimator = estimator
        self.contamination = contamination

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the density, and choose the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in memory, without missing values.
        y : array-like of shape (n_samples,), optional
            Class labels, for a classifier.
        sample_weight : array-like of shape (n_samples,), optional
            Weights for the fit and for the quantile: a sample of weight two counts as two samples.

        Returns
        -------
        self
        """
        self._validate_params()
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        with all_or_nothing(self):
            checked = check_features(self, X)
            self.estimator_ = GaussianMixture() if self.estimator is None else clone(self.estimator)
            self.estimator_.fit(X, y, **weights)
            scores = np.asarray(self.estimator_.score_samples(X))
            used = check_weights(sample_weight, checked)
            ranks = (25, 75) if isinstance(self.contamination, str) else (100 * self.contamination,)
            quantiles = np.array([weighted_percentile(scores[:, None], used, rank)[0] for rank in ranks])
            if not np.isfinite(quantiles).all():
                raise ValueError(
                    f"contamination={self.contamination!r}: a quantile of log p(x) is {quantiles[0]}, so there is no threshold: "
                    "use an estimator whose density is positive on these samples, or leave out samples of density zero"
                )
            self.offset_ = float(quantiles[0] - FENCE * np.ptp(quantiles))
        return self

    def fit_predict(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """``fit`` and ``predict`` on the same samples, shape (n_samples,)."""
        return self.fit(X, y, sample_weight).predict(X)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) in nats, shape (n_samples,)."""
        check_is_fitted(self)
        check_features(self, X, reset=False)
        return self.estimator_.score_samples(X)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """log p(x) less the threshold, shape (n_samples,): negative for outliers."""
        return self.score_samples(X) - check_attribute("offset_", self.offset_)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """1 for inliers and -1 for outliers, shape (n_samples,)."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.target_tags.required = get_tags(self.estimator).target_tags.required
        return tags
