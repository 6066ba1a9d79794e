"""Choice of lambda: the path, the splits, and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import overlapping_classes
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from skem import PRBFClassifier, PRBFClassifierCV, sharing_path


def test_sharing_path():
    X, y = overlapping_classes(6)
    estimator = PRBFClassifier(9, random_state=0, max_iter=200)
    models = list(sharing_path(estimator, X, y, (0.0, 1.0, 0.5)))
    assert [model.sharing for model in models] == [1.0, 0.5, 0.0]
    assert estimator.sharing == 0.5
    cold = PRBFClassifier(9, random_state=0, max_iter=200, sharing=1.0).fit(X, y)
    assert_array_equal(models[0].means_, cold.means_)
    continued = PRBFClassifier(
        9, init=(cold.weights_, cold.means_, cold.covariances_), sharing=0.5, max_iter=200
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
    model = PRBFClassifierCV(estimator, sharings=sharings, cv=3, n_jobs=2).fit(X, y)
    expected = np.empty((3, 3))
    for s, (train, test) in enumerate(splits):
        for fitted in sharing_path(estimator, X[train], y[train], sharings):
            log_proba = fitted.predict_log_proba(X[test])[np.arange(len(test)), y[test]]
            expected[sharings.index(fitted.sharing), s] = log_proba.mean()
    assert_allclose(model.scores_, expected)
    assert model.sharing_ == sharings[expected.mean(axis=1).argmax()]
    *_, last = sharing_path(estimator, X, y, [s for s in sharings if s >= model.sharing_])
    assert_array_equal(model.predict_log_proba(X), last.predict_log_proba(X))
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


def test_lambda_per_pair_needs_every_class():
    X, y = overlapping_classes(8, n=(40, 40, 40))
    labels = np.array(["a", "b", "c"])[y]
    splits = [(np.arange(0, 120, 2), np.arange(1, 120, 2)), (np.flatnonzero(y != 2), np.flatnonzero(y == 2))]
    model = PRBFClassifierCV(PRBFClassifier(6, random_state=0), sharings=(0.0, 1.0), cv=splits)
    assert model.fit(X, labels).scores_.shape == (2, 2)
    with pytest.raises(ValueError, match=r"per_pair: .*split 1 lack class 'c'.*stratified"):
        model.set_params(per_pair=True).fit(X, labels)


def test_impossible_lambdas_have_no_score(monkeypatch):
    X, y = overlapping_classes(9, n=(30, 30, 30))
    fit = PRBFClassifier.fit

    def without_small_ones(self, *args):
        if self.sharing < 0.5:
            raise ValueError("not this one")
        return fit(self, *args)

    monkeypatch.setattr(PRBFClassifier, "fit", without_small_ones)
    estimator = PRBFClassifier(3, max_iter=3, random_state=0)
    model = PRBFClassifierCV(estimator, sharings=(0.2, 1.0, 0.5), cv=2).fit(X, y)
    assert_array_equal(np.isnan(model.scores_), [[True, True], [False, False], [False, False]])
    assert model.sharing_ in (0.5, 1.0)
    alone = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]
    with pytest.raises(
        ValueError, match=r"none of the 1 sharings can be fitted in every split; .*two classes"
    ):
        PRBFClassifierCV(estimator, sharings=(1.0,), cv=alone).fit(X, y)


def test_warm_start_with_another_lambda():
    X, y = overlapping_classes(4)
    model = PRBFClassifier(9, sharing=1.0, warm_start=True, random_state=0).fit(X, y)
    model.set_params(sharing=0.0).fit(X, y)
    for c, group in enumerate(model.groups_):
        assert not np.delete(model.weights_[:, c], group).any()
    with pytest.raises(ValueError, match="groups changed"):
        model.set_params(groups=[[0], [1, 2, 3], [4, 5, 6, 7, 8]]).fit(X, y)
