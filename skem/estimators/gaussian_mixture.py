"""A plain Gaussian mixture, without classes: the same engine, with all rows in one class."""

from __future__ import annotations

from contextlib import closing
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from skem.engine import em, missing_em
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.parameters import Mixture
from skem.engine.threads import single_threaded
from skem.estimators._array_api import fits_in_namespace, refuse_missing_on, to_host
from skem.estimators._blocks import is_out_of_core
from skem.estimators._callbacks import CallbackSupportMixin, Progress, with_callbacks
from skem.estimators._checking import CheckedParameters, check_features, has_missing
from skem.estimators._docstrings import documented
from skem.estimators._metrics import METRICS
from skem.estimators._mixture_batches import MixtureBatches
from skem.estimators._mixture_starts import OF_CLUSTERS
from skem.estimators._out_of_core import OutOfCoreRows, out_of_core_rows
from skem.estimators._training import LabelledRows, Record, Training, warn_if_singular, warn_unless_converged
from skem.estimators._units import all_or_nothing


@documented
class GaussianMixture(CheckedParameters, MixtureBatches, CallbackSupportMixin, DensityMixin, BaseEstimator):
    """Gaussian mixture density p(x) = sum_k pi_k N(x; mu_k, P_k), trained by EM.

    It does what scikit-learn's ``GaussianMixture`` does, several times faster, with results that do not
    depend on the number of threads, on data that need not fit into memory.

    Parameters
    ----------
    n_components : int, default=1
        K.
    %(covariance_type)s
    init : {"kmeans", "k-means++", "static_subset", "random_subset", "static_spread", "random_spread", "sample"}, dict or tuple, default="k-means++"
        Where EM starts. The first six are the seeds of k-means, see ``KMeans``, and "kmeans" is "random_subset": EM starts
        from the sizes, means and covariances of its clusters, and where a covariance is singular, from that of all clusters
        together. "sample" are rows drawn at random as means, with equal weights and the covariance of all rows. Or arrays:
        (weights (K,), means (K, m), covariances) in input units. ``{"means": array (K, m)}`` has these means, and the weights
        and covariances of the samples nearest to each by ``metric``. ``{"labels": array (n_samples,)}`` has the weights, means
        and covariances of the samples with each label from 0 to K - 1: one M-step from hard responsibilities.
    kmeans_iter : int, default=10
        Iterations of k-means; with none, rows go to the nearest seed.
    metric : {"euclidean", "mahalanobis"}, default="euclidean"
        Of k-means: "mahalanobis" has each feature in units of its standard deviation, as ``standardize`` has anyway.
    %(n_init)s
    %(max_iter)s
        0 keeps the initialisation.
    %(tol)s
    %(standardize)s
    %(reg_covar)s
    variance_floor : float, default=0.0
        Least variance of a component in any direction, as a share of the mean variance of the features (one, where they are
        standardised). Without effect where reg_covar is larger. The objective may fall in the first pass, where a start is
        narrower.
    %(warm_start)s
    learning_decay : float, default=0.7
        For ``partial_fit``: in (0.5, 1]; the smaller, the sooner early batches are forgotten.
    verbose : bool, default=False
        Print the objective after each pass.
    %(n_jobs)s
    %(random_state)s

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray
        (K, m, m) full, (m, m) tied, (K, m) diag and, with ``standardize``, spherical, else (K,).
    precisions_ : ndarray
        Inverses of ``covariances_``, of the same shape.
    %(log_likelihood_)s
        Without classes p(x|c) is p(x).
    lower_bound_ : float
        The last objective; minus infinity with ``max_iter=0``.
    %(n_iter_)s
    converged_ : bool
        Whether ``tol`` ended the fit.
    %(dtype_used_)s
    n_samples_seen_ : int
        Samples with a weight in ``fit``, and in ``partial_fit`` since. ``from_parameters`` sets none: the parameters then
        count as one batch.
    n_parameters_ : int
        Free parameters: weights, means and covariances.
    %(n_features_in_)s

    Notes
    -----
    A component that loses all its rows keeps its place with weight zero. A covariance that turns singular stays as it
    was; where the ridge is lost in rounding only, it is raised until it just is not, if that is better. A fit that ends like
    that warns. A constant column and identical rows are harmless with reg_covar > 0. Rows may lie far from zero, and narrow
    components far apart: only digits that the input lacks are lost. A fit that is interrupted or fails leaves the estimator
    as it was.

    The ridge takes part in the E-step too, so that the objective does not fall; scikit-learn adds it in the
    M-step alone. With reg_covar=0 both do the same passes, with 1e-6 almost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import GaussianMixture
    >>> X, _ = load_iris(return_X_y=True)
    >>> GaussianMixture(3, random_state=0).fit(X).weights_.round(2)
    array([0.3 , 0.33, 0.36])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "init": [StrOptions({*OF_CLUSTERS, "sample"}), tuple, dict],
        "kmeans_iter": [Interval(Integral, 0, None, closed="left")],
        "metric": [StrOptions(set(METRICS))],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "standardize": ["boolean"],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "learning_decay": [Interval(Real, 0.5, 1, closed="right")],
        "verbose": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        init: str | tuple | dict = "k-means++",
        kmeans_iter: int = 10,
        metric: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        standardize: bool = False,
        reg_covar: float = 1e-6,
        variance_floor: float = 0.0,
        warm_start: bool = False,
        learning_decay: float = 0.7,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.init = init
        self.kmeans_iter = kmeans_iter
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.variance_floor = variance_floor
        self.warm_start = warm_start
        self.learning_decay = learning_decay
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fits_in_namespace
    @with_callbacks
    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> GaussianMixture:
        """Train by EM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Float32 input is computed in float32 as long as that is exact enough, see ``dtype_used_``. A
            ``numpy.memmap`` is read chunk by chunk. Dask arrays and data frames stay on their workers, and
            ``skem.datasets.ParquetRows`` are read one row group at a time. An array of another library is worked on where it is,
            on a GPU for example, under scikit-learn's ``array_api_dispatch``; what is fitted is there, too. NaN, in NumPy
            arrays, is a missing value, as is a masked entry: EM then uses the observed values, in float64 (Ghahramani and
            Jordan 1994), as if values were missing at random; k-means, where it starts, takes the mean.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; a row of weight two counts as two rows. Only their ratios matter. A row of weight zero, or up to
            1e-30 of the largest weight, counts as none; if there are such rows, the others are copied.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Infinite values, a row or a feature with no value at all, weights that are negative or all zero, fewer rows with a weight than components, or
            given arrays of the wrong shape.
        """
        self._validate_params()
        progress = Progress(self, self._n_starts() * self.max_iter, X, sample_weight=sample_weight)
        with all_or_nothing(self), single_threaded():
            stop = self._fit(X, sample_weight, progress)
            progress.end()
        if self.max_iter and not stop:
            warn_unless_converged(self)
        return self

    def _n_starts(self) -> int:
        """Arrays, and the parameters of the last fit, are one start."""
        drawn = isinstance(self.init, str) and not (self.warm_start and hasattr(self, "means_"))
        return self.n_init if drawn else 1

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> bool:
        """Fit from each start; True if a callback ended the fit."""
        previous = self._mixture() if self.warm_start and hasattr(self, "means_") else None
        rows: LabelledRows | OutOfCoreRows
        incomplete, n_samples = False, None
        if is_out_of_core(X):
            rows = out_of_core_rows(self, X, None, sample_weight)
        else:
            (X, sample_weight), device = to_host(X, sample_weight)
            checked = check_features(self, X, missing=True, ensure_min_samples=2)
            rows = LabelledRows.without_classes(checked, sample_weight, device)
            incomplete, n_samples = has_missing(rows.X), len(checked)
            if incomplete:
                refuse_missing_on(device)
        if rows.n_rows < self.n_components:
            raise ValueError(f"n_components={self.n_components} components from n_samples={rows.n_rows} rows")
        labels = None
        if previous is None:
            labels = self._given_labels(n_samples, sample_weight)
        else:
            fix = "set it back, or set warm_start=False"
            self._check_previous(previous, rows.n_features, "warm_start", fix)
        random_state = check_random_state(self.random_state)
        self._measure(rows)
        columns, parts = np.arange(rows.n_features), rows.parts(self._shift, self._scale)
        if not incomplete:
            self._regularise(parts, [columns])
        training = Training(
            parts,
            [columns],
            {
                "covariance_type": self._covariance_type,
                "ridge": self._internal_ridge(),
                "variance_floor": self._internal_floor(),
            },
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
            goes_on=previous is not None,
            em_passes=missing_em.iterations if incomplete else em.iterations,
        )
        fits, whole, stop = [], None, False
        if previous is None and not isinstance(self.init, tuple):
            whole = missing_em.filled(parts.whole) if incomplete else parts.whole
        for number in range(self._n_starts()):
            start = self._start(whole, previous, random_state, labels)
            if not self.max_iter:
                fits.append(Record([start], np.empty(0), np.empty(0), "float64", False, 0))
                break
            fit, stop = self._last(training, start, number, progress)
            fits.append(fit)
            if stop:
                break
        best = max(fits, key=lambda fit: fit.lower_bound)
        self._keep(best)
        self.n_samples_seen_ = rows.n_rows
        warn_if_singular(self, best.n_singular)
        self.__dict__.pop("_in_batches", None)
        return stop

    def _keep(self, record: Record) -> None:
        fitted = self._to_input_units(record.mixtures[0], np.arange(len(self._shift)))
        self.weights_ = fitted.weights[:, 0]
        self.means_, self.covariances_ = fitted.means, fitted.covariances
        self.log_likelihood_, self.objective_ = record.log_likelihood, record.objective
        self.lower_bound_ = record.lower_bound
        self.n_iter_ = record.n_passes
        self.converged_ = record.converged
        self.dtype_used_ = record.dtype

    def _last(
        self, training: Training, start: Mixture, number: int, progress: Progress
    ) -> tuple[Record, bool]:
        """The last iteration from start ``number``; True if a callback ends the fit."""
        with closing(training.passes([start])) as passes:
            while True:
                with progress.task() as task:
                    record = next(passes)
                    if progress.observed:
                        self._keep(record)
                if self.verbose:
                    objective = record.lower_bound
                    print(
                        f"start {number + 1}, pass {record.n_passes}: objective {objective:.6f} nats per row"
                    )
                if task.stop or record.converged or record.n_passes == self.max_iter:
                    return record, task.stop

    def _internal_floor(self) -> float:
        if self.variance_floor >= 1:
            raise ValueError(
                f"variance_floor={self.variance_floor} is a share of the mean variance of the features: give one below 1"
            )
        return self.variance_floor * self._mean_variance

    def _check_previous(self, previous: Mixture, n_features: int, cause: str, fix: str) -> None:
        now = (self.n_components, n_features, self.covariance_type)
        before = (*previous.means.shape, self._fitted_type)
        for name, new, old in zip(
            ("n_components", "the number of features", "covariance_type"), now, before, strict=True
        ):
            if new != old:
                raise ValueError(f"{cause}: {name} changed from {old} to {new} since the last fit: {fix}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.array_api_support = True
        return tags

    def fit_predict(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """``fit`` and ``predict`` on the same rows."""
        return self.fit(X, sample_weight=sample_weight).predict(X)
