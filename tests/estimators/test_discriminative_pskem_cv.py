"""Choice of all parameters of discriminative training: rebuilding, guarantees, and data on which searches fail."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference import overlapping_classes
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from skem import DiscriminativePSKEMClassifier, DiscriminativePSKEMClassifierCV

X, y = overlapping_classes(3, n=(80, 80, 80))
QUICK = {
    "n_components": [3, 6],
    "reg_covar": 0.1,
    "n_blocks": 1,
    "training_temperature": 2.0,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def chosen():
    return DiscriminativePSKEMClassifierCV(cv=2, **QUICK).fit(X, y)


@pytest.mark.parametrize("scaling", ["standard", "robust", "quantile"])
def test_best_params_rebuild_the_best_estimator(scaling):
    search = DiscriminativePSKEMClassifierCV(scaling=scaling, cv=2, **QUICK | {"n_components": 3}).fit(X, y)
    again = clone(search.best_estimator_).fit(X, y)
    assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    params = {name: value for name, value in search.best_params_.items() if name != "scaling"}
    features = search.best_estimator_[:-1].transform(X) if scaling == "quantile" else X
    classifier = DiscriminativePSKEMClassifier(**params).fit(features, y)
    assert_array_equal(classifier.predict_proba(features), search.predict_proba(X))
    assert params["standardize"] == ("robust" if scaling == "robust" else True)
    assert classifier.n_components_ == params["n_components"] * 2 ** params["options"]["n_doublings"]


def test_the_best_model_is_never_worse_than_em_or_guessing(chosen):
    table = chosen.cv_results_
    em = [
        held_out for held_out, strength in zip(table["held_out"], table["strength"], strict=True) if strength
    ]
    assert 0 < len(em) < len(table["held_out"])
    assert chosen.best_score_ == max(table["held_out"]) >= max(em) > -np.log(3)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(800, 4)), rng.integers(0, 2, 800)  # no information
    noise = DiscriminativePSKEMClassifierCV(**QUICK).fit(X[:400], y[:400])
    assert log_loss(y[400:], noise.predict_proba(X[400:])) < np.log(2) + 0.02


def test_results_do_not_depend_on_threads(chosen):
    again = DiscriminativePSKEMClassifierCV(cv=2, n_jobs=2, **QUICK).fit(X, y)
    assert again.cv_results_ == chosen.cv_results_
    assert_array_equal(again.predict_proba(X), chosen.predict_proba(X))


# Heuristics

FEW = QUICK | {
    "n_components": 8,
    "scaling": "standard",
    "covariance_type": "full",
    "max_doublings": 1,
    "cv": 2,
}


@pytest.fixture(scope="module")
def checkerboard():
    """Nine fields of two classes, which few components do not separate."""
    X = np.random.default_rng(0).uniform(0, 3, (600, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


def test_components_double_while_the_score_rises(checkerboard):
    few, many = (
        DiscriminativePSKEMClassifierCV(**FEW | {"n_components": 4, "max_doublings": number}).fit(
            *checkerboard
        )
        for number in (0, 6)
    )
    assert many.best_params_["options"]["n_doublings"] >= 3
    assert many.best_estimator_.n_components_ == 4 * 2 ** many.best_params_["options"]["n_doublings"]
    assert many.best_score_ > few.best_score_ + 0.3


def test_a_hopeless_configuration_is_not_trained(checkerboard):
    search = DiscriminativePSKEMClassifierCV(**FEW | {"reg_covar": [0.1, 100.0]}).fit(*checkerboard)
    assert search.cv_results_["reg_covar"] == [0.1, 0.1, 0.1, 100.0]


# Data on which searches fail


def test_quantiles_are_chosen_for_skewed_features():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.exp(3 * (rng.normal(size=(300, 3)) + y[:, None]))
    X[::50] *= 1e6
    X[3, 1] = np.nan
    search = DiscriminativePSKEMClassifierCV(**QUICK | {"n_components": 2}).fit(X[:200], y[:200])
    assert search.best_params_["scaling"] == "quantile"
    assert search.score(X[200:], y[200:]) > 0.75  # of 0.81 that are possible
    masked = np.ma.masked_invalid(X)
    assert_array_equal(search.predict_proba(masked), search.predict_proba(X))
    assert search.sample(5, random_state=0)[0].shape == (5, 3)
    assert np.isfinite(search.score_samples(X)).all()
    assert search.predict_joint_log_proba(X).shape == search.class_log_density(X).shape == (300, 2)


def test_gross_outliers():
    damaged = X.copy()
    damaged[np.flatnonzero(y == 0)[:4], :2] = 1e5
    options = QUICK | {"n_components": 3, "scaling": ["standard", "robust"], "cv": 2, "max_doublings": 1}
    search = DiscriminativePSKEMClassifierCV(**options).fit(damaged, y)
    assert search.best_params_["scaling"] == "robust"
    clean = DiscriminativePSKEMClassifierCV(**options).fit(X, y)
    assert search.score(X, y) > clean.score(X, y) - 0.05
    weighted = DiscriminativePSKEMClassifierCV(**options | {"scaling": "quantile"}).fit(
        damaged, y, np.ones(len(y))
    )
    assert weighted.best_params_["scaling"] == "robust"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("counts", "n_features"),
    [((3, 3), 1), ((50, 2), 2), ((40, 30, 1), 4), ((30, 30, 6), 4)],
    ids=str,
)
def test_small_classes(counts, n_features):
    X, y = load_iris(return_X_y=True)
    kept = np.concatenate([50 * c + np.arange(count) for c, count in enumerate(counts)])
    search = DiscriminativePSKEMClassifierCV(**QUICK | {"n_components": None}).fit(
        X[kept, :n_features], y[kept]
    )
    assert_array_equal(search.classes_, np.arange(len(counts)))
    assert np.isfinite(search.best_score_)


def test_impossible_candidates_are_left_out():
    X, y = load_iris(return_X_y=True)
    search = DiscriminativePSKEMClassifierCV(**QUICK | {"n_components": [2, 3]}, max_doublings=0).fit(X, y)
    assert search.best_params_["n_components"] == 3
    with pytest.raises(ValueError, match="cv holds out no sample with a weight"):
        search.set_params(cv=[(np.arange(100), np.arange(100, 150))]).fit(
            X, y, sample_weight=np.arange(150) < 100
        )
