"""PSKEM trained to decide: blocks fine-tuned for p(c|x), from a generative start."""

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
from skem.estimators._docstrings import documented
from skem.estimators._elsewhere import by_blocks
from skem.estimators._fine_tuned import FineTuned
from skem.estimators.pskem import PSKEMClassifier


@documented
class DiscriminativePSKEMClassifier(FineTuned, PSKEMClassifier):
    """PSKEM whose mixtures are fine-tuned to decide: they maximise log p(c|x), and stay mixtures.

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
        Passes of fine-tuning; 0, with ``temperature="auto"``, is ``PSKEMClassifier`` to the last bit.
    optimizer : {"ebw", "adam"}, default="ebw"
        "ebw" is extended Baum-Welch: an M-step of EM in closed form after each pass, after which the criterion is never lower.
        "adam" takes stochastic gradient steps, a batch of rows each: with many rows and blocks as good in half the time, with
        few rows too few steps. Six passes suffice.
    batch_size : int, default=500
        Rows per step of "adam".
    learning_rate : float, default=0.01
        Of "adam"; it falls to zero along half a cosine.
    feature_noise : float, default=0.0
        With "adam", the deviation of Gaussian noise added to the features, in units of each one's standard deviation.
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
        Go on with fine-tuning from the parameters of the last fit, without EM and near the same start.
    %(n_jobs)s
        Blocks share them in fine-tuning.
    %(random_state)s
        And the order of rows.

    Attributes
    ----------
    %(classes_)s
    %(class_prior_)s
    %(n_components_)s
    %(groups_)s
    %(n_blocks_)s
    %(block_indices_)s
    %(blocks_)s
        After fine-tuning.
    generative_blocks_ : list of Mixture
        The same before it: what ``score_samples`` and ``sample`` are of.
    temperature_ : float
        T.
    background_ : float
        e, the share of p(c|x) that is p(c).
    strength_ : float
        Strength of the discriminative training that was kept; infinity without any.
    conditional_log_likelihood_ : ndarray of shape (n_discriminative_iter_,)
        Mean over the rows trained on of log p(c|x) at the temperature before fine-tuning, in nats: after each pass, or with
        "adam" as its steps came to each row.
    n_discriminative_iter_ : int
        Iterations of discriminative training.
    best_discriminative_iter_ : int
        Iteration that was kept. With held-out samples it is the one with their least log-loss: of all iterations with "ebw" or
        early stopping, else of the last one and the start. 0 is the start.
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
    The gradient of log p(c|x) needs the two matrix products of EM, with responsibilities that are signed: those of the class
    of a row count 1 - p(c|x), those of the others -p(c|x). Precisions stay positive definite and weights on the simplex
    after every step. A criterion that overflows ends fine-tuning with the pass before, and a warning.

    ``class_log_density``, ``predict_joint_log_proba`` and ``responsibilities`` are of the mixtures after fine-tuning, without the
    temperature: so the softmax of ``predict_joint_log_proba`` is not ``predict_proba``. ``score_samples`` and ``sample`` are of the
    mixtures before it.

    Training has log p(x|c) / T + log p(c) as its logits: a rare class begins with little probability, and its samples with large
    gradients. Predictions divide log p(c) by T too, so that the temperature of the start moves no decision.

    It is fitted in NumPy alone: arrays on a GPU, Dask collections and files are refused. Rows with missing values count in EM
    and in the temperature; fine-tuning goes by the others, of which each class needs one.

    References
    ----------
    P. S. Gopalakrishnan, D. Kanevsky, A. Nadas and D. Nahamoo, "An inequality for rational functions with applications to some
    statistical estimation problems", IEEE Trans. Information Theory 37, 107-113, 1991. Y. Normandin, "Hidden Markov models,
    maximum mutual information estimation, and the speech recognition problem", PhD thesis, McGill University, 1991.
    D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.

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
        "optimizer": [StrOptions({"ebw", "adam"})],
        "discriminative_iter": [Interval(Integral, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
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
        optimizer: str = "ebw",
        batch_size: int = 500,
        learning_rate: float = 0.01,
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
        self.optimizer = optimizer
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
        """Train by supervised EM, then to decide.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for ``PSKEMClassifier``, but in NumPy alone. Rows that miss values (NaN) are left out of fine-tuning.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            As for ``PSKEMClassifier``, of EM, fine-tuning and temperature.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            Rows on a device, of Dask or of files.
        ValueError
            A class without a row that misses no value, or with a prior of zero where its p(c|x) is to be raised, beside
            what ``PSKEMClassifier`` refuses.
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

    # Densities of rows, which fine-tuning leaves alone

    def _before_tuning(self) -> DiscriminativePSKEMClassifier:
        check_is_fitted(self)
        model = copy(self)
        model.blocks_ = self.generative_blocks_
        return model

    @by_blocks
    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) of the mixtures before fine-tuning, shape (n_samples,)."""
        return logsumexp(self._before_tuning().predict_joint_log_proba(X), axis=1)

    def sample(
        self,
        n_samples: int = 1,
        y: ArrayLike | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the mixtures before fine-tuning, see ``PSKEMClassifier.sample``."""
        return PSKEMClassifier.sample(self._before_tuning(), n_samples, y, random_state=random_state)
