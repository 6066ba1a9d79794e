"""Samples and files of searches and ensembles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from skem import (
    GaussianMixture,
    GaussianMixturePath,
    PRBFClassifier,
    PRBFClassifierCV,
    PRBFEnsemble,
    PSKEMClassifier,
    PSKEMClassifierCV,
)

X, y = load_iris(return_X_y=True)
SEARCHES = {
    PSKEMClassifierCV: (
        PSKEMClassifierCV(n_components=3, n_blocks=1, reg_covar=0.1, max_iter=2, random_state=0),
        PSKEMClassifier,
    ),
    PRBFClassifierCV: (
        PRBFClassifierCV(PRBFClassifier(3, max_iter=2, tol=0), sharings=[0, 1], cv=2, random_state=0),
        PRBFClassifier,
    ),
    GaussianMixturePath: (
        GaussianMixturePath(n_components=2, covariance_types=["tied"], random_state=0),
        GaussianMixture,
    ),
}


@pytest.mark.parametrize("Search", SEARCHES)
def test_a_search_samples_and_saves_the_model_it_chose(Search, tmp_path):
    search, Model = SEARCHES[Search]
    with pytest.raises(NotFittedError):
        search.sample(2)
    search.fit(X, y)
    for drawn, expected in zip(
        search.sample(5, random_state=1), search.best_estimator_.sample(5, random_state=1), strict=True
    ):
        assert_array_equal(drawn, expected)
    search.save(tmp_path / "chosen.npz")
    assert_array_equal(Model.load(tmp_path / "chosen.npz").score_samples(X), search.score_samples(X))


def test_a_path_predicts_the_samples_it_was_fitted_to():
    path, _ = SEARCHES[GaussianMixturePath]
    assert_array_equal(path.fit_predict(X), path.predict(X))


@pytest.fixture
def ensemble():
    models = PRBFClassifier(6, max_iter=3, tol=0)
    return PRBFEnsemble(models, sharings=[0, 0.5, 1], random_state=0).fit(X, y)


def test_an_ensemble_samples_all_its_models(ensemble):
    """One of them is moved so far that its share of the samples can be counted."""
    ensemble.estimators_[2].blocks_[0].means[:] += 1000
    rows, labels = ensemble.sample(3000, random_state=0)
    assert_allclose((rows[:, 0] > 500).mean(), 1 / 3, atol=0.03)
    assert_allclose(np.bincount(labels) / 3000, ensemble.class_prior_, atol=0.03)
    near = rows[:, 0] < 500
    for c in range(3):
        assert_allclose(rows[near & (labels == c)].mean(axis=0), X[y == c].mean(axis=0), atol=0.15)
    assert_array_equal(ensemble.sample(4, 2, random_state=0)[1], [2, 2, 2, 2])


def test_an_ensemble_is_saved_model_by_model(ensemble, tmp_path):
    for number, model in enumerate(ensemble.estimators_):
        model.save(tmp_path / f"{number}.npz")
    again = PRBFEnsemble.of([PRBFClassifier.load(tmp_path / f"{number}.npz") for number in range(3)])
    assert_array_equal(again.predict_proba(X), ensemble.predict_proba(X))
