"""The base class of estimators that fit several models of one kind, and predict with the chosen one."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skem.estimators._callbacks import CallbackSupportMixin, fitting, with_callbacks
from skem.estimators._training import one_seed


class Search(CallbackSupportMixin):
    """Estimator that predicts with a fitted model, ``best_estimator_``.

    A subclass has the parameters ``estimator``, of which ``_default`` is the class if it is None, and ``random_state``. Its ``_fit``
    sets ``best_estimator_`` and the results of the search.
    """

    _default: ClassVar[type]
    _fit: Callable[..., None]

    @property
    def _model(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def predict(self, X: ArrayLike) -> Any:
        """``predict`` of ``best_estimator_``, shape (n_samples,)."""
        return self._model.predict(X)

    def predict_proba(self, X: ArrayLike) -> Any:
        """``predict_proba`` of ``best_estimator_``, a column per class or component."""
        return self._model.predict_proba(X)

    def score_samples(self, X: ArrayLike) -> Any:
        """log p(x) by ``best_estimator_``, in nats, shape (n_samples,)."""
        return self._model.score_samples(X)

    def sample(self, n_samples: int = 1, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """Draw samples from ``best_estimator_``; its ``sample`` has the options."""
        given = options.get("random_state"), self.random_state, getattr(self.estimator, "random_state", None)
        state = next((state for state in given if state is not None), None)
        if not isinstance(state, Integral):  # The best estimator has a seed even if nobody gave one.
            options["random_state"] = check_random_state(state)
        return self._model.sample(n_samples, **options)

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all models, and keep the one that predicts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples, in memory. NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels. ``GaussianMixturePath`` ignores them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights in fits and scores: a sample of weight two counts as two samples.

        Returns
        -------
        self
        """
        self._validate_params()
        with fitting(self, self._n_tasks(), X, y, sample_weight, parallel=True) as progress:
            self._fit(X, y, sample_weight, progress)
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
                if hasattr(self._model, name):
                    setattr(self, name, getattr(self._model, name))
        return self

    def _n_tasks(self) -> int | None:
        """The number of tasks that callbacks observe; None if it is not known in advance."""
        return None

    def _base(self) -> Any:
        """A clone of ``estimator`` with one seed for all fits."""
        estimator = self._default() if self.estimator is None else clone(self.estimator)
        return estimator.set_params(random_state=one_seed(self.random_state, estimator.random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def refuse_init_arrays(estimator: Any) -> None:
    """Raise ValueError for an initialisation that fixes the number of components."""
    if not isinstance(estimator.init_params, str):
        raise ValueError(
            f"estimator: init_params of {type(estimator).__name__} must be a string, got a {type(estimator.init_params).__name__}: a search "
            "varies the number of components"
        )


def candidates(name: str, values: Any, allowed: Any, *, in_order: bool = False) -> list[Any]:
    """Distinct candidates of a parameter, sorted unless ``in_order``; ValueError if a constraint refuses one."""
    given = list(dict.fromkeys(np.ravel(values).tolist()))
    if not given:
        raise ValueError(f"{name} is empty: give at least one value")
    for value in given:
        if not allowed.is_satisfied_by(value):
            raise ValueError(f"{name} contains {value!r}: each value must be {allowed}")
    return given if in_order else sorted(given)
