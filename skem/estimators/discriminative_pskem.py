"""PSKEM with discriminative training: EM, then the maximum of log p(c|x)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from copy import copy
from numbers import Number
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from skem.engine.parameters import Mixture
from skem.estimators._array_api import device_of
from skem.estimators._calibration import tempered
from skem.estimators._callbacks import Progress
from skem.estimators._checking import check_attribute, integers, numbers, refuse_out_of_core
from skem.estimators._discriminative import LEAST_HELD_OUT, STRENGTHS, fit_temperature, train_discriminatively
from skem.estimators._fitted import FittedMixture, require_fitted
from skem.estimators._held_out import Data, NothingToChooseError
from skem.estimators._methods import per_sample
from skem.estimators._options import DISCRIMINATIVE
from skem.estimators._paths import choose
from skem.estimators._quantiles import of_classifier
from skem.estimators._samples import TrainingSamples
from skem.estimators._sklearn import StrOptions
from skem.estimators._training import Iteration, Training, one_seed
from skem.estimators.pskem import PSKEMClassifier

SAMPLES_PER_COMPONENT = 50
"""Samples that justify each component of the larger default: with 29, the log-loss on digits is worse."""

FREE = "priors", "warm_start", "n_jobs", "random_state"
"""Parameters that a user may set without choosing the model."""

CANDIDATES: dict[str, list[Any]] = {
    "reg_covar": [0.1, 1.0],
    "covariance_type": ["tied", "full"],
    "scaling": ["robust"],
    "n_blocks": [1],
    "n_components": [],
    "training_temperature": [2.0],
}
"""Candidates of "auto", one after the other. When they were chosen, average ranks by accuracy and log-loss among 15 methods on 13 tables were
5.8 and 4.2: 7.0 and 5.1 without a ``reg_covar`` of 1, 7.3 and 5.5 without "full" besides, and 7.3 and 7.4 with one split instead of folds."""

MAX_DOUBLINGS = 5
"""Maximum number of times that the components of "auto" double."""

N_FOLDS = {3000: 3}
"""Number of five folds that "auto" holds out in turn, below a number of samples; from this number on, one is."""

LEAST_TEMPERATURE = 1e-6
"""Least temperature: log-densities divided by less may overflow."""


class DiscriminativePSKEMClassifier(PSKEMClassifier):
    """PSKEM with discriminative training: Gaussian mixtures that maximise log p(c|x).

    EM fits a PSKEM, which initialises discriminative training. The latter maximises the mean of log p(c|x) over the samples,
    minus a penalty on the divergence of the mixtures from those of EM.

    Predicted probabilities are p(c|x) = (1 - e) q(c|x) + e p(c), with q(c|x) proportional to (p(c) p(x|c))^(1/T). The
    background e, about one over the number of samples (0.001 if ``n_components`` is "auto"), bounds the influence of a sample that
    lies far from all components.

    Parameters
    ----------
    n_components : int, sequence of n_classes int, dict, "auto" or None, default="auto"
        As for ``PSKEMClassifier``. If there are 50 samples for each of them, None chooses max(30, 5 * n_classes). "auto" chooses the whole
        model if no parameter but ``priors``, ``warm_start``, ``n_jobs`` and ``random_state`` is set, else it is None. Models of one
        Gaussian per class, "tied" with a ``reg_covar`` of 0.1 or 1, then "full" with the better one, are compared by their log-loss on held-out samples: as
        linear or quadratic discriminant analysis, and after discriminative training. The components of the best double while the log-loss falls. Few samples for
        their number of features thus have a regularised linear discriminant analysis.
    n_blocks, arrangement, covariance_type, init_params, n_init, standardize
        As for ``PSKEMClassifier``.
    reg_covar : float, default=0.15
        As for ``PSKEMClassifier``. It applies to EM only.
    priors
        As for ``PSKEMClassifier``.
    max_iter : int, default=30
        As for ``PSKEMClassifier``. ``max_iter`` and ``tol`` apply to EM only.
    tol
        As for ``PSKEMClassifier``.
    discriminative_iter : int, default=20
        Number of iterations of discriminative training. 0 with ``temperature="auto"`` gives the results of
        ``PSKEMClassifier`` with the same parameters, to the last bit.
    batch_size : int or None, default=None
        Number of samples per step of extended Baum-Welch. None takes one step per iteration, on all samples, and the objective
        never decreases. Batches of 2,000 need three or four iterations, and save time if there are many samples. With
        few samples they take too few steps.
    strength : float, "auto" or None, default=None
        Weight of the divergence from the mixtures of EM, relative to log p(c|x), both in nats. The divergence is that of
        complete data given the class, divided by T. Infinity keeps the mixtures of EM, to the last bit, and fits a temperature
        only. "auto" trains once with each of 0, 0.03 and 0.3, and keeps the strength with the lowest log-loss on held-out
        samples (``validation_fraction``). None is 0 with held-out samples, which limit the training, and 0.1 without any.
    temperature : float or "auto", default="auto"
        Temperature T of the product of blocks, at least 1e-6. Larger values lower the confidence of predictions. "auto" fits T before
        discriminative training and after each iteration, on held-out samples (``validation_fraction``). If these would be
        fewer than 50, it fits T >= 1 on the training samples. A number holds out no samples by itself, and has no background.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the samples, stratified. Their accuracy ends EM, as in ``PSKEMClassifier``.
        Discriminative training ends when their log-loss has not fallen for more than ``n_iter_no_change`` iterations.
    warm_start : bool, default=False
        Continue discriminative training from the parameters of the last fit, without EM, and with what "auto" chose. The divergence
        remains that from the last mixtures of EM; if components have doubled since, it is that from the last fit, and they do not
        double again.
    options : dict or None, default=None
        As for ``PSKEMClassifier``. ``sharing`` applies to EM only; weights that EM leaves at zero stay zero. ``strength`` and ``temperature`` use the samples
        of ``validation_fraction``. Further names:

        - ``n_doublings``: number of times that discriminative training splits each component in two, each time after ``discriminative_iter``
          iterations. The training ends with ``2**n_doublings`` times the components of EM, and ``strength`` weights the
          divergence from the mixtures of the last split.
        - ``learning_rate``: largest step of a component with batches, at most 0.5 (see Notes). It falls to zero along half a cosine.
        - ``smoothing``: share of each target that is spread over all classes, in [0, 1).
        - ``training_temperature``: temperature during discriminative training. None is the temperature after EM, or before the last split. A larger one is a
          regularisation: more samples have an influence.
        - ``background``: background e of predicted probabilities. None is 0 for a number as ``temperature``; else about one over the number of
          samples, or 0.001 without held-out samples.
    n_jobs : int or None, default=None
        As for ``PSKEMClassifier``. Discriminative training has at most one thread per feature block.
    random_state : int, RandomState instance or None, default=None
        As for ``PSKEMClassifier``. It also determines the order of samples in batches.

    Attributes
    ----------
    classes_, class_count_, priors_, n_components_, groups_, n_blocks_, block_indices_
        As for ``PSKEMClassifier``.
    best_params_ : dict
        Parameters that "auto" chose, which have the same fit to the last bit. Set if it chose the whole model.
    blocks_ : tuple of Mixture
        As for ``PSKEMClassifier``. These are the mixtures after discriminative training.
    generative_blocks_ : tuple of Mixture
        Mixtures after EM, which ``score_samples`` and ``sample`` use.
    temperature_ : float
        Temperature T.
    background_ : float
        Background e, the share of p(c) in p(c|x).
    strength_ : float
        Strength of the discriminative training that was kept; infinity without any.
    conditional_log_likelihood_ : ndarray of shape (n_discriminative_iter_,)
        Mean of log p(c|x) over the training samples, in nats, at the temperature of training. It is computed after each
        iteration, or with batches before the step of each batch.
    n_discriminative_iter_ : int
        Number of iterations of discriminative training.
    best_discriminative_iter_ : int
        Iteration of the fitted parameters. With held-out samples it has the lowest log-loss on them: among all iterations
        without batches or with early stopping, else among the last iteration and the initialisation, which is 0.
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        As for ``PSKEMClassifier``. They are those of EM.
    n_iter_, best_iter_, converged_, dtype_used_, validation_scores_, best_validation_score_, n_features_in_, feature_names_in_
        As for ``PSKEMClassifier``.

    Notes
    -----
    Extended Baum-Welch is an M-step of EM with signed responsibilities: a component of the class of a sample gains 1 - p(c|x),
    and those of other classes lose p(c|x). D times the expected sums of the current mixtures are added to their sums. On all
    samples, D grows until the objective increases. On batches, each component has its own D, so that its parameters move by at
    most the learning rate in their Fisher metric. Covariances stay positive definite and weights on the simplex. If the
    objective overflows, training warns and returns to the iteration before.

    Batches replaced Adam on Cholesky factors. They reach its accuracy on held-out images in fewer iterations, with a log-loss
    that differs by -1% to 12%; see the user guide.

    ``class_log_density`` and ``responsibilities`` use the trained mixtures without temperature and background.
    ``predict_joint_log_proba`` is log p(x) of these mixtures plus log p(c|x), so that its softmax is ``predict_proba``.
    ``score_samples`` and ``sample`` use the mixtures after EM.

    The logits of training are log p(x|c) / T + log p(c): a rare class begins with a low probability, and its samples have large
    gradients. Predictions divide log p(c) by T as well, so that the initial temperature changes no decision.

    Training requires NumPy arrays: arrays on a GPU, Dask collections and files raise errors. EM, discriminative training and
    temperature use ``sample_weight``; the prior of the temperature, the background and the folds of "auto" count samples, whatever their weights. A class
    with a prior of zero raises an error. EM and temperature use samples
    with missing values. Discriminative training uses complete samples. In a class that has none, each missing
    value is taken from some sample of any class.

    References
    ----------
    P. S. Gopalakrishnan, D. Kanevsky, A. Nadas and D. Nahamoo, "An inequality for rational functions with applications to some
    statistical estimation problems", IEEE Trans. Information Theory 37, 107-113, 1991. Y. Normandin, "Hidden Markov models,
    maximum mutual information estimation, and the speech recognition problem", PhD thesis, McGill University, 1991.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skem import DiscriminativePSKEMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DiscriminativePSKEMClassifier(max_iter=5, random_state=0).fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PSKEMClassifier._parameter_constraints,
        "n_components": [*PSKEMClassifier._parameter_constraints["n_components"], StrOptions({"auto"})],
        "discriminative_iter": [integers(0)],
        "n_doublings": [integers(0)],
        "batch_size": [integers(1), None],
        "learning_rate": [numbers(0, 0.5, closed="right")],
        "strength": [numbers(0, np.inf, closed="both"), StrOptions({"auto"}), None],
        "smoothing": [numbers(0, 1)],
        "temperature": [StrOptions({"auto"}), numbers(LEAST_TEMPERATURE)],
        "training_temperature": [numbers(LEAST_TEMPERATURE), None],
        "background": [numbers(0, 1), None],
    }

    _OPTIONS: ClassVar[dict[str, Any]] = DISCRIMINATIVE

    _no_batches = "discriminative training needs all samples at once"

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | str | None = "auto",
        *,
        n_blocks: int = 1,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        covariance_type: str = "full",
        init_params: str | tuple | list | dict = "class",
        n_init: int = 1,
        standardize: bool | str = "robust",
        reg_covar: float = 0.15,
        priors: str | dict | ArrayLike = "empirical",
        max_iter: int = 30,
        tol: float = 0.0,
        discriminative_iter: int = 20,
        batch_size: int | None = None,
        strength: float | str | None = None,
        temperature: float | str = "auto",
        early_stopping: bool = False,
        warm_start: bool = False,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_components,  # type: ignore[arg-type]
            n_blocks=n_blocks,
            arrangement=arrangement,
            covariance_type=covariance_type,
            init_params=init_params,
            n_init=n_init,
            standardize=standardize,
            reg_covar=reg_covar,
            priors=priors,
            max_iter=max_iter,
            tol=tol,
            early_stopping=early_stopping,
            warm_start=warm_start,
            options=options,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.discriminative_iter = discriminative_iter
        self.batch_size = batch_size
        self.strength = strength
        self.temperature = temperature

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags

    # Training

    _generative: FittedMixture
    best_params_: dict[str, Any]

    def _is_unset(self) -> bool:
        """True if the parameters that "auto" chooses have their defaults; 0 is 0.0, and {} as options None."""
        given, defaults = (
            model.get_params(deep=False) | {"options": model.options or None}
            for model in (self, type(self)())
        )
        return all(
            given[name] == value if isinstance(given[name], Number) else str(given[name]) == str(value)
            for name, value in defaults.items()
            if name not in FREE
        )

    def _choose(self, data: Data) -> dict[str, Any]:
        """Parameters with the least log-loss of held-out samples; none if there is nothing to choose."""
        unset = type(self)(None, priors=self.priors, random_state=one_seed(None, self.random_state))
        try:
            choice = choose(
                unset,
                data,
                lambda first, _: CANDIDATES | {"n_components": [len(first.classes_)]},
                max_doublings=MAX_DOUBLINGS,
                n_folds=N_FOLDS,
                n_jobs=self.n_jobs,
                progress=Progress(),
            )
        except NothingToChooseError:
            return {}
        return of_classifier(choice.params)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Training:
        refuse_out_of_core(self, X)
        if not isinstance(X, TrainingSamples) and device_of(X) is not None:
            raise TypeError(f"{type(self).__name__} is computed in NumPy alone: give a NumPy array")
        last = self.__dict__.pop("best_params_", None)
        if not isinstance(self.n_components, str):
            return super()._prepare(X, y, sample_weight)
        chosen, is_unset = {"n_components": None}, self._is_unset()
        if is_unset and last and self._is_continued():
            chosen = last
        elif is_unset:
            chosen = self._choose(Data(X, y, sample_weight)) or chosen
        # Training reads the parameters of a copy, so those of this model stay as they are. Everything else is that of the copy.
        given, training = (
            self.get_params(deep=False),
            copy(self).set_params(**chosen)._prepare(X, y, sample_weight),
        )
        vars(self).clear()
        vars(self).update(vars(training.model), **given)
        if is_unset:
            self.best_params_ = chosen
        return training

    def _trains_discriminatively(self) -> bool:
        return self.discriminative_iter > 0 and self.strength != np.inf

    def _strengths(self) -> tuple[float | None, ...]:
        """Strengths to try in turn; none without discriminative training."""
        if not self._trains_discriminatively():
            return ()
        return STRENGTHS if isinstance(self.strength, str) else (self.strength,)

    def _given_temperature(self) -> float:
        """The temperature until one is fitted."""
        # The least temperature in float32 rounds to less.
        return 1.0 if self.temperature == "auto" else max(float(self.temperature), LEAST_TEMPERATURE)

    def _fits_temperature(self) -> bool:
        return self.discriminative_iter > 0 and self.temperature == "auto"

    def _holds_out(self, codes: np.ndarray) -> bool:
        if super()._holds_out(codes) or len(self._strengths()) > 1:
            return True
        n_held_out = self._option("validation_fraction") * len(codes)
        return self._fits_temperature() and n_held_out >= max(LEAST_HELD_OUT, len(self.classes_))

    def _default_components(self, n_samples: int) -> int:
        larger = max(30, 5 * len(self.classes_))
        return (
            larger if n_samples >= SAMPLES_PER_COMPONENT * larger else super()._default_components(n_samples)
        )

    def _runs_em(self) -> bool:
        """False if a warm start continues discriminative training."""
        return not (self._is_continued() and self._trains_discriminatively())

    def _max_iterations(self) -> int:
        em_iterations = super()._max_iterations() if self._runs_em() else 0
        return (
            em_iterations
            + len(self._strengths()) * (self._option("n_doublings") + 1) * self.discriminative_iter
        )

    def _resolve_priors(self, shares: np.ndarray) -> np.ndarray:
        prior = super()._resolve_priors(shares)
        if self._trains_discriminatively() and not prior.all():
            raise ValueError(
                f"priors of class {self.classes_.tolist()[prior.argmin()]!r} is zero, so discriminative "
                "training cannot raise p(c|x) of its samples: set discriminative_iter=0, or leave its samples out"
            )
        return prior

    def _store(self, training: Training, iteration: Iteration) -> None:
        """Set the fitted attributes of an iteration of EM."""
        super()._store(training, iteration)
        self._generative = self._fitted
        self.temperature_ = training.model._given_temperature()
        self.background_, self.strength_ = 0.0, np.inf
        self.n_discriminative_iter_ = self.best_discriminative_iter_ = 0
        self.conditional_log_likelihood_ = np.empty(0)

    def _train(
        self, training: Training, progress: Progress, *, eager: bool = False
    ) -> Generator[Any, bool | None, bool]:
        stopped = False
        if training.model._runs_em():
            stopped = yield from super()._train(training, progress, eager=eager)
            self._generative = self._fitted  # of the best iteration
        else:  # The training samples, and with them the units, may be others.
            # Balls in units of other scales are none in these.
            self._fitted = training.fitted(training.to_engine(self._fitted.mixtures))
            if training.parts.dtype == np.float64:
                self.dtype_used_ = "float64"
        fit_temperature(self, training)
        if not stopped:
            yield from train_discriminatively(self, training, progress)
        return stopped

    @property
    def generative_blocks_(self) -> tuple[Mixture, ...]:
        """Mixture of each feature block after EM."""
        require_fitted(self, "generative_blocks_")
        return self._generative.mixtures

    # Decisions

    @per_sample
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x) of the tempered product, with its background, shape (n_samples, n_classes)."""
        return self._tempered(self._limited_joint(X))

    @per_sample
    def predict_joint_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(x) of the trained mixtures plus log p(c|x) as predicted, shape (n_samples, n_classes)."""
        log_joint = self._limited_joint(X)
        if self.temperature_ == 1.0 and not self.background_:
            return log_joint
        return logsumexp(log_joint, axis=1, keepdims=True) + self._tempered(log_joint)

    def _tempered(self, log_joint: np.ndarray) -> np.ndarray:
        check_attribute("temperature_", self.temperature_, least=LEAST_TEMPERATURE)
        check_attribute("background_", self.background_, least=0, most=1)
        return tempered(log_joint, self._log_prior(), self.temperature_, self.background_)

    @per_sample
    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of largest posterior, shape (n_samples,)."""
        codes = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def _density(self) -> FittedMixture:
        """The mixtures after EM."""
        return self._generative
