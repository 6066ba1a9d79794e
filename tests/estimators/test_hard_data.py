"""Degenerate samples have a defined outcome: finite parameters, a rising objective, and a warning if covariances are singular."""

import warnings

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose
from reference import equal_classes

import skem

every_type = pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])


def assert_is_a_model(clf, X, rounding=None):
    """Every public array holds numbers, every sample has a posterior, and the objective does not fall beyond rounding."""
    arrays = [a for block in clf.blocks_ for a in (block.weights, block.means, block.covariances)]
    for array in [*arrays, clf.objective_, clf.log_likelihood_, clf.class_log_density(X)]:
        assert np.isfinite(array).all()
    assert np.allclose(clf.predict_proba(X).sum(axis=1), 1)
    for block in clf.blocks_:
        assert np.allclose(block.weights.sum(axis=0), 1)
    assert_never_falls(clf, rounding)


def assert_never_falls(model, rounding=None):
    """Rounding without regularisation grows with the condition of whatever turns singular."""
    rounding = rounding or (1e-9 if model.reg_covar > 0 else 1e-6)
    objective = np.asarray(model.objective_)
    assert (-np.diff(objective) / (1 + np.abs(objective[1:]))).max() <= rounding


def three_components(covariance_type, third_mean):
    means = np.array([[0.0] * 4, [1.0] * 4, [third_mean] * 4])
    init = np.full((3, 2), 1 / 3), means, reference.unit_covariances(covariance_type, 3, 4)
    return skem.SKEMClassifier(covariance_type=covariance_type, init_params=init, standardize=False)


@every_type
def test_components_without_samples_are_left_out(covariance_type):
    X, y = equal_classes()
    clf = three_components(covariance_type, 1e6).set_params(max_iter=6).fit(X, y)
    assert_is_a_model(clf, X)
    assert (clf.weights_[2] == 0).all()
    covariances = reference.full_covariances(clf.covariances_, 3, 4)
    model = reference.Model(clf.weights_[:2], clf.means_[:2], covariances[:2])
    assert np.allclose(clf.class_log_density(X), reference.class_log_density(X, model), rtol=1e-8)


@every_type
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_covariances_that_turn_singular(covariance_type, dtype):
    """One component sits on equal samples: without regularisation its likelihood has no bound."""
    X, y = equal_classes(n=200)
    X[:20] = 9.0
    y[:20] = 0
    X = X.astype(dtype)
    clf = three_components(covariance_type, 9.0).set_params(reg_covar=0.0, max_iter=25).fit(X, y)
    assert_is_a_model(clf, X, 1e-5 if dtype == np.float32 else None)
    assert clf.responsibilities(X[:20])[0].argmax(axis=1).tolist() == [2] * 20


@every_type
def test_features_of_unequal_spread(covariance_type):
    X, y = equal_classes(n=200)
    X *= [1e60, 1e60, 1e-50, 1e60]
    options = {"standardize": False, "reg_covar": 0, "random_state": 0}
    assert_is_a_model(skem.SKEMClassifier(4, covariance_type=covariance_type, **options).fit(X, y), X)


def elongated_clusters(n=300):
    """Two crossing clusters that only their covariances tell apart, shape (2 n, 2), and the cluster of each sample."""
    noise = np.random.default_rng(0).normal(size=(2 * n, 2)) * [5.0, 0.3]
    noise[n:] = noise[n:, ::-1]
    return noise, np.repeat([0, 1], n)


DEPENDENT_COLUMNS = {
    "constant": lambda X: (np.c_[X, np.full(len(X), 3.0)], 0.0),
    "duplicate": lambda X: (np.c_[X, X[:, 0]], 0.0),
    "percentages": lambda X: (np.c_[X + 40, 20 - X.sum(axis=1)] * 1e5, 1e-6),
}


@pytest.mark.parametrize("columns", DEPENDENT_COLUMNS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_singular_covariance_of_all_samples_warns(columns, dtype):
    X, clusters = elongated_clusters()
    X, reg_covar = DEPENDENT_COLUMNS[columns](X)
    model = skem.GaussianMixture(2, init_params="sample", reg_covar=reg_covar, tol=1e-6, random_state=0)
    with pytest.warns(UserWarning, match=f"singular with reg_covar={reg_covar:g}.*set reg_covar"):
        model.fit(X.astype(dtype))
    assert_never_falls(model, 1e-5 if dtype == np.float32 else None)
    assert abs(np.mean(model.predict(X) == clusters) - 0.5) > 0.4
    with pytest.warns(UserWarning, match="SKEMClassifier: the covariance of the samples is singular"):
        skem.SKEMClassifier(2, reg_covar=0.0, random_state=0).fit(X.astype(dtype), clusters)


def test_singular_covariance_of_one_component_warns():
    X, clusters = elongated_clusters()
    X = np.c_[X, np.where(clusters, 20 + X @ [0.5, 0.5], np.random.default_rng(1).normal(size=len(X)))]
    with pytest.warns(UserWarning, match="1 component covariances are singular"):
        skem.GaussianMixture(2, reg_covar=0.0, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        skem.GaussianMixture(2, random_state=0).fit(X)
        skem.GaussianMixture(2, reg_covar=0.0, random_state=0).fit(X[:, :2])


def test_a_sample_infinitely_far_from_all_components_is_refused():
    narrow = np.full((2, 1), 1e-200)
    mixture = skem.GaussianMixture.from_parameters([0.5, 0.5], [[0.0], [1.0]], narrow, covariance_type="diag")
    assert_allclose(mixture.predict_proba([[0.0], [1.0]]), np.eye(2))
    for predict in (mixture.predict_proba, mixture.predict):
        with pytest.raises(ValueError, match="density under every class or component is zero"):
            predict([[1e60]])
