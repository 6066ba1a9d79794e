"""Choice of lambda: the path, the splits, and errors."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from reference import overlapping_classes
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from skem import PRBFClassifier
from skem.repro.training.prbf import PRBFClassifierCV, PRBFEnsemble, sharing_path


def test_sharing_path():
    X, y = overlapping_classes(6)
    estimator = PRBFClassifier(9, random_state=0, max_iter=200)
    models = list(sharing_path(estimator, X, y, (0.0, 1.0, 0.5)))
    assert [model.sharing for model in models] == [1.0, 0.5, 0.0]
    assert estimator.sharing == 0.5
    cold = PRBFClassifier(9, random_state=0, max_iter=200, sharing=1.0).fit(X, y)
    assert_array_equal(models[0].means_, cold.means_)
    continued = PRBFClassifier(
        9, init_params=(cold.weights_, cold.means_, cold.covariances_), sharing=0.5, max_iter=200
    )
    assert_allclose(continued.fit(X, y).means_, models[1].means_, rtol=1e-6)
    for c, group in enumerate(models[2].groups_):
        assert not np.delete(models[2].weights_[:, c], group).any()


def test_choice_of_lambda():
    """The search is a loop over splits, and a path on all samples."""
    X, y = overlapping_classes(7, n=(80, 80, 80))
    sharings = (0.0, 1.0, 0.3)
    estimator = PRBFClassifier(6, covariance_type="spherical", random_state=0)
    splits = list(StratifiedKFold(3).split(X, y))
    model = PRBFClassifierCV(estimator, sharings=sharings, cv=3).fit(X, y)
    expected = np.empty((3, 3))
    for s, (train, test) in enumerate(splits):
        for fitted in sharing_path(estimator, X[train], y[train], sharings):
            log_proba = fitted.predict_log_proba(X[test])[np.arange(len(test)), y[test]]
            expected[sharings.index(fitted.sharing), s] = log_proba.mean()
    assert_allclose(model.scores_, expected)
    assert model.sharing_ == sharings[expected.mean(axis=1).argmax()]
    *_, last = sharing_path(estimator, X, y, [s for s in sharings if s >= model.sharing_])
    assert_array_equal(model.predict_proba(X), last.predict_proba(X))
    by_accuracy = PRBFClassifierCV(
        estimator, cv=StratifiedShuffleSplit(1, test_size=0.25, random_state=0), scoring="accuracy"
    ).fit(X, y)
    assert by_accuracy.scores_.shape == (5, 1)
    assert 0 <= by_accuracy.best_score_ <= 1


def test_a_lambda_per_pair_has_no_lower_score():
    X, y = overlapping_classes(8, n=(80, 80, 80))
    estimator = PRBFClassifier(6, covariance_type="spherical", random_state=0)
    one = PRBFClassifierCV(estimator, sharings=(0.0, 0.5, 1.0), cv=3).fit(X, y)
    pairs = PRBFClassifierCV(estimator, sharings=(0.0, 0.5, 1.0), cv=3, per_pair=True).fit(X, y)
    assert pairs.best_score_ >= one.best_score_
    assert pairs.sharing_.shape == (3, 3)
    assert (np.diag(pairs.sharing_) == 1).all()
    assert_array_equal(pairs.best_estimator_.sharing, pairs.sharing_)
    assert not one.best_estimator_.warm_start
    assert not pairs.best_estimator_.warm_start


def test_average_of_densities():
    """Eq. 38."""
    X, y = load_wine(return_X_y=True)
    models = [PRBFClassifier(6, sharing=sharing, random_state=3).fit(X, y) for sharing in (0.0, 0.3, 1.0)]
    ensemble = PRBFEnsemble(models)
    joint = logsumexp([model.class_log_density(X) for model in models], axis=0) - np.log(3)
    assert_allclose(ensemble.predict_proba(X), softmax(joint + np.log(models[0].priors_), axis=1))
    assert ensemble.score(X, y) > 0.95
