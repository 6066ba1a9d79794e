"""k-means on data that need not fit into memory, with results that do not depend on the number of threads."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skem.engine.given_start import checked_means
from skem.engine.kmeans import Clusters, assign, inertia, lloyd
from skem.engine.rows import Features
from skem.engine.samples import Samples
from skem.engine.seeds import SEEDS
from skem.engine.threads import Workers, single_threaded
from skem.estimators._callbacks import CallbackSupportMixin, Progress, with_callbacks
from skem.estimators._checking import (
    CheckedParameters,
    check_features,
    check_weights,
    total_weight,
    weighted_rows,
)
from skem.estimators._declarations import POSITIVE, Array, count
from skem.estimators._docstrings import documented
from skem.estimators._metrics import METRICS, metric_units
from skem.estimators._saving import Saving
from skem.estimators._units import all_or_nothing

FARTHEST = 1e150
"""Largest coordinate of a centre, in units of distances: its square is finite."""


@documented
class KMeans(
    CheckedParameters,
    Saving,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """k-means by Lloyd's iterations, as in section 3 of Sanderson and Curtin (2017).

    It does what scikit-learn's ``KMeans`` does, with the same bits whatever the number of threads, and reads a
    ``numpy.memmap`` chunk by chunk.

    Parameters
    ----------
    n_clusters : int, default=2
        K.
    init : {"static_subset", "random_subset", "static_spread", "random_spread", "k-means++"} or array-like, default="k-means++"
        The first centres. Rows at equal steps through the data; rows drawn at random; from the first row, or a random one,
        on always the row farthest from those chosen before; the seeds of k-means++; or given ones, of shape
        (n_clusters, n_features), in input units. Apart from the static ones they do not depend on the order of the rows.
    n_init : int, default=1
        Fits from that many starts; the one of least inertia is kept. What is not drawn at random is one start.
    max_iter : int, default=300
        The most iterations.
    tol : float, default=0.0001
        Stop where the sum of the centres' squared moves is no more than this times the mean variance of the features. Zero
        goes on until no row changes its cluster.
    metric : {"euclidean", "mahalanobis"}, default="euclidean"
        The distance: "mahalanobis" has each feature in units of its standard deviation in the training data (eq. 20).
    %(n_jobs)s
    random_state : int, RandomState instance or None, default=None
        Of the first centres.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        In input units, whatever the metric. Predictions follow centres that are assigned.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    inertia_ : float
        Weighted sum of squared distances between rows and the centres of their clusters, as the metric has them.
    n_iter_ : int
    %(n_features_in_)s

    Notes
    -----
    A cluster that loses all its samples takes the farthest sample of the most popular cluster. Distances are compared in
    float32, and in float64 where the rounding of float32 may decide between two centres, whatever the dtype of ``X``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import KMeans
    >>> X, _ = load_iris(return_X_y=True)
    >>> round(KMeans(3, random_state=0).fit(X).inertia_, 2)
    78.86
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(SEEDS)), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "metric": [StrOptions(set(METRICS))],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    _saved: ClassVar[Mapping[str, Any]] = {
        **Saving._saved,
        "cluster_centers_": Array("n_clusters, n_features"),
        "labels_": Array("n_samples", kind="integers", least=0),
        "inertia_": Array(least=0),
        "n_iter_": count(),
        "_centres": Array("n_clusters, n_features"),
        "_shift": Array("n_features"),
        "_scale": Array("n_features", least=POSITIVE),
        "_unit": Array(least=POSITIVE),
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
            Non-negative; a row of weight two counts as two rows. If there are rows without weight, the others are copied.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            NaN or infinite features, weights that are negative, all zero or overflow in their sum, fewer distinct rows than clusters, given centres
            of the wrong shape, or a constant feature with ``metric="mahalanobis"``.
        """
        self._validate_params()
        if self.n_init > 1 and not isinstance(self.init, str):
            warnings.warn(
                f"init has the first centres, so one fit is made instead of n_init={self.n_init}",
                RuntimeWarning,
                stacklevel=2,
            )
        progress = Progress(self, self._n_starts() * self.max_iter, X, sample_weight=sample_weight)
        with all_or_nothing(self), single_threaded():
            self._fit(X, sample_weight, progress)
            progress.end()
        return self

    def _n_starts(self) -> int:
        """Centres that are not drawn at random are one start."""
        return self.n_init if isinstance(self.init, str) and not self.init.startswith("static") else 1

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> None:
        checked = check_features(self, X)
        used, _, weights = weighted_rows(checked, np.zeros(len(checked), dtype=np.int8), sample_weight)
        total = total_weight(len(checked), sample_weight)
        if len(used) < self.n_clusters:
            raise ValueError(f"n_clusters={self.n_clusters} clusters from n_samples={len(used)} rows")
        self._shift, self._scale, mean_variance = metric_units(used, weights, self.metric)
        self._unit = float(self._scale[0]) if self.metric == "euclidean" else 1.0
        features = Features(used, None, self._shift, self._scale)
        random_state = check_random_state(self.random_state)
        best: Clusters | None = None
        stop = False

        def observe(centres: np.ndarray) -> bool:
            nonlocal stop
            with progress.task() as task:
                self._keep_centres(centres)
            stop = task.stop
            return stop

        with Workers(self.n_jobs) as workers:
            samples = Samples(features, weights, workers)
            for _ in range(self._n_starts()):
                clusters = lloyd(
                    samples,
                    self._seeds(samples, random_state),
                    max_iter=self.max_iter,
                    tol=self.tol * mean_variance,
                    observe=observe if progress.observed else None,
                )
                if best is None or clusters.inertia < best.inertia:
                    best = clusters
                if stop:
                    break
        assert best is not None
        self._keep_centres(best.centres)
        self.n_iter_ = best.n_iter
        self.inertia_ = float(best.inertia * self._unit**2 * (total / weights.sum()))
        self.labels_ = (
            best.labels if len(used) == len(checked) else self._assign(checked, np.ones(len(checked)))[0]
        )

    def _keep_centres(self, centres: np.ndarray) -> None:
        self._centres, self.cluster_centers_ = centres, centres * self._scale + self._shift

    def _seeds(self, samples: Samples, random_state: np.random.RandomState) -> np.ndarray:
        """Initial centres in the units of the samples."""
        if isinstance(self.init, str):
            return SEEDS[self.init](samples, self.n_clusters, random_state)
        centres = checked_means(self.init, self.n_clusters, len(self._shift), "init: centres")
        return (centres - self._shift) / self._scale

    def _assign(self, X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
        """Cluster of each sample, (n,), and the inertia."""
        features, centres = Features(X, None, self._shift, self._scale), self._internal_centres()
        with Workers(self.n_jobs) as workers, single_threaded():
            samples = Samples(features, weights, workers)
            labels, _ = assign(samples, centres)
            return labels, inertia(samples, centres, labels) * self._unit**2

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The cluster whose centre is nearest to each row, shape (n_samples,)."""
        check_is_fitted(self)
        rows = check_features(self, X, reset=False)
        return self._assign(rows, np.ones(len(rows)))[0]

    def transform(self, X: ArrayLike) -> np.ndarray:
        """The distances of each row to the centres, as the metric has them, shape (n_samples, n_clusters)."""
        check_is_fitted(self)
        rows = (check_features(self, X, reset=False) - self._shift) / self._scale
        return self._unit * cdist(rows, self._internal_centres())

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the inertia of these rows: the weighted sum of squared distances to the nearest centres."""
        check_is_fitted(self)
        rows = check_features(self, X, reset=False)
        return -self._assign(rows, check_weights(sample_weight, rows))[1]

    def _state(self) -> dict[str, Any]:
        return super()._state() | {"_centres": self._internal_centres()}

    def _refuse_impossible(self) -> None:
        self._internal_centres()

    def _internal_centres(self) -> np.ndarray:
        """``cluster_centers_`` in the units of distances.

        Raises
        ------
        ValueError
            Assigned centres that are not finite numbers of shape (n_clusters, n_features), or are too far for their squares.
        """
        centres, m = np.asarray(self.cluster_centers_), len(self._shift)
        if centres.ndim != 2 or not len(centres) or centres.shape[1] != m or centres.dtype.kind not in "fiu":
            raise ValueError(
                f"cluster_centers_ must be numbers of shape (n_clusters, {m}), got {centres.dtype} of shape {centres.shape}"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            # Centres as fitted are without the rounding of input units.
            as_fitted = np.array_equal(centres, self._centres * self._scale + self._shift)
            internal = self._centres if as_fitted else (centres - self._shift) / self._scale
        if not (np.abs(internal) <= FARTHEST).all():
            raise ValueError(
                "cluster_centers_ must be finite, and not so far from _shift that squares overflow"
            )
        return internal

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)
