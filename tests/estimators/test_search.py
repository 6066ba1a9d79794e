"""Searches: methods of the fitted model, splits of rare classes, and initialisation by a split."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal, assert_equal
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError

from skem import (
    DiscriminativePSKEMClassifier,
    DiscriminativePSKEMClassifierCV,
    GaussianMixture,
    GaussianMixturePath,
    SKEMClassifier,
)
from skem.engine.parameters import Mixture
from skem.estimators._held_out import Data
from skem.estimators._search import split

X, y = load_iris(return_X_y=True)
SEARCHES = {
    DiscriminativePSKEMClassifierCV(
        n_components=3, n_blocks=1, reg_covar=0.1, scaling="standard", cv=2, random_state=0
    ): DiscriminativePSKEMClassifier,
    GaussianMixturePath(n_components=2, covariance_types=["tied"], random_state=0): GaussianMixture,
}
METHODS = "predict", "predict_proba", "score_samples", "sample", "score"
OF_CLASSIFIERS = "predict_log_proba", "predict_joint_log_proba", "decision_function", "class_log_density"
every_search = pytest.mark.parametrize(
    ("search", "Model"), SEARCHES.items(), ids=lambda value: getattr(value, "__name__", "")
)


@every_search
def test_methods_of_the_chosen_model(search, Model, tmp_path):
    with pytest.raises(NotFittedError):
        search.predict(X)
    search.fit(X, y)
    best = search.best_estimator_
    for name in METHODS + (OF_CLASSIFIERS if isinstance(search, ClassifierMixin) else ()):
        arguments = {"sample": (5,), "score": (X, y)}.get(name, (X,))
        assert_equal(getattr(search, name)(*arguments), getattr(best, name)(*arguments))
    search.save(tmp_path / "chosen.npz")
    assert_array_equal(Model.load(tmp_path / "chosen.npz").score_samples(X), search.score_samples(X))


# Errors of the user's code


class FailingCallback:
    """Fails at a place."""

    def __init__(self, place):
        self.place = place

    def _call(self, place):
        if place == self.place:
            raise ValueError("from the callback")

    def setup(self, estimator, context):
        self._call("setup")

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context):
        self._call("begin")

    def on_fit_task_end(self, estimator, context):
        self._call("end")


@every_search
@pytest.mark.parametrize(("place", "inner"), [("setup", False), ("begin", True), ("end", False)])
def test_errors_of_callbacks_end_a_search(search, Model, place, inner):
    search = clone(search)
    if inner:
        search.set_params(estimator=Model())
    (search.estimator if inner else search).set_callbacks(FailingCallback(place))
    with pytest.raises(ValueError, match=r"^from the callback$"):
        search.fit(X, y)


# Rare classes


def wine(n_last, first_class=0):
    """Samples of wine from a class on, with few of the last class."""
    X, y = load_wine(return_X_y=True)
    kept = (y >= first_class) & (np.cumsum(y == 2) <= n_last)
    return X[kept], y[kept]


@pytest.mark.parametrize("first_class", [0, 1])
@pytest.mark.parametrize("n_last", [1, 3])
def test_a_rare_class_does_not_end_a_search(n_last, first_class):
    X, y = wine(n_last, first_class)
    estimator = DiscriminativePSKEMClassifier(max_iter=2, discriminative_iter=0)
    search = DiscriminativePSKEMClassifierCV(
        estimator, n_components=[6, 24], n_blocks=1, reg_covar=0.1, cv=3, random_state=0
    ).fit(X, y)
    assert np.isfinite(search.best_score_)
    assert_array_equal(search.classes_, np.unique(y))


def test_splits_keep_two_training_samples_of_each_class():
    labels = np.array(["a"] * 7 + ["b"] * 3 + ["c"] * 2 + ["d"])
    data = Data.labelled(np.arange(13)[:, None], labels, None)
    splits = list(data.splits(3))
    for train, test in splits:
        assert_array_equal(np.sort(np.r_[train.X, test.X], axis=0), data.X)
        assert min(np.unique_counts(train.y[train.y != "d"]).counts) >= 2
        assert "d" in train.y
    assert_array_equal(np.sort(np.concatenate([test.y for _, test in splits])), labels[:10])
    weighted = data._replace(sample_weight=np.r_[np.ones(8), 0, 0, np.ones(3)])
    assert not any("b" in test.y for _, test in weighted.splits(3))


# Initialisation by a split


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_split_of_a_classifier(covariance_type):
    """Weights of classes and means stay, densities nearly."""
    X, y = load_wine(return_X_y=True)
    model = SKEMClassifier(6, init_params="sample", covariance_type=covariance_type, random_state=0).fit(X, y)
    (arrays,) = split(model, 9)
    weights, means, _ = arrays
    assert weights.shape == (9, 3)
    assert_allclose(weights.sum(axis=0), 1)
    assert_allclose(weights.T @ means, model.weights_.T @ model.means_, rtol=1e-9)
    before = model.class_log_density(X)
    model.blocks_ = [Mixture(*arrays)]
    assert np.abs(logsumexp(model.class_log_density(X), axis=0) - logsumexp(before, axis=0)).max() < 1
