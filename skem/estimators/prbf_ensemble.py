"""The average of lambda-PRBFs over lambda (Titsias and Likas 2001, section III-B)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skem.engine.threads import Workers
from skem.estimators._callbacks import Progress
from skem.estimators._checking import integers
from skem.estimators._docstrings import documented
from skem.estimators._methods import per_sample
from skem.estimators._search import DELEGATED, Search
from skem.estimators.prbf import SHARINGS, PRBFClassifier, check_sharings


class _Average(PRBFClassifier):
    """A copy of the first of several fitted models, with the average of their class densities."""

    members: list[PRBFClassifier]

    @per_sample
    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        densities = [model.class_log_density(X) for model in self.members]
        return logsumexp(densities, axis=0) - np.log(len(densities))

    def sample(
        self,
        n_samples: int = 1,
        y: ArrayLike | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        rng = check_random_state(self.random_state if random_state is None else random_state)
        # All models have the same class prior.
        X, labels = self.members[0].sample(n_samples, y, random_state=rng)
        numbers = rng.randint(len(self.members), size=len(labels))
        for number in np.unique(numbers[numbers > 0]):
            of_model = numbers == number
            X[of_model] = self.members[number].sample(y=labels[of_model], random_state=rng)[0]
        return X, labels


@documented
class PRBFEnsemble(Search, ClassifierMixin, BaseEstimator, model=PRBFClassifier, methods=DELEGATED):
    """Average over lambda of the class densities of lambda-PRBFs (Titsias and Likas 2001, section III-B).

    p(x|C_k) = 1/n sum_i p(x|C_k, lambda_i), eq. 38: densities are averaged, not posteriors, logarithms or votes.
    A sample comes from one of the models, drawn at random.

    Parameters
    ----------
    estimator : PRBFClassifier or None
        Model that is fitted once for each lambda, always from the same initialisation. None is ``PRBFClassifier()``. Its
        ``n_init`` is the number of initialisations.
    sharings : sequence of float or of matrices
        Distinct lambdas, each as ``sharing`` of the estimator.
    random_state
        None uses the random state of the estimator.

    Attributes
    ----------
    estimators_ : list of PRBFClassifier
        Fitted models, one for each lambda, in the order of ``sharings``.
    classes_, class_prior_, n_features_in_

    Notes
    -----
    An ensemble has no ``save``: save each of ``estimators_``, and give the loaded models to ``of``.

    Raises
    ------
    ValueError
        From ``fit``: no lambda, or a repeated one, beside the errors of ``PRBFClassifier``.

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
        "n_jobs": [integers(), None],
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

    def _fit(self, X: Any, y: Any, sample_weight: Any, progress: Progress) -> None:
        check_sharings(self.sharings)
        estimator = self._base()
        models = [clone(estimator).set_params(sharing=sharing) for sharing in self.sharings]

        def fitted(number: int) -> PRBFClassifier:
            with progress.task("model", number):
                return models[number].fit(X, y, sample_weight)

        with Workers(self.n_jobs) as workers:
            self.estimators_ = workers.map(fitted, range(len(models)))

    @classmethod
    def of(cls, estimators: Sequence[PRBFClassifier]) -> PRBFEnsemble:
        """Make an ensemble of models that are already fitted to the same samples."""
        sharings: list[Any] = [model.sharing for model in estimators]
        ensemble = cls(clone(estimators[0]), sharings=sharings)
        ensemble.estimators_ = estimators
        ensemble._copy_features()
        return ensemble

    @property
    def estimators_(self) -> Sequence[PRBFClassifier]:
        return self._model.members

    @estimators_.setter
    def estimators_(self, models: Sequence[PRBFClassifier]) -> None:
        self._average_ = _Average()
        own = {"members": list(models), "random_state": self.random_state}
        self._average_.__dict__ = vars(models[0]) | own

    @property
    def _model(self) -> _Average:
        check_is_fitted(self)
        return self._average_
