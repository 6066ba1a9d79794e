"""Searches: methods of the fitted model, and errors of the user's code."""

import pytest
from numpy.testing import assert_equal
from sklearn.base import ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import skem

X, y = load_iris(return_X_y=True)
SEARCHES = {
    skem.DiscriminativePSKEMClassifierCV(
        n_components=3, n_blocks=1, reg_covar=0.1, scaling="standard", cv=2, random_state=0
    ): skem.DiscriminativePSKEMClassifier,
    skem.GaussianMixturePath(n_components=2, covariance_types=["tied"], random_state=0): skem.GaussianMixture,
}
METHODS = "predict", "predict_proba", "score_samples", "sample", "score"
OF_CLASSIFIERS = "predict_log_proba", "predict_joint_log_proba", "decision_function", "class_log_density"
every_search = pytest.mark.parametrize(
    ("search", "Model"), SEARCHES.items(), ids=lambda value: getattr(value, "__name__", "")
)


@every_search
def test_methods_of_the_chosen_model(search, Model):
    with pytest.raises(NotFittedError):
        search.predict(X)
    search.fit(X, y)
    best = search.best_estimator_
    for name in METHODS + (OF_CLASSIFIERS if isinstance(search, ClassifierMixin) else ()):
        arguments = {"sample": (5,), "score": (X, y)}.get(name, (X,))
        assert_equal(getattr(search, name)(*arguments), getattr(best, name)(*arguments))


class FailingCallback:
    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def on_fit_task_end(self, estimator, context):
        raise ValueError("from the callback")


@every_search
@pytest.mark.parametrize("inner", [False, True])
def test_errors_of_callbacks_end_a_search(search, Model, inner):
    search = clone(search)
    if inner:
        search.set_params(estimator=Model())
    (search.estimator if inner else search).set_callbacks(FailingCallback())
    with pytest.raises(ValueError, match=r"^from the callback$"):
        search.fit(X, y)
