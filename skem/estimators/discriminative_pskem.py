"""PSKEM with discriminative training: EM, then the maximum of log p(c|x)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skem.estimators._calibration import tempered
from skem.estimators._classifier_files import MIXTURES
from skem.estimators._declarations import POSITIVE, Array, count, curve, flag
from skem.estimators._discriminative import DiscriminativelyTrained
from skem.estimators._docstrings import documented
from skem.estimators._out_of_core import by_blocks
from skem.estimators.pskem import PSKEMClassifier


@documented
class DiscriminativePSKEMClassifier(DiscriminativelyTrained, PSKEMClassifier):
    """PSKEM with discriminative training: its mixtures maximise log p(c|x), and remain mixtures.

    EM fits a PSKEM, from which discriminative training starts. It maximises the mean over samples of log p(c|x), less the
    divergence of the mixtures from that start.

    Predicted probabilities are p(c|x) = (1 - e) q(c|x) + e p(c), with q(c|x) in proportion to (p(c) p(x|c))^(1/T). The
    background e, about one over the number of samples, bounds the influence of a sample that lies far from all components.

    Parameters
    ----------
    %(n_components)s
        Each block has as many.
    %(n_blocks)s
    %(arrangement)s
    %(block_size)s
    %(covariance_type)s
    %(sharing)s
        Of EM alone; weights that it leaves at zero stay zero.
    %(groups)s
    %(init)s
        With several blocks, a list with one tuple per block.
    %(n_init)s
    %(init_spread)s
    %(standardize)s
    %(reg_covar)s
        Of EM alone.
    %(class_prior)s
    %(max_iter)s
        Of EM.
    %(tol)s
        Of EM.
    discriminative_iter : int, default=20
        Iterations of discriminative training; 0, with ``temperature="auto"``, is ``PSKEMClassifier`` to the last bit.
    batch_size : int or None, default=None
        Samples per step of extended Baum-Welch. None takes one step per iteration on all samples, and the objective never falls.
        Batches of 500 need three or four iterations and save time with many samples; with few samples they are too few steps.
    learning_rate : float, default=0.1
        With batches, largest step of a component, at most 0.5, see Notes. It falls to zero along half a cosine.
    feature_noise : float, default=0.0
        With batches, standard deviation of Gaussian noise added to the features, in units of each one's standard deviation.
    strength : float, "auto" or None, default=None
        Cost of a nat of divergence from the start, of the complete data given the class, over T, beside nats of log p(c|x).
        Infinity is the start itself, to the last bit, with a temperature. "auto" trains once with each of 0, 0.03 and 0.3, and
        keeps the one with the least log-loss on ``validation_fraction`` of the samples, held out. None is 0 with held-out
        samples, which limit the training, and 0.1 without any.
    smoothing : float, default=0.0
        Share of each target that is spread over all classes, in [0, 1).
    temperature : float or "auto", default="auto"
        T of the product of blocks; larger is less sure. "auto" fits it before discriminative training and after each iteration,
        on ``validation_fraction`` of the samples, held out. Where those would be fewer than 50, it is fitted on the training
        samples, not below one. A number holds out nothing by itself, and has no background.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the samples, stratified. EM stops by their accuracy, see ``PSKEMClassifier``;
        discriminative training when their log-loss has not fallen for more than ``n_iter_no_change`` iterations.
    validation_fraction : float, default=0.1
        Of the rows, for ``early_stopping`` and ``temperature``.
    %(n_iter_no_change)s
    warm_start : bool, default=False
        Continue discriminative training from the parameters of the last fit, without EM, and with its initialisation.
    %(n_jobs)s
        In discriminative training, feature blocks share them.
    %(random_state)s
        Also of the order of samples in batches.

    Attributes
    ----------
    %(classes_)s
    %(class_prior_)s
    %(n_components_)s
    %(groups_)s
    %(n_blocks_)s
    %(block_indices_)s
    %(blocks_)s
        After discriminative training.
    generative_blocks_ : list of Mixture
        Mixtures after EM, which ``score_samples`` and ``sample`` use.
    temperature_ : float
        T.
    background_ : float
        e, the share of p(c|x) that is p(c).
    strength_ : float
        Strength of the discriminative training that was kept; infinity without any.
    conditional_log_likelihood_ : ndarray of shape (n_discriminative_iter_,)
        Mean over the training samples of log p(c|x) at the temperature before discriminative training, in nats: after each
        iteration, or with batches before the step of each batch.
    n_discriminative_iter_ : int
        Iterations of discriminative training.
    best_discriminative_iter_ : int
        Iteration that was kept. With held-out samples it is the one with their least log-loss: of all iterations on all
        samples or with early stopping, else of the last one and the initialisation, which is 0.
    %(log_likelihood_)s
        Of EM.
    %(n_iter_)s
    %(best_iter_)s
    %(converged_)s
    %(dtype_used_)s
    %(validation_scores_)s
    %(n_features_in_)s

    Notes
    -----
    Extended Baum-Welch is an M-step of EM. Responsibilities are signed: a component of the class of a sample gains 1 - p(c|x), those
    of other classes lose p(c|x). To their sums are added D times the expected sums of the present mixtures. On all samples D grows
    until the objective rises. On batches each component has its own D, so that its parameters move by at most the learning rate in
    their Fisher metric. Covariances stay positive definite and weights on the simplex. An objective that overflows ends the
    training with the iteration before, and a warning.

    Batches replaced Adam on Cholesky factors: they reach its accuracy on held-out images in fewer iterations, with a log-loss that
    differs by -1% to 12%, see the user guide.

    ``class_log_density``, ``predict_joint_log_proba`` and ``responsibilities`` use the trained mixtures without the temperature, so
    the softmax of ``predict_joint_log_proba`` is not ``predict_proba``. ``score_samples`` and ``sample`` use the mixtures after EM.

    Training has log p(x|c) / T + log p(c) as its logits: a rare class begins with little probability, and its samples with large
    gradients. Predictions divide log p(c) by T too, so that the temperature of the start moves no decision.

    It is fitted in NumPy alone: arrays on a GPU, Dask collections and files are refused. Samples with missing values count in EM
    and in the temperature; discriminative training uses the others, of which each class needs one.

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
        "discriminative_iter": [Interval(Integral, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, 0.5, closed="right")],
        "strength": [Interval(Real, 0, np.inf, closed="both"), StrOptions({"auto"}), None],
        "smoothing": [Interval(Real, 0, 1, closed="left")],
        "feature_noise": [Interval(Real, 0, None, closed="left")],
        "temperature": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    }

    _saved: ClassVar[Mapping[str, Any]] = {
        **PSKEMClassifier._saved,
        "temperature_": Array(least=POSITIVE),
        "background_": Array(least=0, most=1),
        "strength_": Array(least=0, most=np.inf),
        "generative_blocks_": MIXTURES,
        "n_discriminative_iter_": count("n_discriminative_iter"),
        "best_discriminative_iter_": count(),
        "conditional_log_likelihood_": curve("n_discriminative_iter"),
        "_tuned": flag(),
    }

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | None = None,
        *,
        n_blocks: int = 1,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        block_size: int | None = None,
        covariance_type: str = "full",
        sharing: float | ArrayLike | None = None,
        groups: Sequence[Sequence[int]] | None = None,
        init: str | tuple | list | dict = "class",
        n_init: int = 1,
        init_spread: float = 2.0,
        init_scale: float = 2.0,
        standardize: bool = True,
        reg_covar: float = 0.1,
        class_prior: str | dict | ArrayLike = "empirical",
        max_iter: int = 30,
        tol: float = 0.0,
        discriminative_iter: int = 20,
        batch_size: int | None = None,
        learning_rate: float = 0.1,
        feature_noise: float = 0.0,
        strength: float | str | None = None,
        smoothing: float = 0.0,
        temperature: float | str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_components,
            n_blocks=n_blocks,
            arrangement=arrangement,
            block_size=block_size,
            covariance_type=covariance_type,
            sharing=sharing,
            groups=groups,
            init=init,
            n_init=n_init,
            init_spread=init_spread,
            init_scale=init_scale,
            standardize=standardize,
            reg_covar=reg_covar,
            class_prior=class_prior,
            max_iter=max_iter,
            tol=tol,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.discriminative_iter = discriminative_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.strength = strength
        self.smoothing = smoothing
        self.feature_noise = feature_noise
        self.temperature = temperature

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> DiscriminativePSKEMClassifier:
        """Train by supervised EM, then discriminatively.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for ``PSKEMClassifier``, but in NumPy alone. Samples with missing values (NaN) are left out of
            discriminative training.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            As for ``PSKEMClassifier``, of EM, discriminative training and temperature.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            Samples on a device, of Dask or of files.
        ValueError
            A class without a complete sample or with a prior of zero, beside the errors of ``PSKEMClassifier``.
        """
        super().fit(X, y, sample_weight)
        return self

    # Decisions

    @by_blocks
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x) of the tempered product, with its background, shape (n_samples, n_classes)."""
        return tempered(
            self.predict_joint_log_proba(X), self._log_prior(), self.temperature_, self.background_
        )

    @by_blocks
    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of largest posterior, shape (n_samples,)."""
        codes = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[codes]

    # Densities of samples, from the mixtures after EM

    def _after_em(self) -> DiscriminativePSKEMClassifier:
        check_is_fitted(self)
        model = copy(self)
        model.blocks_ = self.generative_blocks_
        return model

    @by_blocks
    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) of the mixtures after EM, shape (n_samples,)."""
        return logsumexp(self._after_em().predict_joint_log_proba(X), axis=1)

    def sample(
        self,
        n_samples: int = 1,
        y: ArrayLike | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw samples from the mixtures after EM, see ``PSKEMClassifier.sample``."""
        return PSKEMClassifier.sample(self._after_em(), n_samples, y, random_state=random_state)
