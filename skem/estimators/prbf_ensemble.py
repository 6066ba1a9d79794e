"""The average of lambda-PRBFs over lambda (Titsias and Likas 2001, section III-B)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skem.engine.threads import Workers
from skem.estimators._checking import CheckedParameters
from skem.estimators._densities import Posteriors
from skem.estimators._out_of_core import by_blocks
from skem.estimators._training import one_seed
from skem.estimators._units import all_or_nothing
from skem.estimators.prbf import SHARINGS, PRBFClassifier, check_sharings


class PRBFEnsemble(CheckedParameters, Posteriors, ClassifierMixin, BaseEstimator):
    """The average over lambda of class densities (Titsias and Likas 2001, section III-B).

    p(x|C_k) = 1/n sum_i p(x|C_k, lambda_i), eq. 38: densities are averaged, not posteriors, logarithms or votes.
    It has no ``n_init``: its estimator has.

    Parameters
    ----------
    estimator : PRBFClassifier or None, default=None
        Fitted once for each lambda, all from the same start; None is ``PRBFClassifier()``.
    sharings : sequence of float or of matrices, default=(0, 0.25, 0.5, 0.75, 1)
        The lambdas, each as ``sharing`` of the estimator; no two alike.
    n_jobs : int or None, default=None
        Fits side by side, in threads; the result does not depend on it. None is one, -1 one per core.
    random_state : int, RandomState instance or None, default=None
        Of the common start; None leaves it to the estimator's own.

    Attributes
    ----------
    estimators_ : list of PRBFClassifier
        One per lambda, in order.
    classes_, class_prior_ : ndarray of shape (n_classes,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    It has no ``save``: save each of ``estimators_``, and give the loaded models to ``of``.

    Raises
    ------
    ValueError
        From ``fit``: no lambda, or one given twice, beside what ``PRBFClassifier`` refuses.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import PRBFClassifier, PRBFEnsemble
    >>> X, y = load_iris(return_X_y=True)
    >>> PRBFEnsemble(PRBFClassifier(6), random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [PRBFClassifier, None],
        "sharings": ["array-like"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: PRBFClassifier | None = None,
        *,
        sharings: Sequence[float | ArrayLike] = SHARINGS,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.sharings = sharings
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PRBFEnsemble:
        """Fit a model for each lambda.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or a ``numpy.memmap``, a Dask collection or ``skem.datasets.ParquetRows``, as for ``PRBFClassifier``.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._validate_params()
        check_sharings(self.sharings)
        estimator = PRBFClassifier() if self.estimator is None else self.estimator
        seed = one_seed(self.random_state, estimator.random_state)
        models = [
            clone(estimator).set_params(sharing=sharing, random_state=seed) for sharing in self.sharings
        ]
        with all_or_nothing(self), Workers(self.n_jobs) as workers:
            self._keep(workers.map(lambda model: model.fit(X, y, sample_weight), models))
        return self

    @classmethod
    def of(cls, estimators: Sequence[PRBFClassifier]) -> PRBFEnsemble:
        """The average of models that are fitted already, to the same rows."""
        sharings: list[Any] = [model.sharing for model in estimators]
        ensemble = cls(clone(estimators[0]), sharings=sharings)
        ensemble._keep(estimators)
        return ensemble

    def _keep(self, estimators: Sequence[PRBFClassifier]) -> None:
        self.estimators_: list[PRBFClassifier] = list(estimators)
        self._know_what(self.estimators_[0])

    @by_blocks
    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """log p(x|C_k), eq. 38, shape (n_samples, n_classes), in nats per unit of volume in input units."""
        check_is_fitted(self)
        densities = [model.class_log_density(X) for model in self.estimators_]
        return logsumexp(densities, axis=0) - np.log(len(densities))

    def sample(
        self,
        n_samples: int = 1,
        y: ArrayLike | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw samples, each from one of ``estimators_`` at random; parameters as for ``PRBFClassifier.sample``."""
        check_is_fitted(self)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        # The classes are those of any of the models, since all have the same prior.
        X, labels = self.estimators_[0].sample(n_samples, y, random_state=rng)
        numbers = rng.randint(len(self.estimators_), size=len(labels))
        for number in np.unique(numbers[numbers > 0]):
            of_model = numbers == number
            X[of_model] = self.estimators_[number].sample(y=labels[of_model], random_state=rng)[0]
        return X, labels
