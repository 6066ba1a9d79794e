"""Estimators that fit several models: methods of the fitted model, splits of rare classes, and initialisation by a split."""

import inspect
from dataclasses import replace

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
    PRBFClassifier,
    PRBFClassifierCV,
    PRBFEnsemble,
    PSKEMClassifier,
    PSKEMClassifierCV,
    SKEMClassifier,
)
from skem.engine.parameters import Mixture
from skem.estimators._held_out import Data
from skem.estimators._search import DELEGATED, split

X, y = load_iris(return_X_y=True)
PRBF = PRBFClassifier(3, max_iter=2, tol=0)
SEARCHES = {
    PSKEMClassifierCV(n_components=3, n_blocks=1, reg_covar=0.1, max_iter=2, random_state=0): PSKEMClassifier,
    DiscriminativePSKEMClassifierCV(
        n_components=3, n_blocks=1, reg_covar=0.1, scaling="standard", cv=2, random_state=0
    ): DiscriminativePSKEMClassifier,
    PRBFClassifierCV(PRBF, sharings=[0, 1], cv=2, random_state=0): PRBFClassifier,
    GaussianMixturePath(n_components=2, covariance_types=["tied"], random_state=0): GaussianMixture,
}
every_search = pytest.mark.parametrize(
    ("search", "Model"), SEARCHES.items(), ids=lambda value: getattr(value, "__name__", "")
)


@every_search
def test_methods_of_the_chosen_model(search, Model, tmp_path):
    with pytest.raises(NotFittedError):
        search.predict(X)
    search.fit(X, y)
    best = search.best_estimator_
    names = [name for name in DELEGATED if hasattr(Model, name)]
    assert names == [name for name in DELEGATED if hasattr(search, name)]
    for name in names:
        arguments = {"sample": (5,), "score": (X, y)}.get(name, (X,))
        assert_equal(getattr(search, name)(*arguments), getattr(best, name)(*arguments))
        method = getattr(type(search), name)
        assert inspect.signature(method) == inspect.signature(getattr(Model, name))
        if method is not getattr(ClassifierMixin, name, None):
            assert f"Calls ``{Model.__name__}.{name}`` of the fitted model." in method.__doc__
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
@pytest.mark.parametrize("place", ["setup", "begin", "end"])
@pytest.mark.parametrize("inner", [False, True])
def test_errors_of_callbacks_end_a_search(search, Model, place, inner):
    search = clone(search)
    if inner:
        search.set_params(estimator=Model(**({"n_components": 3} if Model is PRBFClassifier else {})))
    (search.estimator if inner else search).set_callbacks(FailingCallback(place))
    with pytest.raises(ValueError, match=r"^from the callback$"):
        search.fit(X, y)


def test_later_errors_of_callbacks_end_a_search():
    """The errors come from within the fits of candidates, after the first fits."""

    class Late(FailingCallback):
        n_calls = 0

        def _call(self, place):
            self.n_calls += 1
            if self.n_calls > 12:
                raise ValueError("from the callback")

    for search, model in (
        (PSKEMClassifierCV(n_components=3, max_iter=4), PSKEMClassifier()),
        (PRBFClassifierCV(sharings=[0, 1], cv=2), PRBFClassifier(3, max_iter=5)),
        (GaussianMixturePath(n_components=[1, 2]), GaussianMixture()),
        (PRBFClassifierCV(sharings=[0, 1], cv=2, per_pair=True), PRBFClassifier(3, max_iter=5)),
    ):
        with pytest.raises(ValueError, match=r"^from the callback$"):
            search.set_params(estimator=model.set_callbacks(Late(None)), random_state=0).fit(X, y)


def test_errors_of_a_scorer_end_a_search():
    def scorer(model, X, y):
        if np.ndim(model.sharing):
            raise ValueError("from the scorer")
        return model.score(X, y)

    search = PRBFClassifierCV(PRBF, sharings=[0, 1], per_pair=True, cv=2, scoring=scorer)
    with pytest.raises(ValueError, match="from the scorer"):
        search.fit(X, y)


def test_callbacks_observe_candidates_that_cannot_be_fitted():
    """Every candidate is one task of its own."""
    options = {
        "n_blocks": 1,
        "reg_covar": 0.1,
        "scaling": "standard",
        "max_doublings": 0,
        "cv": 2,
        "random_state": 0,
    }
    search = DiscriminativePSKEMClassifierCV(n_components=[1, 2, 3], **options)
    search.set_callbacks(FailingCallback(None)).fit(X, y)
    assert search.best_params_["n_components"] == 3


