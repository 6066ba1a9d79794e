"""Choice of all parameters of discriminative training by the log-loss of held-out samples after training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from skem.estimators._callbacks import Progress
from skem.estimators._checking import integers, refuse_out_of_core
from skem.estimators._held_out import Data
from skem.estimators._paths import PER_COMPONENT, choose
from skem.estimators._quantiles import STANDARDIZE, of_classifier, scaled_classifier
from skem.estimators._search import Search, candidates, refuse_init_arrays
from skem.estimators._sklearn import StrOptions
from skem.estimators.discriminative_pskem import DiscriminativePSKEMClassifier

CONSTRAINTS = DiscriminativePSKEMClassifier._parameter_constraints

PER_CLASS = (1, 4, 16)
"""Default components per class in EM. More grow by doubling, so these are three different initialisations of the growth."""

N_FOLDS = {1000: 5, 3000: 3}
"""Number of five folds that are held out in turn, below a number of samples; from the last number on, one is. A search
that abandons candidates that seem worse on the first one or two of five takes half the time; its log-loss is higher by 0.004 (12 tables)."""


class DiscriminativePSKEMClassifierCV(Search, ClassifierMixin, BaseEstimator):
    """``DiscriminativePSKEMClassifier`` whose parameters minimise the held-out log-loss after discriminative training.

    Each parameter below is varied in turn, from the best configuration so far; its first candidate is the initial one. Models of
    a configuration are trained by EM, then discriminatively in two stages, between which their components double. The best
    configuration is trained further, with twice the components in each stage, until the log-loss rises. Mixtures after EM are
    candidates, too. The temperature minimises the log-loss of all held-out samples, and costs no training samples.

    Parameters
    ----------
    estimator : DiscriminativePSKEMClassifier or None, default=None
        Model to fit; None is ``DiscriminativePSKEMClassifier()``. The search sets the parameters in ``best_params_``. ``init_params``
        must be a string, and the option ``sharing`` None. With its ``discriminative_iter=0`` all models are trained by EM alone.
    covariance_type : str or sequence of str, default=('full', 'tied')
        Candidates for the structure of the covariances.
    scaling : {"standard", "robust", "quantile"} or sequence of these, default=('robust', 'standard', 'quantile')
        Candidates for the scale of the features. "standard" is ``standardize=True`` of the estimator, and "robust" limits
        outliers. "quantile" maps the quantiles of each feature to those of a normal distribution, for outliers and skewed
        features. Densities are then those of the transformed features. Fits with sample weights leave out "quantile"; if it is the
        only candidate, "robust" replaces it.
    reg_covar : float or sequence of float, default=(0.1, 0.01, 1.0)
        Candidates for the covariance regularisation.
    n_components : int, sequence of int or None, default=None
        Candidates for the number of components in EM. None is 1, 4 and 16 per class, the last two if there are 12 samples for each.
    n_blocks : int or sequence of int, default=(1, 2)
        Candidates for R; numbers above that of the features are left out, or replaced by it if all are. Unused if the estimator
        has lists of features as its blocks.
    training_temperature : float or sequence of float, default=(2.0, 5.0)
        Candidates for the temperature during discriminative training, at least 1e-6. Larger ones regularise more.
    max_doublings : int, default=6
        Maximum number of times that components double.
    cv : int, splitter, iterable or None, default=None
        Splits as in scikit-learn; those by groups as a list, ``list(GroupKFold(5).split(X, y, groups))``. None is five stratified
        folds for fewer than 1,000 samples, three of the five for fewer than 3,000, and otherwise one of them. Stratified folds hold
        out no class of which they would leave fewer than two training samples.
    n_jobs : int or None, default=None
        Number of threads that share the splits, without effect on results. None is one thread, -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices. Set an int for reproducible results.
        None uses the random state of the estimator.

    Attributes
    ----------
    best_estimator_ : DiscriminativePSKEMClassifier or Pipeline
        Model with ``best_params_``, fitted to all samples. With ``scaling="quantile"`` it is a pipeline of a
        ``QuantileTransformer`` and the classifier.
    best_params_ : dict
        "scaling", and the chosen parameters of ``DiscriminativePSKEMClassifier``, its "options" among them. Set on a
        clone of the estimator, they rebuild the classifier to the last bit. An infinite "strength" keeps the mixtures of EM.
    best_score_ : float
        Mean over held-out samples of the log posterior of the true class, in nats: the negative log-loss.
    cv_results_ : dict of list
        Columns of a table of all models: the parameters of the search, "n_doublings", "strength", "temperature", and "held_out",
        the score.
    classes_ : ndarray of shape (n_classes,)
        Class labels. A class needs one sample of positive weight; other classes are left out.
    priors_ : ndarray of shape (n_classes,)
        Class prior p(c).
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if the input has them.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skem import DiscriminativePSKEMClassifierCV
    >>> X, y = load_wine(return_X_y=True)
    >>> model = DiscriminativePSKEMClassifierCV(n_components=3, random_state=0).fit(X, y)
    >>> model.best_score_ > -0.1
    True
    """

    _default = DiscriminativePSKEMClassifier
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [DiscriminativePSKEMClassifier, None],
        "covariance_type": [str, "array-like"],
        "scaling": [str, "array-like"],
        "reg_covar": [*CONSTRAINTS["reg_covar"], "array-like"],
        "n_components": [integers(1), "array-like", None],
        "n_blocks": [integers(1), "array-like"],
        "training_temperature": [CONSTRAINTS["training_temperature"][0], "array-like"],
        "max_doublings": [integers(0)],
        "cv": ["cv_object"],
        "n_jobs": [integers(), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: DiscriminativePSKEMClassifier | None = None,
        *,
        covariance_type: str | Sequence[str] = ("full", "tied"),
        scaling: str | Sequence[str] = ("robust", "standard", "quantile"),
        reg_covar: float | Sequence[float] = (0.1, 0.01, 1.0),
        n_components: int | Sequence[int] | None = None,
        n_blocks: int | Sequence[int] = (1, 2),
        training_temperature: float | Sequence[float] = (2.0, 5.0),
        max_doublings: int = 6,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.covariance_type = covariance_type
        self.scaling = scaling
        self.reg_covar = reg_covar
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.training_temperature = training_temperature
        self.max_doublings = max_doublings
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def classes_(self) -> np.ndarray:
        return self._model.classes_

    @property
    def priors_(self) -> np.ndarray:
        return self._model.priors_

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x) by ``best_estimator_``, shape (n_samples, n_classes)."""
        return self._model.predict_log_proba(X)

    def predict_joint_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(x, c) by ``best_estimator_``, shape (n_samples, n_classes)."""
        return self._model.predict_joint_log_proba(X)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Log-odds by ``best_estimator_``, shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        return self._model.decision_function(X)

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """log p(x|c) by ``best_estimator_``, in nats, shape (n_samples, n_classes)."""
        return self._model.class_log_density(X)

    def _fit(self, X: Any, y: Any, sample_weight: Any, progress: Progress) -> None:
        refuse_out_of_core(self, X)
        original = self._base()
        refuse_init_arrays(original)
        if (sharing := original._option("sharing")) is not None:
            raise ValueError(
                f"estimator: sharing must be None, got {sharing!r}: components that double have no groups"
            )
        choice = choose(
            original,
            Data(X, y, sample_weight),
            self._grid,
            max_doublings=self.max_doublings,
            n_folds=N_FOLDS,
            cv=self.cv,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        self.cv_results_ = {name: [entry[name] for entry in choice.entries] for name in choice.best}
        self.best_score_, self.best_params_ = choice.best["held_out"], choice.params
        classifier = clone(original).set_params(**of_classifier(self.best_params_, original.options))
        self.best_estimator_ = scaled_classifier(classifier, choice.best["scaling"], len(choice.data.y))
        self.best_estimator_.fit(*choice.data[: 2 if sample_weight is None else 3])

    def _grid(self, first: Any, data: Data) -> dict[str, list[Any]]:
        """Candidates of each parameter, the initial one first."""
        L = len(first.classes_)
        few = [L * k for k in PER_CLASS if k == 1 or 3 * PER_COMPONENT * L * k <= len(data.y)]
        grid = {
            "covariance_type": self.covariance_type,
            "scaling": self.scaling,
            "reg_covar": self.reg_covar,
            "n_blocks": self.n_blocks if isinstance(first.arrangement, str) else first.n_blocks,
            "n_components": few if self.n_components is None else self.n_components,
            "training_temperature": self.training_temperature,
        }
        allowed = CONSTRAINTS | {"scaling": [StrOptions(set(STANDARDIZE))]}
        lists = {
            name: candidates(name, values, allowed[name][0], in_order=True) for name, values in grid.items()
        }
        if first._option("block_size") is None:
            m = first.n_features_in_
            lists["n_blocks"] = [R for R in lists["n_blocks"] if m >= R] or [m]
        if data.sample_weight is not None:  # quantiles have no weights
            lists["scaling"] = [scaling for scaling in lists["scaling"] if scaling != "quantile"] or [
                "robust"
            ]
        return lists
