"""Baselines: how their hyper-parameters are chosen, and what the classes of this project add to scikit-learn's."""

import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from skem.repro.training.baselines import fit_selected, forests, predict_and_score, stratified_rows
from skem.repro.training.classifiers import entries, find, log_proba, make
from skem.repro.training.gaussian_mixtures import GaussianMixtureClassifier
from skem.repro.training.grid_search import GridSearch

SVMS = ("svm_linear", "svm_quadratic", "svm_rbf")
IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def digits():
    """Training, validation and test samples, without the constant columns, on which QDA is not defined."""
    X, y = load_digits(return_X_y=True)
    X = X[:, X.std(axis=0) > 1]
    X, X_test, y, y_test = train_test_split(X, y, test_size=400, stratify=y, random_state=0)
    X, X_val, y, y_val = train_test_split(X, y, test_size=300, stratify=y, random_state=0)
    return (X, y), (X_val, y_val), (X_test, y_test)


@pytest.mark.parametrize("name", entries())
def test_an_entry_makes_a_classifier_whose_default_is_the_first_grid_point(name):
    estimator = make(name, random_state=0)
    assert is_classifier(estimator) or hasattr(estimator, "score_samples")
    for point in find(name).points()[:1]:
        assert repr(make(name, random_state=0, **point)) == repr(estimator)


@pytest.mark.parametrize("name", entries("baselines"))
def test_the_chosen_point_is_fitted_on_all_samples(name, digits):
    train, validation, test = digits
    selected = fit_selected(name, train, validation, select_rows=600, random_state=0)
    found = predict_and_score(selected.estimator, *test)[1]
    assert found["accuracy"] > (0.94 if name in ("logistic_regression", "lda") else 0.95)
    assert np.isnan(found["log_loss"]) == np.isnan(found["brier"]) == (name in SVMS)
    assert selected.n_train == len(train[0])
    points = find(name).points(n_features=train[0].shape[1])
    assert selected.params in (points or [{}])


def test_log_proba_of_zero_votes():
    X, y = IRIS
    estimator = make("knn_1").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(np.exp(log_proba(estimator, X)), np.eye(3)[y])
    assert predict_and_score(estimator, X, y)[1] == {"accuracy": 1.0, "log_loss": 0.0, "brier": 0.0}
    assert 740 < predict_and_score(estimator, X[:1], y[:1] + 1)[1]["log_loss"] < 745


def test_stratified_rows():
    y = np.repeat([2, 0, 1], [600, 390, 10])
    small, large = stratified_rows(y, 100, 0), stratified_rows(y, 500, 0)
    assert np.bincount(y[small]).tolist() == [39, 1, 60]
    assert np.bincount(y[large]).tolist() == [195, 5, 300]
    assert set(small) < set(large)
    assert (np.diff(large) > 0).all()
    assert set(y[stratified_rows(y, 3, 0)]) == {0, 1, 2}
    assert not np.array_equal(small, stratified_rows(y, 100, 1))
    for size in (None, 2000):
        np.testing.assert_array_equal(stratified_rows(y, size, 0), np.arange(1000))


def test_one_component_is_a_quadratic_discriminant():
    X, y = IRIS[0][:130], IRIS[1][:130]
    ours = GaussianMixtureClassifier(n_components=1, reg_covar=0.0, class_prior="empirical").fit(X, y)
    # scikit-learn's discriminant divides by n_c - 1, its mixture by n_c: agreement is to 1/n_c.
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.02)
    uniform = GaussianMixtureClassifier(n_components=1, reg_covar=0.0).fit(X, y)
    shift = uniform.predict_log_proba(X) - ours.predict_log_proba(X) + np.log(theirs.priors_)
    np.testing.assert_allclose(shift - shift[:, :1], 0, atol=1e-9)


def test_the_first_fifty_trees_are_a_forest_of_fifty(digits):
    (X, y), _, (X_test, _) = digits
    hundred = make("bagged_trees", random_state=5).fit(X, y)
    parts = dict(forests("bagged_trees", hundred))
    assert list(parts) == ["bagged_trees_50", "bagged_trees_100"]
    fifty = RandomForestClassifier(50, random_state=5).fit(X, y).predict_proba(X_test)
    np.testing.assert_allclose(parts["bagged_trees_50"].predict_proba(X_test), fifty, rtol=1e-12)


# Searches and ensembles


def test_the_svm_is_chosen_on_held_out_samples_and_fitted_on_all():
    X, y = load_breast_cancer(return_X_y=True)
    how = {
        "params": {"width": 1.0, "break_ties": True},
        "grid": {"C": [1e-4, 5.0]},
        "validation_fraction": 0.2,
    }
    chosen = make("svm_rbf_held_out", random_state=0, **how).fit(X, y)
    assert list(chosen.best_params_.values()) == [5.0]  # with 1e-4 all samples are of the larger class
    expected = make("svm_rbf", C=5.0).fit(X, y).predict(X)
    np.testing.assert_array_equal(chosen.predict(X), expected)
    assert np.mean(chosen.predict_proba(X).argmax(axis=1) == y) > 0.95


def test_the_common_search_keeps_the_best_candidate_and_fits_all_samples():
    X, y = load_breast_cancer(return_X_y=True)
    tree = "sklearn.tree:DecisionTreeClassifier"
    params = {"estimator": tree, "grid": {"min_samples_leaf": [400, 40]}, "select_rows": 300}
    found = GridSearch(**params, random_state=0).fit(X, y)
    assert found.best_params_ == {"min_samples_leaf": 40}  # with 400 a leaf has all samples
    assert found.fitted_.tree_.n_node_samples[0] == len(y)