# Ensembles


@pytest.fixture
def ensemble():
    return PRBFEnsemble(PRBFClassifier(6, max_iter=3, tol=0), sharings=[0, 0.5, 1], random_state=0).fit(X, y)


def test_an_ensemble_samples_all_its_models(ensemble):
    """One of them is moved so far that its share of the samples can be counted."""
    moved = ensemble.estimators_[2]
    moved.blocks_ = [replace(moved.blocks_[0], means=moved.means_ + 1000)]
    drawn, labels = ensemble.sample(3000, random_state=0)
    assert_allclose((drawn[:, 0] > 500).mean(), 1 / 3, atol=0.03)
    assert_allclose(np.bincount(labels) / 3000, ensemble.class_prior_, atol=0.03)
    near = drawn[:, 0] < 500
    for c in range(3):
        assert_allclose(drawn[near & (labels == c)].mean(axis=0), X[y == c].mean(axis=0), atol=0.15)
    assert_array_equal(ensemble.sample(4, 2, random_state=0)[1], [2, 2, 2, 2])


def test_an_ensemble_is_saved_model_by_model(ensemble, tmp_path):
    assert not hasattr(ensemble, "save")
    for number, model in enumerate(ensemble.estimators_):
        model.save(tmp_path / f"{number}.npz")
    again = PRBFEnsemble.of([PRBFClassifier.load(tmp_path / f"{number}.npz") for number in range(3)])
    assert_array_equal(again.predict_proba(X), ensemble.predict_proba(X))
    ensemble.estimators_ = again.estimators_[:1]
    assert_array_equal(ensemble.predict_proba(X), again.estimators_[0].predict_proba(X))


# Rare classes


def wine(n_last, first_class=0):
    """Samples of wine from a class on, with few of the last class."""
    X, y = load_wine(return_X_y=True)
    kept = (y >= first_class) & (np.cumsum(y == 2) <= n_last)
    return X[kept], y[kept]


QUICK = {"n_components": [6, 24], "n_blocks": 1, "reg_covar": 0.1, "max_iter": 2, "random_state": 0}


@pytest.mark.filterwarnings("ignore:The least populated class", "ignore:n_components=12 reserves")
@pytest.mark.parametrize("first_class", [0, 1])
@pytest.mark.parametrize("n_last", [1, 3])
@pytest.mark.parametrize(
    "search",
    [
        PSKEMClassifierCV(cv=3, **QUICK),
        PRBFClassifierCV(PRBFClassifier(12, max_iter=2, tol=0), sharings=(0, 1), per_pair=True, cv=3),
    ],
    ids=["pskem", "prbf"],
)
def test_a_rare_class_does_not_end_a_search(search, n_last, first_class):
    X, y = wine(n_last, first_class)
    search.fit(X, y)
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
    model = SKEMClassifier(6, init="sample", covariance_type=covariance_type, random_state=0).fit(X, y)
    (arrays,) = split(model, 9)
    weights, means, _ = arrays
    assert weights.shape == (9, 3)
    assert_allclose(weights.sum(axis=0), 1)
    assert_allclose(weights.T @ means, model.weights_.T @ model.means_, rtol=1e-9)
    before = model.class_log_density(X)
    model.blocks_ = [Mixture(*arrays)]
    assert np.abs(logsumexp(model.class_log_density(X), axis=0) - logsumexp(before, axis=0)).max() < 1


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("standardize", [True, False])
def test_split_of_a_mixture(covariance_type, standardize):
    """The mean of the mixture stays, and EM from the split improves on the mixture."""
    options = {"covariance_type": covariance_type, "standardize": standardize, "tol": 0, "random_state": 0}
    model = GaussianMixture(2, max_iter=20, **options).fit(X)
    weights, means, covariances = split(model, 5)
    assert_allclose(weights.sum(), 1)
    assert_allclose(weights @ means, model.weights_ @ model.means_)
    assert len(model.weights_) == 2
    more = GaussianMixture(5, init=(weights, means, covariances), max_iter=60, **options).fit(X)
    assert more.lower_bound_ > model.lower_bound_
