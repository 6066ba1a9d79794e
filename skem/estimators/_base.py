"""The base class of the shared-kernel classifiers: training and predictions."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from skem.engine import partition
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.given_start import checked_array
from skem.engine.masked import refuse_masked
from skem.engine.parameters import Mixture
from skem.estimators._array_api import (
    labels_of,
    like,
    move_to_device_of,
    namespace_of,
    on_device_of_fit,
    to_numpy,
)
from skem.estimators._batches import BatchesMixin
from skem.estimators._callbacks import Progress, all_or_nothing, fitting, with_callbacks
from skem.estimators._checking import (
    LARGEST_VARIANCE,
    check_n_samples,
    integers,
    is_dask,
    numbers,
    refuse_device,
    refuse_missing_labels,
)
from skem.estimators._components import (
    INITIALISATIONS,
    allocate,
    initial_mixtures,
    numbers_per_class,
)
from skem.estimators._fitted import FittedMixture, checked_replacement, possible, require_fitted
from skem.estimators._log_odds import log_odds
from skem.estimators._methods import computed_on_host, per_sample
from skem.estimators._options import SHARED_KERNEL
from skem.estimators._samples import TrainingSamples, training_samples
from skem.estimators._sklearn import StrOptions, validate_parameter_constraints
from skem.estimators._training import Iteration, MixtureEstimator, Training, parameter, refuse_changes, seeds


class SharedKernelClassifier(ClassifierMixin, BatchesMixin, MixtureEstimator):
    """Classifier with one shared-kernel mixture per feature block."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [integers(1), "array-like", dict, None],
        "n_blocks": [integers(1)],
        "block_size": [integers(1), None],
        "arrangement": [StrOptions(set(partition.ARRANGEMENTS)), list, tuple, np.ndarray],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "init_params": [StrOptions(set(INITIALISATIONS)), list, tuple, dict],
        "n_init": [integers(1)],
        "init_spread": [numbers(0)],
        "init_scale": [numbers(0, closed="neither")],
        "standardize": ["boolean", StrOptions({"robust"})],
        "reg_covar": [numbers(0, LARGEST_VARIANCE)],
        "priors": [StrOptions({"uniform", "empirical"}), "array-like", dict],
        "max_iter": [integers(1)],
        "tol": [numbers(0)],
        "early_stopping": ["boolean"],
        "validation_fraction": [numbers(0, 1, closed="neither")],
        "n_iter_no_change": [integers(1)],
        "warm_start": ["boolean"],
        "sharing": [numbers(-np.inf), "array-like", None],
        "variance_floor": [numbers(0, LARGEST_VARIANCE)],
        "options": [dict, None],
        "n_jobs": [integers(), None],
        "random_state": ["random_state"],
    }

    # Parameters that not all of the classifiers have.
    n_blocks = 1
    arrangement: str | Sequence[Sequence[int]] = "sequential"
    covariance_type = "full"
    variance_floor = 0.0

    _OPTIONS: ClassVar[dict[str, Any]] = SHARED_KERNEL
    _empty_rows = True

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | None = None,
        *,
        n_blocks: int = 1,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        covariance_type: str = "full",
        init_params: str | tuple | list | dict = "class",
        n_init: int = 1,
        standardize: bool | str = True,
        reg_covar: float = 0.1,
        priors: str | dict | ArrayLike = "empirical",
        max_iter: int = 30,
        tol: float = 0.0,
        early_stopping: bool = False,
        warm_start: bool = False,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.arrangement = arrangement
        self.covariance_type = covariance_type
        self.init_params = init_params
        self.n_init = n_init
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.priors = priors
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _option(self, name: str) -> Any:
        """A rarely needed parameter: in the signature of some classes, among the ``options`` of others."""
        if name in vars(self):
            return vars(self)[name]
        return (self._OPTIONS | (self.options or {}))[name]

    def _validate_params(self) -> None:
        super()._validate_params()
        owner, options = type(self).__name__, self.options or {}
        known = [name for name in self._OPTIONS if name not in vars(self)]
        for name in options:
            if name not in known:
                raise ValueError(f"options of {owner} has no {name!r}; it may hold {', '.join(known)}")
        validate_parameter_constraints(self._parameter_constraints, options, caller_name=f"{owner}(options)")

    _device_attribute = "priors_"

    # Training

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SharedKernelClassifier:
        """Train by supervised EM (Pulford 2022, eqs. 15-18; eq. 32 for one covariance).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples. The computation is in float32 if they are and rounding allows it, see ``dtype_used_``.

            - NaN and masked entries in NumPy arrays are missing values. EM then maximises the likelihood of the observed
              values, in float64 (Ghahramani and Jordan 1994). Values must be missing at random.
            - A ``numpy.memmap`` is read chunk by chunk.
            - Dask collections stay on their workers, and ``skem.datasets.ParquetRows`` are read one row group at a time.
            - Arrays of other libraries stay on their device under scikit-learn's ``array_api_dispatch``, as do fitted arrays.

            ``DiscriminativePSKEMClassifier`` takes NumPy arrays only.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes. For Dask collections and files, a column of theirs or an array.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights. A sample of weight two counts as two samples, and only ratios matter. Samples of at most
            1e-30 of the largest weight are left out, and a class without other samples is not in ``classes_``.

        Returns
        -------
        self
        """
        self._validate_params()
        with fitting(self, self._max_iterations(), X, y, sample_weight) as progress:
            training = self._prepare(X, y, sample_weight)
            for _ in self._train(training, progress):
                pass
            move_to_device_of(self, X)
        return self

    def fit_iterations(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Generator[SharedKernelClassifier, bool | None, None]:
        """Fit, and yield the estimator after each iteration, ready to predict. Use it for learning curves.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Yields
        ------
        self
            Estimator after the iterations so far. Sending True into the generator ends the fit. With several
            initialisations (``n_init``) their iterations follow one another, and ``n_iter_`` begins at one with each. At the
            end, the estimator is that of the best initialisation.
        """
        refuse_device(self, X)
        self._validate_params()
        with all_or_nothing(self):
            training = self._prepare(X, y, sample_weight)
            move_to_device_of(self, X)
            yield from self._train(training, Progress(), eager=True)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Check the samples; choose classes, priors, feature blocks, units and components."""
        random_states = [np.random.RandomState(seed) for seed in seeds(self.random_state, self._n_init() - 1)]
        random_states.insert(0, check_random_state(self.random_state))
        samples = X
        if not isinstance(X, TrainingSamples):  # A search checks its samples once.
            samples = training_samples(self, X, y, sample_weight, labelled=True)
        previous = self._fitted if self._is_continued() else None
        if previous is not None:
            self._check_unchanged("warm_start", samples)
        if len(samples.classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, and the samples with a weight are of one class only: "
                f"{samples.classes.tolist()[0]!r}"
            )
        if self.early_stopping and not isinstance(samples, TrainingSamples):
            raise ValueError(
                f"early_stopping=True holds out samples of arrays in memory only, and X is a {type(X).__name__}: set "
                "early_stopping=False, and tol to stop by the training samples"
            )
        self._set_classes(samples.classes, samples.class_weights(), samples.total_weight())
        return self._with_components(samples, previous, random_states)

    def _set_classes(self, classes: np.ndarray, count: np.ndarray, total: float) -> None:
        """Set the classes, their weighted numbers of samples (L,), which sum to ``total``, and their prior."""
        self.classes_, self.class_count_ = classes, count
        self.priors_ = self._resolve_priors(count / total)

    def _with_components(
        self, samples: Any, previous: FittedMixture | None, random_states: list[np.random.RandomState]
    ) -> Training:
        """Choose feature blocks, units and components; ``previous`` is the last fit if a warm start continues it."""
        if previous is None:
            options = self.n_blocks, self.arrangement, random_states[0], self._option("block_size")
            columns: Sequence[np.ndarray] = partition.blocks(samples.n_features, *options)
        else:
            columns = previous.columns
        held_out = None
        if isinstance(samples, TrainingSamples):
            if self._holds_out(samples.codes):
                samples, held_out = samples.split(self._option("validation_fraction"), random_states[0])
            samples = samples.known_in_each_class()
        training = Training.of(
            self,
            samples,
            columns,
            held_out=held_out,
            continued=previous is not None,
            random_states=random_states,
        )
        K, groups, log_sharing, given = allocate(self, training.parts, columns, previous)
        for name in ("groups_", "validation_scores_", "best_validation_score_"):
            self.__dict__.pop(name, None)
        self.n_blocks_, self.n_components_ = len(columns), K
        if groups is not None:
            self.groups_ = groups
        if previous is None:
            self._fitted_with = self._structure() | {"n_components": self._requested_components()}
        return replace(training, log_sharing=log_sharing, given=given)

    def _initial(self, training: Training, random_state: np.random.RandomState) -> list[Mixture]:
        return initial_mixtures(training, random_state)

    def _store(self, training: Training, iteration: Iteration) -> None:
        super()._store(training, iteration)
        self.best_iter_ = self.n_iter_

    def _holds_out(self, codes: np.ndarray) -> bool:
        """True if some of the samples, of these classes, are held out."""
        return self.early_stopping

    def _structure(self) -> dict[str, str]:
        """The parameters that a warm start cannot change."""
        values = {name: getattr(self, name) for name in ("covariance_type", "n_blocks", "arrangement")}
        values["block_size"] = self._option("block_size")
        with np.printoptions(threshold=sys.maxsize):  # all indices of an arrangement
            return {name: str(value) for name, value in values.items()}

    def _default_components(self, n_samples: int) -> int:
        """``n_components`` if it is None."""
        return max(20, 3 * len(self.classes_))

    def _requested_components(self, classes: np.ndarray | None = None) -> str:
        """``n_components``, equal for a dictionary, a sequence and NumPy integers of the same meaning."""
        classes = self.classes_ if classes is None else classes
        return str(numbers_per_class(self, classes) or self.n_components or self.n_components_)

    def _check_unchanged(self, cause: str, samples: Any = None) -> None:
        """Raise ValueError if the last fit cannot be continued with all ``samples``, or on a batch if there are none."""
        changes: dict[str, tuple[Any, Any]] = {
            name: (now, self._fitted_with[name]) for name, now in self._structure().items()
        }
        if samples is not None:
            changes["classes"] = samples.classes.tolist(), self.classes_.tolist()
            changes["the number of features"] = samples.n_features, len(self._fitted.units.shift)
        if isinstance(self.n_components, Integral) or (samples is not None and self.n_components is not None):
            before = self._fitted_with.get("n_components", str(self.n_components_))
            classes = self.classes_ if samples is None else samples.classes
            changes["n_components"] = self._requested_components(classes), before
        refuse_changes(cause, changes)

    def _resolve_priors(self, shares: np.ndarray) -> np.ndarray:
        """p(c), (L,), for the shares of the classes in the weighted samples."""
        n_classes = len(self.classes_)
        if isinstance(self.priors, str):
            return np.full(n_classes, 1.0 / n_classes) if self.priors == "uniform" else shares
        given, order = to_numpy(self.priors), "in the order of classes_"
        if isinstance(given, dict):
            labels, order = self.classes_.tolist(), "one for each label"
            if {*given} != {*labels}:
                raise ValueError(
                    f"priors has probabilities for {list(given)}: give one for each of the classes {labels}, even if it is 0"
                )
            given = [given[label] for label in labels]
        refuse_masked("priors", given)
        try:
            prior = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):  # words
            prior = np.empty(0)
        if prior.shape != (n_classes,) or not (prior >= 0).all() or not np.isclose(prior.sum(), 1.0):
            raise ValueError(
                f"priors must be {n_classes} non-negative numbers that sum to one, {order}; "
                f"got {self.priors!r}"
            )
        return prior / prior.sum()

    # Fitted parameters, in input units

    @property
    def blocks_(self) -> tuple[Mixture, ...]:
        """Mixture of each feature block."""
        return on_device_of_fit(self, require_fitted(self, "blocks_").mixtures)

    @blocks_.setter
    def blocks_(self, mixtures: Sequence[Mixture]) -> None:
        fitted = require_fitted(self, "blocks_")
        self._fitted = checked_replacement(fitted, mixtures=tuple(to_numpy(list(mixtures))))

    @property
    def block_indices_(self) -> tuple[np.ndarray, ...]:
        """Features of each block."""
        return on_device_of_fit(self, require_fitted(self, "block_indices_").columns)

    weights_ = parameter("weights", "pi_kc, shape (n_components, n_classes); for a model with one block.")
    means_ = parameter("means", "mu_k, shape (n_components, n_features); for a model with one block.")
    covariances_ = parameter("covariances", "P_k, shaped by the covariance type; for a model with one block.")

    # Densities and predictions

    @per_sample
    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """log p(x|c), summed over blocks (Pulford 2022, eqs. 1 and 36).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. NaN is a missing value: the result is then the marginal density of the other features, and 0 for a
            sample without any value.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log-densities in nats, per unit of volume in input units.
        """
        return self._fitted.class_log_density(X, self.n_jobs)

    @per_sample
    def predict_joint_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(x, c) = log p(x|c) + log of the class prior, shape (n_samples, n_classes), which all predictions are made from.

        With ``standardize="robust"`` it is that of the samples with their values moved between the limits of training.
        ``class_log_density`` and ``score_samples`` are of the samples as given, so that outliers stay visible.

        Raises
        ------
        ValueError
            A sample so far away that its density is zero under every class, also from predictions.
        """
        return self._limited_joint(X)

    def _limited_joint(self, X: Any) -> Any:
        """log p(x, c) of samples with their values between the limits of training."""
        return possible(self._joint(self._fitted.winsorised(X), self._fitted), axis=1)

    def _joint(self, X: Any, mixtures: FittedMixture) -> Any:
        """log p(x, c) of samples as given."""
        log_density = mixtures.class_log_density(mixtures.in_units(X), self.n_jobs)
        return log_density + like(self._log_prior(), log_density)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of the predictions for ``X``, weighted by ``sample_weight`` (n_samples,)."""
        if not is_dask(X):
            return super().score(X, y, sample_weight)
        from sklearn.metrics import accuracy_score

        weights = None if sample_weight is None else np.ravel(sample_weight)
        return float(accuracy_score(np.ravel(y), np.asarray(self.predict(X)), sample_weight=weights))

    def _density(self) -> FittedMixture:
        """The mixtures of ``score_samples`` and ``sample``."""
        return self._fitted

    def _prior(self) -> np.ndarray:
        """``priors_``, (L,), as fitted or assigned."""
        prior = checked_array("priors_", to_numpy(self.priors_), (len(self.classes_),))
        if not (prior >= 0).all() or not np.isclose(prior.sum(), 1.0):
            raise ValueError(f"priors_ must be non-negative and sum to one, got {prior}")
        return prior

    def _log_prior(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self._prior())

    @per_sample
    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) over all classes, in nats, shape (n_samples,). Low values mean samples unlike the training data."""
        return logsumexp(self._joint(X, self._density()), axis=1)

    @per_sample
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x), shape (n_samples, n_classes)."""
        return log_softmax(self.predict_joint_log_proba(X), axis=1)

    @per_sample
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """p(c|x), shape (n_samples, n_classes). With several feature blocks the probabilities are overconfident."""
        log_proba = self.predict_log_proba(X)
        return namespace_of(log_proba).exp(log_proba)

    @per_sample
    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of largest posterior (Pulford 2022, eqs. 33 and 34), shape (n_samples,)."""
        joint = self.predict_joint_log_proba(X)
        return labels_of(self.classes_, namespace_of(joint).argmax(joint, axis=1))

    @per_sample
    def decision_function(self, X: ArrayLike) -> Any:
        """Log-odds log p(c|x) - log(1 - p(c|x)) in nats. They order samples as probabilities do, without ties.

        Probabilities round to one if the log-odds exceed 36. Log-odds d beyond 36 become 36 + log(1 + d - 36): the order of
        samples remains, and a few extreme samples do not dominate a calibration.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            For two classes, the log-odds of ``classes_[1]``.
        """
        return log_odds(self.predict_log_proba(X))

    @computed_on_host
    def responsibilities(self, X: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        """Probability of each component given the sample and its class, Pr(z = k | x, c) (Pulford 2022, eq. 15).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,), optional
            Classes of the samples; without them the result is Pr(z = k | x), averaged over classes by the class prior.

        Returns
        -------
        ndarray of shape (n_blocks, n_samples, n_components)
            Probabilities, which sum to one over the components.
        """
        features = self._features(X)
        codes = None if y is None else self._encode(y, len(features.X))
        prior = self._prior()[:, None]
        per_block = []
        for r, mixture in enumerate(self._fitted.mixtures):

            def weights(chunk: slice, of_classes: np.ndarray = mixture.weights) -> np.ndarray:
                return of_classes @ prior if codes is None else of_classes[:, codes[chunk]]

            per_block.append(self._fitted.responsibilities(features, weights, self.n_jobs, block=r))
        return np.stack(per_block)

    def _encode(self, y: ArrayLike, n: int) -> np.ndarray:
        """Indices of the classes of labels ``y`` (n,)."""
        refuse_missing_labels(y)
        y = np.asarray(y)
        if y.shape != (n,):
            raise ValueError(f"y must have shape ({n},), got {y.shape}")
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has the classes {unknown.tolist()}, which were not in the training data; the classes are "
                f"{self.classes_.tolist()}"
            )
        return np.searchsorted(self.classes_, y)

    @computed_on_host
    def sample(
        self,
        n_samples: int = 1,
        y: ArrayLike | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw random samples of the classes. Feature blocks are drawn independently (Pulford 2022, eq. 35).

        Parameters
        ----------
        n_samples : int
            Number of samples; unused if ``y`` has several labels.
        y : array-like of shape (n_samples,) or one label, optional
            Class of each sample, or one class for all samples. By default classes are drawn from the class prior.
        random_state : int, RandomState instance or None, default=None
            Seed; None uses that of the estimator. Two calls with the same seed draw the same samples.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Samples, in input units.
        y : ndarray of shape (n_samples,)
            Their classes.

        Raises
        ------
        ValueError
            Blocks overlap or leave features out, so that they define no distribution of all features.
        """
        fitted = self._density()
        features = np.concatenate(fitted.columns)
        if len(features) != self.n_features_in_ or len(np.unique(features)) != self.n_features_in_:
            raise ValueError(
                "sample: block_indices_ has features in several blocks or in none, which defines no distribution of all "
                "features: fit with an arrangement that is a partition"
            )
        rng = check_random_state(self.random_state if random_state is None else random_state)
        if y is None or np.ndim(y) == 0:
            check_n_samples(n_samples)
        if y is None:
            codes = rng.choice(len(self.classes_), size=n_samples, p=self._prior())
        else:
            labels: Any = np.full(n_samples, y) if np.ndim(y) == 0 else y
            codes = self._encode(labels, len(labels))
        X = np.empty((len(codes), self.n_features_in_))
        for r, (columns, mixture) in enumerate(zip(fitted.columns, fitted.mixtures, strict=True)):
            edges = np.cumsum(mixture.weights, axis=0)
            edges /= edges[-1]
            components = (rng.uniform(size=len(codes)) >= edges[:, codes]).sum(axis=0)
            X[:, columns] = fitted.sample(components, r, rng)
        return X, self.classes_[codes]
