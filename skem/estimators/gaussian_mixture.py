"""A Gaussian mixture without classes, by the engine of the classifiers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skem.engine import adaptation, compiled, em
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.given_start import checked_indices, checked_mixture
from skem.engine.kmeans import assign
from skem.engine.linalg import logarithms, weighted_sum
from skem.engine.masked import with_nan
from skem.engine.parameters import FLOAT64, Mixture
from skem.engine.rows import Rows
from skem.engine.samples import Samples
from skem.engine.threads import Workers, single_threaded
from skem.estimators._array_api import (
    like,
    move_to_device_of,
    namespace_of,
    on_device_of_fit,
    to_numpy,
)
from skem.estimators._batches import advance, training_on
from skem.estimators._callbacks import all_or_nothing, fitting, with_callbacks
from skem.estimators._checking import (
    LARGEST_VARIANCE,
    check_features,
    check_n_samples,
    check_weights,
    integers,
    is_dask,
    mean_one,
    numbers,
)
from skem.estimators._fitted import FittedMixture, possible, require_fitted
from skem.estimators._methods import computed_on_host, per_sample
from skem.estimators._mixture_initialisation import CLUSTERINGS, given_labels, initial_mixture
from skem.estimators._samples import TrainingSamples, training_samples
from skem.estimators._sklearn import StrOptions
from skem.estimators._splitting import without_lightest
from skem.estimators._training import Iteration, MixtureEstimator, Training, parameter, refuse_changes
from skem.estimators._units import METRICS, common_scale


def admissible(covariance_type: str, expected: np.ndarray, n_features: int) -> bool:
    """True if the covariances rest on as many samples as they need, so that the maximum is not spurious.

    ``expected`` are the samples of each component, (K,). A single component is always admissible.
    """
    K = len(expected)
    if K == 1 or covariance_type == "tied":
        return K == 1 or bool(expected.sum() > K + n_features - 0.01)
    needed = n_features + 1 if covariance_type == "full" else 2
    return bool((expected > needed - 0.01).all())


class GaussianMixture(DensityMixin, MixtureEstimator):
    """Gaussian mixture density p(x) = sum_k pi_k N(x; mu_k, P_k), trained by EM.

    It fits the model of scikit-learn's ``GaussianMixture``, several times faster. Results do not depend on the number of
    threads, and the data need not fit into memory.

    Parameters
    ----------
    n_components : int, default=1
        Number of components K.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Structure of the covariances:

        - "full": one matrix per component
        - "tied": one matrix for all components
        - "diag": one variance per component and feature
        - "spherical": one variance per component

        Structures with fewer parameters need fewer samples.
    init_params : {"kmeans", "k-means++", "static_subset", "random_subset", "static_spread", "random_spread", "sample"}, dict or tuple, default="k-means++"
        Initialisation of EM:

        - "kmeans" (the same as "random_subset") to "random_spread" are the initial centres of k-means, see ``KMeans``. EM
          starts from the sizes, means and covariances of its clusters. The pooled covariance of all clusters replaces a
          singular one.
        - "sample" draws samples as means, with equal weights and the covariance of all samples.
        - ``{"means": array (K, m)}`` sets the means. Weights and covariances are those of the samples nearest to each mean by
          ``metric``.
        - ``{"labels": array (n_samples,)}`` sets the weights, means and covariances of the samples with each label from 0 to
          K - 1: one M-step from hard responsibilities.

        Arrays are a tuple (weights (K,), means (K, m), covariances) in input units.
    kmeans_iter : int, default=10
        Maximum number of iterations of k-means. 0 assigns each sample to the nearest initial centre.
    metric : {"euclidean", "mahalanobis"}, default="euclidean"
        Distance of k-means. "mahalanobis" divides each feature by its standard deviation, as ``standardize`` does anyway.
    n_init : int, default=1
        Number of initialisations. The fit with the best final ``objective_`` is kept. Arrays, and a warm start, count as one
        initialisation. Increase it if fits from different seeds differ much.
    max_iter : int, default=100
        Maximum number of EM iterations.
        0 keeps the first initialisation, without ``n_init`` and ``prune``.
    tol : float, default=0.001
        Minimum gain of ``objective_`` per iteration, in nats per sample; training stops below it. 0 disables this criterion,
        its convergence warning and ``converged_``.
    standardize : bool or "robust", default=False
        True measures ``reg_covar`` in squared units of each feature's standard deviation in the training data, False in squared
        input units. "robust" limits outliers first, as for ``PSKEMClassifier``. Fitted parameters and densities are in input units
        in any case.
    reg_covar : float, default=1e-06
        Covariance regularisation r, added to the diagonal of each covariance. Training replaces log N(x; mu, P) by
        log N(x; mu, P) - r/2 tr(P^-1), whose exact M-step adds r. Increase it if there are few samples per component.
        If the covariance of all samples is singular nevertheless, training warns and uses 1e-6 of the features' mean variance.
        Reasons are features that are constant, are linear combinations of others, or outnumber the samples.
    variance_floor : float, default=0.0
        Minimum variance of a component in any direction, relative to the mean variance of the features (1 with
        ``standardize``). It has no effect if ``reg_covar`` is larger. With neither, a component may collapse onto a sample.
        The objective may decrease in the first iteration if an initial component is narrower.
    prune : bool, default=False
        Choose the number of components, up to ``n_components``. When EM has ended, the component of least weight is removed and EM
        goes on without it, until one is left (Figueiredo and Jain 2002). The mixture with the lowest BIC is kept, among those
        whose components have as many expected samples as their covariances need: the number of features plus one for "full",
        two for "diag" and "spherical".
    warm_start : bool, default=False
        Continue from the parameters of the last fit. ``tol`` counts from their objective, so that a loop of short fits ends.
    verbose : bool or int, default=False
        Print the objective after each iteration.
    n_jobs : int or None, default=None
        Number of threads, without effect on results. None is one thread, -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices. Set an int for reproducible results.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights pi_k, which sum to one.
    means_ : ndarray of shape (n_components, n_features)
        Means mu_k.
    covariances_ : ndarray
        Covariances P_k: (K, m, m) if full, (m, m) if tied, (K, m) if diag, and (K,) if spherical; with ``standardize``,
        spherical ones are (K, m).
    precisions_ : ndarray
        Inverses of ``covariances_``, of the same shape.
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean of log p(x|c) over the samples, in nats, summed over feature blocks. Element t - 1 belongs to iteration t.
        ``objective_`` includes the penalties of ``reg_covar`` and ``sharing``. It decreases only by rounding: by less than
        1e-4 nats per iteration (2e-3 for float32 samples), plus 2e-16 times the largest condition number of a covariance.
        Without classes, p(x|c) is p(x).
    lower_bound_ : float
        Last value of ``objective_``; minus infinity with ``max_iter=0``.
    n_iter_ : int
        Number of iterations of the fit that was kept.
    converged_ : bool
        As for ``PSKEMClassifier``.
    dtype_used_ : str
        As for ``PSKEMClassifier``.
    n_samples_seen_ : int
        Number of samples of positive weight in ``fit``, and in ``partial_fit`` since. ``from_parameters`` sets none: the
        parameters then count as one batch.
    n_components_ : int
        Number of components, fewer than ``n_components`` if ``prune`` removed some.
    n_parameters_ : int
        Number of free parameters in weights, means and covariances.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if the input has them.

    Notes
    -----
    The notes of ``PSKEMClassifier`` on unusual data apply. A fit that ends with a singular covariance warns.

    The covariance regularisation is part of the E-step as well, so that the objective does not decrease. scikit-learn adds it
    in the M-step alone. Both perform the same iterations with reg_covar=0, and almost the same with 1e-6.

    References
    ----------
    M. A. T. Figueiredo and A. K. Jain, "Unsupervised learning of finite mixture models", IEEE Trans. Pattern Analysis and Machine
    Intelligence 24, 381-396, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import GaussianMixture
    >>> X, _ = load_iris(return_X_y=True)
    >>> GaussianMixture(3, random_state=0).fit(X).weights_.round(2)
    array([0.3 , 0.33, 0.36])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [integers(1)],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "init_params": [StrOptions({*CLUSTERINGS, "sample"}), tuple, dict],
        "kmeans_iter": [integers(0)],
        "metric": [StrOptions(set(METRICS))],
        "n_init": [integers(1)],
        "max_iter": [integers(0)],
        "tol": [numbers(0)],
        "standardize": ["boolean", StrOptions({"robust"})],
        "reg_covar": [numbers(0, LARGEST_VARIANCE)],
        "variance_floor": [numbers(0, 1)],
        "prune": ["boolean"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "n_jobs": [integers(), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        init_params: str | tuple | dict = "k-means++",
        kmeans_iter: int = 10,
        metric: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        standardize: bool | str = False,
        reg_covar: float = 1e-6,
        variance_floor: float = 0.0,
        prune: bool = False,
        warm_start: bool = False,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.init_params = init_params
        self.kmeans_iter = kmeans_iter
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.variance_floor = variance_floor
        self.prune = prune
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    _device_attribute = "means_"

    @with_callbacks
    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> GaussianMixture:
        """Train by EM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples. Float32 input is computed in float32 as long as that is exact enough, see ``dtype_used_``. A
            ``numpy.memmap`` is read chunk by chunk. Dask arrays and data frames stay on their workers, and
            ``skem.datasets.ParquetRows`` are read one row group at a time. An array of another library is computed where it is,
            on a GPU for example, under scikit-learn's ``array_api_dispatch``; fitted arrays are there, too. NaN, in NumPy
            arrays, is a missing value, as is a masked entry: EM then uses the observed values, in float64 (Ghahramani and
            Jordan 1994), as if values were missing at random; initialisations replace missing values by the mean.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; a sample of weight two counts as two samples. Only their ratios matter. A sample of weight
            zero, or up to 1e-30 of the largest weight, is left out; if there are any, the others are copied.

        Returns
        -------
        self
        """
        self._validate_params()
        with fitting(self, self._max_iterations(), X, sample_weight=sample_weight) as progress:
            training = self._prepare(X, sample_weight)
            if self.max_iter:
                for _ in self._train(training, progress):
                    pass
            else:
                start = self._initial(training, training.random_states[0])[0]
                state = em.State(start, np.nan, np.nan, FLOAT64, np.nan)
                self._store(training, Iteration([state], [], [], None, True))
            self.n_samples_seen_ = training.parts.n_samples
            move_to_device_of(self, X)
        return self

    def _prepare(self, X: Any, sample_weight: Any) -> Training:
        """Check the samples; choose units and regularisation."""
        previous = self._fitted if self._is_continued() else None
        samples = training_samples(self, X, None, sample_weight, labelled=False)
        if previous is not None:
            self._check_unchanged("warm_start", samples.n_features)
        return self._training(samples, X, sample_weight, previous)

    def _training(
        self, samples: Any, X: Any, sample_weight: Any, previous: FittedMixture | None = None
    ) -> Training:
        """The fit of checked samples of ``X``; ``previous`` is the last fit if a warm start continues it."""
        if samples.n_samples < self.n_components:
            raise ValueError(
                f"n_components={self.n_components} exceeds the n_samples={samples.n_samples} samples with a weight: set "
                f"n_components to {samples.n_samples} or less"
            )
        in_memory = isinstance(samples, TrainingSamples)
        return Training.of(
            self,
            samples,
            [np.arange(samples.n_features)],
            continued=previous is not None,
            given=None if previous is None else previous.mixtures,
            labels=given_labels(self, X if in_memory else None, sample_weight) if previous is None else None,
            random_states=[check_random_state(self.random_state)] * self._n_init(),
        )

    def _initial(self, training: Training, random_state: np.random.RandomState) -> list[Mixture]:
        if training.given is not None:
            return training.to_engine(training.given)
        return [initial_mixture(self, training, random_state)]

    def _starts(self, training: Training) -> Iterator[list[Mixture]]:
        for start in super()._starts(training):
            yield start
            while self.prune and self.n_components_ > 1:
                yield [without_lightest(mixture, self.covariance_type) for mixture in self._fitted.internal()]

    def _value(self, training: Training, iteration: Iteration) -> float:
        if not self.prune:
            return super()._value(training, iteration)
        n, mixture = training.parts.total_weight, iteration.mixtures[0]
        if not admissible(self.covariance_type, n * mixture.weights[:, 0], mixture.means.shape[1]):
            return -np.inf
        return iteration.log_likelihood[-1] - 0.5 * self.n_parameters_ * np.log(n) / n

    def _max_iterations(self) -> int:
        return super()._max_iterations() * (self.n_components if self.prune else 1)

    def _store(self, training: Training, iteration: Iteration) -> None:
        super()._store(training, iteration)
        self.lower_bound_ = iteration.objective[-1] if iteration.objective else -np.inf

    def _check_unchanged(self, cause: str, n_features: int) -> None:
        """Raise ValueError if the last fit cannot be continued."""
        K, m = self._fitted.mixtures[0].means.shape
        changes = {
            "n_components": (self.n_components, max(K, self.n_components) if self.prune else K),
            "the number of features": (n_features, m),
            "covariance_type": (self.covariance_type, self._fitted.covariance_type.name),
        }
        refuse_changes(cause, changes)

    def partial_fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on one batch of samples by stepwise EM, which does not store them (Cappe and Moulines 2009).

        A batch of n samples has a share of t^-0.7 in the new parameters, where t is 1 +
        ``n_samples_seen_`` / n: the number of the batch if all have the same size. The samples of ``fit`` count as
        batches of that size. Later batches count for more. The first batch initialises EM
        as in ``fit``, unless the mixture is fitted or made from parameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A batch without missing values. The first batch determines the units, so it should resemble the others.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            As in ``fit``. The share of a batch does not depend on the sum of its weights.

        Returns
        -------
        self
            Entry t - 1 of ``log_likelihood_`` and ``objective_`` belongs to batch t under the parameters before it, so they
            measure the fit to new samples. ``n_iter_`` is the number of batches.
        """
        self._validate_params()
        if self.prune:
            raise ValueError("partial_fit: prune needs all samples at once: use fit, or set prune=False")
        with all_or_nothing(self), single_threaded():
            first = not hasattr(self, "_fitted")
            checked = check_features(self, X, reset=first)
            samples = TrainingSamples.of(checked, None, sample_weight)
            n, seen = samples.n_samples, 0
            if first:
                training = self._training(samples, X, sample_weight)
                start = self._initial(training, training.random_states[0])
            else:
                self._check_unchanged("partial_fit", samples.n_features)
                seen = getattr(self, "n_samples_seen_", n)  # given parameters count as one batch
                training = training_on(self, samples.winsorised(self._fitted.units.limits))
                start = training.to_engine(self._fitted.mixtures)
            advance(self, training, start, seen, np.ones(1))
            self.n_samples_seen_ = seen + n
        return self

    def fit_predict(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """``fit`` and ``predict`` on the same samples."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    # Given parameters

    @classmethod
    def from_parameters(
        cls,
        weights: ArrayLike,
        means: ArrayLike,
        covariances: ArrayLike,
        *,
        covariance_type: str = "full",
        **params: Any,
    ) -> Self:
        """Make a mixture from given parameters, without training.

        Parameters
        ----------
        weights : array-like of shape (n_components,)
        means : array-like of shape (n_components, n_features)
        covariances : array-like
            (K, m, m) full, (m, m) tied, (K, m) diag or (K,) spherical.
        covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        **params
            Other parameters of the class.

        Returns
        -------
        GaussianMixture
            It lacks the attributes that only a fit sets, such as ``objective_``.
        """
        model = cls(np.size(weights), covariance_type=covariance_type, **params)
        model._validate_params()
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != np.shape(means)[:1]:
            raise ValueError(
                f"weights must have shape {np.shape(means)[:1]}, one per mean, got {weights.shape}"
            )
        covariance = COVARIANCE_TYPES[model.covariance_type]
        mixture = checked_mixture((weights[:, None], means, covariances), (None, None, 1), covariance)
        model.n_components, model.n_features_in_ = mixture.means.shape
        model._fitted = FittedMixture.of_parameters(mixture, covariance, model.standardize)
        return model

    @classmethod
    def from_armadillo(cls, file: str | os.PathLike[str] | BinaryIO) -> Self:
        """Read a mixture that Armadillo's ``gmm_diag`` or ``gmm_full`` saved as binary, in double precision.

        Parameters
        ----------
        file : str, path-like or binary file object

        Returns
        -------
        GaussianMixture
            As from ``from_parameters``.
        """
        from skem.estimators._armadillo import read_armadillo

        return read_armadillo(file, cls.from_parameters)

    def _like(
        self, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray, features: Any = slice(None)
    ) -> Self:
        """A mixture of this type, of some of the features, from the covariances of its components."""
        skipped = "n_components", "init_params", "covariance_type"
        params = {name: value for name, value in self.get_params().items() if name not in skipped}
        # Parameters may have been set since the fit.
        params["covariance_type"], units = self._fitted.covariance_type.name, self._fitted.units
        if bool(self.standardize) != units.standardized:
            params["standardize"] = units.standardized
        model = self.from_parameters(weights, means, self._fitted.compressed(covariances), **params)
        if "_anchor" in vars(self):
            model._anchor = self._anchor
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_[features]
        return model

    @computed_on_host
    def marginal(self, features: ArrayLike) -> Self:
        """Return the marginal p(x_i) of the features with indices i, shape (n,), in their order.

        Returns
        -------
        GaussianMixture
            As from ``from_parameters``, with the feature names and parameters of this one, but for ``init_params``.
        """
        kept, mixture = checked_indices("features", features, self.n_features_in_), self._fitted.mixtures[0]
        covariances = self._fitted.component_covariances[:, kept]
        covariances = covariances if covariances.ndim == 2 else covariances[:, :, kept]
        return self._like(mixture.weights[:, 0], mixture.means[:, kept], covariances, kept)

    @computed_on_host
    def condition(self, features: ArrayLike, values: ArrayLike) -> Self:
        """Return the conditional p(x_h | x_o = values) of the other features.

        Parameters
        ----------
        features : array-like of int, shape (n,)
            Indices o of the known features; the others keep their order.
        values : array-like of shape (n,)

        Returns
        -------
        GaussianMixture
            As from ``from_parameters``, with the feature names and parameters of this one, but for ``init_params``.
        """
        known = checked_indices("features", features, self.n_features_in_)
        given = np.asarray(with_nan(values), dtype=np.float64)
        if given.shape != known.shape or not np.isfinite(given).all():
            raise ValueError(
                f"condition: values must be {len(known)} finite numbers, one per feature, got {values!r}"
            )
        if len(known) == self.n_features_in_:
            raise ValueError(f"condition: all {len(known)} features are given: leave out at least one")
        others = np.delete(np.arange(self.n_features_in_), known)
        return self._like(*self._fitted.conditional(known, given), others)

    @computed_on_host
    def adapt(
        self,
        X: ArrayLike,
        *,
        relevance_factor: float = 16.0,
        update: str | Sequence[str] = "means",
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Return the mixture adapted to few samples of a group: maximum a posteriori (MAP) adaptation.

        One E-step gives the expected samples n_k of each component. Its new parameters are a convex combination of those that these
        samples have, with the share n_k / (n_k + r), and its old ones (Reynolds, Quatieri and Dunn 2000, eqs. 11 to 14).
        Components without samples stay as they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of the group, without missing values; at least one.
        relevance_factor : float, default=16.0
            r > 0: number of samples of a component from which its own mean outweighs the old one. Values from 8 to 20 gave the paper
            similar results.
        update : {"weights", "means", "covariances"} or sequence of these, default="means"
            Parameters to adapt. Adapt the means alone if the group has few samples. Covariances are about the new means, or about
            the old ones if the means are not adapted.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights: a sample of weight two counts as two samples.

        Returns
        -------
        GaussianMixture
            As from ``from_parameters``, with the feature names and parameters of this one, but for ``init_params``.

        References
        ----------
        D. A. Reynolds, T. F. Quatieri and R. B. Dunn, "Speaker verification using adapted Gaussian mixture models", Digital
        Signal Processing 10, 19-41, 2000.
        """
        try:
            parts = {update} if isinstance(update, str) else {*update}
        except TypeError:  # no sequence of words
            parts = set()
        if not parts or not parts <= {*adaptation.PARTS}:
            raise ValueError(f"adapt: update must be some of {', '.join(adaptation.PARTS)}, got {update!r}")
        if not numbers(0, closed="neither").is_satisfied_by(relevance_factor) or np.isinf(relevance_factor):
            raise ValueError(f"adapt: relevance_factor must be a positive number, got {relevance_factor!r}")
        checked = check_features(self, X, reset=False)
        n_samples = float(check_weights(sample_weight, checked).sum())
        training = training_on(self, TrainingSamples.of(checked, None, sample_weight))
        with Workers(self.n_jobs) as workers, single_threaded():
            problem = replace(training, ridge=0.0).problem(0, self._fitted.internal()[0], workers)
            mixture = adaptation.adapted(problem, relevance_factor, n_samples, parts)
        adapted = training.fitted([mixture])
        return self._like(mixture.weights[:, 0], adapted.mixtures[0].means, adapted.component_covariances)

    # Fitted parameters, in input units

    weights_ = parameter("weights", "pi_k, shape (n_components,).", of_classes=False)
    means_ = parameter("means", "mu_k, shape (n_components, n_features).")
    covariances_ = parameter("covariances", "P_k, shaped by the covariance type.")

    @property
    def precisions_(self) -> np.ndarray:
        """The inverse of ``covariances_``, of the same shape."""
        check_is_fitted(self)
        covariances = self._fitted.mixtures[0].covariances
        matrices = not self._fitted.covariance_type.diagonal
        return on_device_of_fit(self, np.linalg.inv(covariances) if matrices else 1.0 / covariances)

    @property
    def n_components_(self) -> int:
        """Number of components K."""
        return len(require_fitted(self, "n_components_").mixtures[0].weights)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: weights, means and covariances."""
        check_is_fitted(self)
        return self._fitted.n_parameters

    # Densities and predictions

    @per_sample
    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) in nats, shape (n_samples,); for a sample with missing values (NaN) that of the other features."""
        return self._fitted.class_log_density(X, self.n_jobs)[:, 0]

    @per_sample
    def component_log_density(self, X: ArrayLike) -> np.ndarray:
        """log N(x; mu_k, P_k) in nats, shape (n_samples, n_components): without the weights."""
        return self._fitted.component_log_density(X, self.n_jobs)

    @per_sample
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probability of each component given the sample, Pr(z = k | x), shape (n_samples, n_components)."""
        return self._responsibilities(X)

    @per_sample
    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable component of each sample, shape (n_samples,)."""
        features: Any = X
        if features.device is not None:
            proba = self._responsibilities(X)
            return namespace_of(proba).argmax(proba, axis=1)
        result = np.empty(len(features.X), dtype=np.intp)
        log_weights = logarithms(self._fitted.mixtures[0].weights[:, 0])

        def most_probable(log_density: np.ndarray, chunk: slice) -> np.ndarray:
            labels, largest = result[chunk], np.empty(log_density.shape[1])
            compiled.kernels().most_probable(log_density, log_weights, labels, largest)
            possible(largest[None], axis=0)
            return labels

        self._fitted.fill(result, features, most_probable, self.n_jobs)
        return result

    def _responsibilities(self, features: Any) -> Any:
        """Pr(z = k | x), (n, K); on the device of the samples."""
        weights = self._fitted.mixtures[0].weights
        if features.device is not None:
            log_density = self._fitted.component_log_density(features, self.n_jobs)
            with np.errstate(divide="ignore"):
                joint = log_density + like(np.log(weights[:, 0]), log_density)
                return softmax(possible(joint, axis=1), axis=1)
        return self._fitted.responsibilities(features, lambda _: weights, self.n_jobs)

    @computed_on_host
    def impute(self, X: ArrayLike) -> np.ndarray:
        """Replace each missing value (NaN) by its mean given the observed values, E[x_h | x_o].

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            A copy; observed values stay as they are.
        """
        return self._fitted.imputed(self._features(X), self.n_jobs)

    @computed_on_host
    def assign(self, X: ArrayLike, metric: str = "probability") -> np.ndarray:
        """Assign each sample to a component; return the components, shape (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        metric : {"probability", "euclidean", "mahalanobis"}
            Rule of the assignment. "probability" is the most probable component, as ``predict``. The others take the nearest
            mean: with features as they are, or each in units of its standard deviation under the mixture (Sanderson and
            Curtin 2017, eq. 20).
        """
        if metric == "probability":
            features: Any = self._features(X)
            return self.predict(features)
        if metric not in METRICS:
            raise ValueError(
                f'assign: metric must be "probability", "euclidean" or "mahalanobis", got {metric!r}'
            )
        checked, mixture = check_features(self, X, reset=False), self._fitted.mixtures[0]
        spread = np.sqrt(self._fitted.variances)
        scale = spread if metric == "mahalanobis" else common_scale(spread)
        shift = weighted_sum(mixture.weights[:, 0], mixture.means)
        with Workers(self.n_jobs) as workers, single_threaded():
            samples = Samples(Rows(checked, None, shift, scale), np.ones(len(checked)), workers)
            return assign(samples, (mixture.means - shift) / scale)

    @computed_on_host
    def histogram(self, X: ArrayLike, metric: str = "probability", normalize: bool = False) -> np.ndarray:
        """Number of samples of each component, or with ``normalize`` their share, shape (n_components,); see ``assign``."""
        counts = np.bincount(to_numpy(self.assign(X, metric)), minlength=len(self._fitted.mixtures[0].means))
        return counts / counts.sum() if normalize else counts

    @computed_on_host
    def sample(
        self,
        n_samples: int = 1,
        *,
        component: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw samples.

        Parameters
        ----------
        n_samples : int
        component : int, optional
            Component to draw from, from 0 to n_components - 1. None draws from all, by their weights.
        random_state : int, RandomState instance or None, default=None
            None uses the random state of the estimator. Two calls with the same seed draw the same samples.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Component of each sample.
        """
        check_n_samples(n_samples)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        weights = self._fitted.mixtures[0].weights[:, 0]
        K = len(weights)
        if component is None:
            y = rng.choice(K, size=n_samples, p=weights / weights.sum())
        elif isinstance(component, Integral) and not isinstance(component, bool) and 0 <= component < K:
            y = np.full(n_samples, component, dtype=np.intp)
        else:
            raise ValueError(f"sample: component must be a whole number from 0 to {K - 1}, got {component!r}")
        return self._fitted.sample(y, 0, rng), y

    # Criteria

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The mean of log p(x) over the samples, in nats, weighted by ``sample_weight`` (n_samples,)."""
        return self._mean(X, sample_weight)[0]

    def _mean(self, X: ArrayLike, sample_weight: ArrayLike | None) -> tuple[float, np.ndarray]:
        """The weighted mean of log p(x), and the weight of each sample."""
        log_density = np.asarray(to_numpy(self.score_samples(X)))  # also of a Dask collection
        given = np.asarray(sample_weight) if is_dask(sample_weight) else to_numpy(sample_weight)
        weights = check_weights(given, log_density[:, None])
        return float(np.average(log_density, weights=mean_one(weights))), weights

    def _total(self, X: ArrayLike, sample_weight: ArrayLike | None) -> tuple[float, float]:
        """The weighted sum of log p(x), which may be infinite, and that of the weights."""
        mean, weights = self._mean(X, sample_weight)
        total = float(weights.sum())
        return mean * total, total

    def bic(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Bayesian information criterion on ``X``; lower is better.

        ``sample_weight`` (n_samples,) is the number of times that each sample counts, by default one. Weights of ``fit`` do not
        apply, and unlike there the scale of the weights matters.
        """
        log_likelihood, total = self._total(X, sample_weight)
        return float(-2 * log_likelihood + self.n_parameters_ * np.log(total))

    def aic(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Akaike information criterion on ``X``; lower is better. ``sample_weight`` is as in ``bic``."""
        return float(-2 * self._total(X, sample_weight)[0] + 2 * self.n_parameters_)
