"""k-means, in memory or on a memory map, with the same results for any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skem.engine.given_start import checked_array
from skem.engine.kmeans import Clusters, assign, distances, inertia, lloyd
from skem.engine.rows import Rows
from skem.engine.samples import Samples
from skem.engine.seeds import SEEDS
from skem.engine.threads import Workers, single_threaded
from skem.engine.warn import warn
from skem.estimators._callbacks import CallbackSupportMixin, Progress, fitting, with_callbacks
from skem.estimators._checking import (
    check_attribute,
    check_features,
    check_weights,
    integers,
    numbers,
    weighted_samples,
)
from skem.estimators._sklearn import StrOptions
from skem.estimators._units import METRICS, metric_units

FARTHEST = 1e150
"""Largest coordinate of a centre in the units of the samples; its square is finite."""


class KMeans(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """k-means by Lloyd's iterations, as in section 3 of Sanderson and Curtin (2017).

    The clusters are those of scikit-learn's ``KMeans``. Results are identical to the last bit for any number of
    threads, and a ``numpy.memmap`` is read chunk by chunk.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters, K.
    init : {"static_subset", "random_subset", "static_spread", "random_spread", "k-means++"} or array-like, default="k-means++"
        Initial centres. "static_subset" takes samples at equal steps through the data, "random_subset" draws samples.
        "static_spread" begins with the first sample and "random_spread" with a random one; both then add the sample farthest
        from all centres so far. "k-means++" draws samples by their squared distance to the centres so far. An array has shape
        (n_clusters, n_features) and input units. Only the two static methods depend on the order of the samples.
    n_init : int, default=1
        Number of fits, each from its own initial centres; the one of least inertia is kept. Increase it where clusters are
        many or overlap. Static or given centres make one fit.
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=0.0001
        Tolerance: iterations stop once the sum of the centres' squared moves is at most ``tol`` times the mean variance of
        the features. With zero they stop once no sample changes its cluster.
    metric : {"euclidean", "mahalanobis"}, default="euclidean"
        Distance. "mahalanobis" divides each feature by its standard deviation in the training data (eq. 20); use it where
        features have different units.
    n_jobs : int or None, default=None
        Number of threads, without effect on results. None is one thread, -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices. Set an int for reproducible results.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres in input units, for either metric. Predictions follow assigned centres.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample.
    inertia_ : float
        Weighted sum of squared distances between samples and the centres of their clusters, in units of the metric.
    n_iter_ : int
        Number of iterations of the fit that was kept.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if the input has them.

    Notes
    -----
    A cluster that loses all its samples takes the farthest sample of the largest cluster. Distances are computed in
    float32, and again in float64 where the rounding of float32 may decide between two centres, for any dtype of ``X``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import KMeans
    >>> X, _ = load_iris(return_X_y=True)
    >>> round(KMeans(3, random_state=0).fit(X).inertia_, 2)
    78.86
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [integers(1)],
        "init": [StrOptions(set(SEEDS)), "array-like"],
        "n_init": [integers(1)],
        "max_iter": [integers(1)],
        "tol": [numbers(0)],
        "metric": [StrOptions(set(METRICS))],
        "n_jobs": [integers(), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        metric: str = "euclidean",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> KMeans:
        """Find the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A ``numpy.memmap`` is read chunk by chunk.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights. A sample of weight two counts as two samples. If any weight is zero, the other samples are
            copied.

        Returns
        -------
        self
        """
        self._validate_params()
        if self.n_init > 1 and not isinstance(self.init, str):
            warn(
                f"init has the first centres, so one fit is made instead of n_init={self.n_init}: set n_init=1",
                RuntimeWarning,
            )
        with fitting(self, self._n_fits() * self.max_iter, X, None, sample_weight) as progress:
            self._fit(X, sample_weight, progress)
        return self

    def _n_fits(self) -> int:
        """Number of fits; initial centres that are not random make one."""
        random = isinstance(self.init, str) and not self.init.startswith("static")
        return self.n_init if random else 1

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> None:
        checked = check_features(self, X)
        index, weights = weighted_samples(checked, sample_weight)
        used = checked[index]
        if len(used) < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} exceeds the n_samples={len(used)} samples with a weight: set n_clusters to "
                f"{len(used)} or less"
            )
        self._shift, self._scale, mean_variance = metric_units(used, weights, self.metric)
        self._unit = float(self._scale[0]) if self.metric == "euclidean" else 1.0
        features = Rows(used, None, self._shift, self._scale, keep=True)
        random_state = check_random_state(self.random_state)
        best: Clusters | None = None

        def observe(centres: np.ndarray) -> bool:
            with progress.task():
                self._keep_centres(centres)
            return progress.stop

        with Workers(self.n_jobs) as workers:
            samples = Samples(features, weights, workers)
            for _ in range(self._n_fits()):
                clusters = lloyd(
                    samples,
                    self._initial_centres(samples, random_state),
                    max_iter=self.max_iter,
                    tol=self.tol * mean_variance,
                    observe=observe if progress.observed else None,
                )
                # Fits often end in the same clusters, between which rounding does not choose.
                if best is None or clusters.inertia < (1 - 1e-9) * best.inertia:
                    best = clusters
                if progress.stop:
                    break
        assert best is not None
        self._keep_centres(best.centres)
        self.n_iter_, self.labels_ = best.n_iter, best.labels
        total = check_weights(sample_weight, checked).sum()
        self.inertia_ = best.inertia * self._unit**2 * float(total / weights.sum())  # may be infinite
        if len(used) < len(checked):
            self.labels_ = self._assign(checked)[0]

    def _keep_centres(self, centres: np.ndarray) -> None:
        self._centres, self.cluster_centers_ = centres, centres * self._scale + self._shift

    def _initial_centres(self, samples: Samples, random_state: np.random.RandomState) -> np.ndarray:
        if isinstance(self.init, str):
            return SEEDS[self.init](samples, self.n_clusters, random_state)
        centres = checked_array("init: centres", self.init, (self.n_clusters, len(self._shift)))
        return (centres - self._shift) / self._scale

    def _assign(self, X: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, float]:
        """Cluster of each sample, shape (n_samples,), and with weights the inertia."""
        centres = self._internal_centres()
        with self._samples(X, weights) as samples:
            labels = assign(samples, centres)
            total = 0.0 if weights is None else inertia(samples, centres, labels)
            return labels, total * self._unit**2

    @contextmanager
    def _samples(self, X: np.ndarray, weights: np.ndarray | None = None) -> Iterator[Samples]:
        """Samples to predict, which are read once, and the threads that process them."""
        features = Rows(X, None, self._shift, self._scale)
        with Workers(self.n_jobs) as workers, single_threaded():
            yield Samples(features, np.ones(len(X)) if weights is None else weights, workers)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Cluster of the nearest centre for each sample, shape (n_samples,)."""
        check_is_fitted(self)
        checked = check_features(self, X, reset=False)
        return self._assign(checked)[0]

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Distances between samples and centres, by the metric, shape (n_samples, n_clusters)."""
        check_is_fitted(self)
        checked = check_features(self, X, reset=False)
        with self._samples(checked) as samples:
            found = distances(samples, self._internal_centres())
        found *= self._unit
        return found

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Negative inertia: minus the weighted sum of squared distances of samples to their nearest centres."""
        check_is_fitted(self)
        checked = check_features(self, X, reset=False)
        return -self._assign(checked, check_weights(sample_weight, checked))[1]

    def _internal_centres(self) -> np.ndarray:
        """``cluster_centers_`` in the units of the samples, as fitted or as assigned; ValueError for centres without distances."""
        centres = check_attribute("cluster_centers_", self.cluster_centers_, ("n_clusters", len(self._shift)))
        with np.errstate(over="ignore", invalid="ignore"):
            # Fitted centres do not have the rounding of input units.
            as_fitted = np.array_equal(centres, self._centres * self._scale + self._shift)
            internal = self._centres if as_fitted else (centres - self._shift) / self._scale
        if not (np.abs(internal) <= FARTHEST).all():
            raise ValueError("cluster_centers_ must not be so far from the samples that squares overflow")
        return internal

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)
