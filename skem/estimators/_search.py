"""The base class of estimators that fit several models of one kind, and predict with the chosen one or with their average."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skem.estimators._callbacks import CallbackSupportMixin, Progress, fitting, with_callbacks
from skem.estimators._checking import integers
from skem.estimators._training import one_seed

DELEGATED = (
    *("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "decision_function"),
    *("class_log_density", "score_samples", "score", "sample"),
)
"""Methods that a search delegates, if the class of its model defines them; ``score`` of a classifier is scikit-learn's."""


def _delegating(cls: type, model: type, name: str) -> Callable[..., Any]:
    """A method of a search that calls the method of its fitted model."""
    method = getattr(model, name)

    @wraps(method)
    def delegate(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(self._model, name)(*args, **options)

    delegate.__module__, delegate.__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
    if method.__doc__:
        summary, *rest = inspect.cleandoc(method.__doc__).split("\n\n", 1)
        calls = f"Calls ``{model.__name__}.{name}`` of the fitted model."
        delegate.__doc__ = "\n\n".join([summary, calls, *rest])
    return delegate


def _of_model(name: str) -> Any:
    """An attribute of the fitted model, also when it is assigned."""
    return property(
        lambda self: getattr(self._model, name), lambda self, value: setattr(self._model, name, value)
    )


class Search(CallbackSupportMixin):
    """Estimator that predicts with a fitted model, ``best_estimator_``.

    A subclass names the class of its models, ``class ModelCV(Search, ..., model=Model)``, and defines ``_fit``. It has the
    parameters ``estimator``, whose default is ``Model()``, and ``random_state``.
    """

    _Model: ClassVar[type]
    classes_, class_prior_ = _of_model("classes_"), _of_model("class_prior_")

    def __init_subclass__(
        cls, model: type | None = None, methods: tuple[str, ...] = (*DELEGATED, "save"), **options: Any
    ) -> None:
        if model is not None:
            cls._Model = model
            for name in methods:
                if getattr(getattr(model, name, None), "__module__", "").startswith("skem."):
                    setattr(cls, name, _delegating(cls, model, name))
        super().__init_subclass__(**options)

    @property
    def _model(self) -> Any:
        """The fitted model that predicts."""
        check_is_fitted(self)
        return self.best_estimator_

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all models, and keep the one that predicts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples, in memory. NaN is a missing value. ``PRBFEnsemble`` also takes the samples outside memory that
            ``PRBFClassifier`` takes.
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
            self._copy_features()
        return self

    def _n_tasks(self) -> int | None:
        """The number of tasks that callbacks observe; None if it is not known in advance."""
        return None

    def _fit(self, X: Any, y: Any, sample_weight: Any, progress: Progress) -> None:
        """Fit all models, and set ``best_estimator_`` and the results of the search."""
        raise NotImplementedError

    def _copy_features(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self._model, name):
                setattr(self, name, getattr(self._model, name))

    def _base(self) -> Any:
        """A clone of ``estimator`` with one seed for all fits."""
        estimator = self._Model() if self.estimator is None else clone(self.estimator)
        return estimator.set_params(random_state=one_seed(self.random_state, estimator.random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def refuse_init_arrays(estimator: Any) -> None:
    """Raise ValueError for an initialisation that fixes the number of components."""
    if not isinstance(estimator.init, str):
        raise ValueError(
            f"estimator: init of {type(estimator).__name__} must be a string, got a {type(estimator.init).__name__}: a search "
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


def numbers_of_blocks(values: Any, model: Any) -> list[int]:
    """Candidates for the number of feature blocks of a fitted model, in their order."""
    if "n_blocks" not in model.get_params() or not isinstance(model.arrangement, str):
        return [model.n_blocks]
    given = candidates("n_blocks", values, integers(1), in_order=True)
    if model.block_size is not None:
        return given
    m = model.n_features_in_
    return [R for R in given if m >= R] or [m]


def split(model: Any, n_components: int) -> Any:
    """Arrays for ``init`` with more components than a fitted model has, and nearly the same density.

    Parameters
    ----------
    model : GaussianMixture or SharedKernelClassifier
    n_components : int
        Number of components of each feature block, at least that of ``model``.

    Returns
    -------
    tuple or list of tuple
        Weights, means and covariances in input units; of a classifier, one tuple for each feature block.
    """
    mixtures = model._fitted.split(n_components).mixtures
    starts = [(each.weights, each.means, each.covariances) for each in mixtures]
    if hasattr(model, "classes_"):
        return starts
    ((weights, means, covariances),) = starts
    return weights[:, 0], means, covariances
