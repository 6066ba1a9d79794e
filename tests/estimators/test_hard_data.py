"""What looks hopeless but has a defined outcome: data that give out, and fits that break off."""

import threading
import warnings

import numpy as np
import pytest
import reference
from reference import equal_classes
from threadpoolctl import threadpool_info

import skem
from skem.engine.em import EStep
from skem.estimators._components import INITIALISATIONS

CLASSIFIERS = [skem.SKEMClassifier, skem.PSKEMClassifier, skem.MDAClassifier]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)
every_type = pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
every_start = pytest.mark.parametrize("init", INITIALISATIONS)


def assert_all_finite(clf, X):
    """Every array a user can see holds numbers, and every row gets a proper posterior."""
    if isinstance(clf, skem.SKEMClassifier):
        arrays = [clf.weights_, clf.means_, clf.covariances_]
    else:
        arrays = [a for block in clf.blocks_ for a in (block.weights, block.means, block.covariances)]
    for array in [*arrays, clf.objective_, clf.log_likelihood_, clf.class_log_density(X)]:
        assert np.isfinite(array).all()
    assert np.allclose(clf.predict_proba(X).sum(axis=1), 1)
    for array in arrays[::3]:
        assert np.allclose(array.sum(axis=0), 1)


def assert_never_falls(clf, rounding=None):
    """Beyond rounding, which without a ridge grows with the condition of whatever turns singular."""
    rounding = rounding or (1e-9 if clf.reg_covar > 0 else 1e-6)
    objective = np.asarray(clf.objective_)
    falls = -np.diff(objective) / (1 + np.abs(objective[1:]))
    assert falls.max() <= rounding, (falls.max(), objective)


@every_classifier
@every_start
def test_a_constant_column(Classifier, init):
    X, y = equal_classes()
    X[:, 2] = 7.0
    for reg_covar in (0.0, 0.1):
        clf = Classifier(4, init=init, reg_covar=reg_covar, max_iter=8, random_state=0).fit(X, y)
        assert_all_finite(clf, X)
        assert_never_falls(clf)
        elsewhere = X + np.array([0, 0, 5.0, 0])
        assert_all_finite(clf, elsewhere)


@every_type
@every_start
def test_duplicated_columns(covariance_type, init):
    X, y = equal_classes()
    X = np.c_[X, X[:, 0], 3 * X[:, 1] - 2]
    for reg_covar in (0.0, 0.1):
        options = {"covariance_type": covariance_type, "init": init, "reg_covar": reg_covar}
        clf = skem.SKEMClassifier(4, **options, max_iter=10, random_state=0).fit(X, y)
        assert_all_finite(clf, X)
        assert_never_falls(clf)
    assert clf.score(X, y) > 0.6


@every_classifier
@every_start
def test_a_class_with_one_row(Classifier, init):
    X, y = equal_classes()
    y[y == 1] = 0
    y[17], X[17] = 1, 6.0
    for reg_covar in (0.0, 0.1):
        clf = Classifier(init=init, reg_covar=reg_covar, random_state=0).fit(X, y)
        assert_all_finite(clf, X)
        assert_never_falls(clf)
    assert clf.predict(X[17:18]) == [1]


@every_type
def test_a_component_without_data_stays_where_it_is(covariance_type):
    X, y = equal_classes()
    weights, covariances = np.full((3, 2), 1 / 3), np.repeat(np.eye(4)[None], 3, 0)
    means = np.array([[0.0] * 4, [1.0] * 4, [1e6] * 4])
    shapes = {"full": covariances, "tied": np.eye(4), "diag": np.ones((3, 4)), "spherical": np.ones(3)}
    start = (weights, means, shapes[covariance_type])
    clf = skem.SKEMClassifier(
        3, covariance_type=covariance_type, init=start, standardize=False, max_iter=6
    ).fit(X, y)
    assert_all_finite(clf, X)
    assert (clf.weights_[2] == 0).all()
    assert_never_falls(clf)
    model = reference.Model(
        clf.weights_[:2], clf.means_[:2], reference.full_covariances(clf.covariances_, 3, 4)[:2]
    )
    assert np.allclose(clf.class_log_density(X), reference.class_log_density(X, model), rtol=1e-8)


@every_type
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_covariance_that_turns_singular(covariance_type, dtype):
    """One component sits on rows that are all the same: without a ridge its likelihood has no bound."""
    X, y = equal_classes(n=200)
    X[:20] = 9.0
    y[:20] = 0
    means = np.array([[0.0] * 4, [1.0] * 4, [9.0] * 4])
    covariances = np.repeat(np.eye(4)[None], 3, 0)
    shapes = {"full": covariances, "tied": np.eye(4), "diag": np.ones((3, 4)), "spherical": np.ones(3)}
    start = (np.full((3, 2), 1 / 3), means, shapes[covariance_type])
    options = {
        "covariance_type": covariance_type,
        "init": start,
        "standardize": False,
        "reg_covar": 0.0,
        "max_iter": 25,
    }
    clf = skem.SKEMClassifier(3, **options).fit(X.astype(dtype), y)
    assert_all_finite(clf, X.astype(dtype))
    assert_never_falls(clf, 1e-5 if dtype == np.float32 else None)
    assert clf.responsibilities(X[:20].astype(dtype)).argmax(axis=1).tolist() == [2] * 20


@every_classifier
@every_start
def test_far_fewer_rows_than_features(Classifier, init):
    X, y = equal_classes(n=12, m=40)
    for reg_covar in (0.0, 0.1):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            clf = Classifier(4, init=init, reg_covar=reg_covar, max_iter=10, random_state=0).fit(X, y)
            assert_all_finite(clf, X)
        assert_never_falls(clf)


def test_two_rows_are_enough():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), ["a", "b"]
    clf = skem.SKEMClassifier(random_state=0).fit(X, y)
    assert_all_finite(clf, X)
    assert clf.predict(X).tolist() == ["a", "b"]


@pytest.mark.parametrize("Estimator", [*CLASSIFIERS, skem.GaussianMixture])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_breaks_off_leaves_everything_as_it_was(monkeypatch, Estimator, error, n_jobs):
    X, y = equal_classes(n=5000)
    model = Estimator(4, n_jobs=n_jobs, random_state=0).fit(X, y)
    before, threads, blas = dict(vars(model)), threading.active_count(), threadpool_info()
    of_chunk = EStep.of_chunk
    calls = iter(range(10**6))

    def breaks(e_step, *chunk):
        if next(calls) > 10:
            raise error
        return of_chunk(e_step, *chunk)

    monkeypatch.setattr(EStep, "of_chunk", breaks)
    with pytest.raises(error):
        model.fit(X + 1, y)
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())
    assert threading.active_count() == threads
    assert threadpool_info() == blas


@pytest.mark.parametrize("weight", [1e308, 1e-300, 5e-324])
@pytest.mark.parametrize("Classifier", [skem.SKEMClassifier, skem.PRBFClassifier])
def test_only_ratios_of_weights_matter_however_large_they_are(Classifier, weight):
    X, y = equal_classes()
    plain = Classifier(4, max_iter=3, tol=0, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weighted = Classifier(4, max_iter=3, tol=0, random_state=0).fit(X, y, np.full(len(y), weight))
    np.testing.assert_allclose(weighted.objective_, plain.objective_, rtol=1e-12)


def test_a_constant_column_of_large_numbers_is_constant():
    X, y = equal_classes()
    X[:, 1] = 1.7e97
    model = skem.SKEMClassifier(4, random_state=0).fit(X, y)
    assert_all_finite(model, X)
    zero = skem.SKEMClassifier(4, random_state=0).fit(X * [1, 0, 1, 1], y)
    np.testing.assert_allclose(model.objective_, zero.objective_)


def elongated_clusters(n=300):
    """Two crossing clusters that only their covariances tell apart, shape (2 n, 2), and the cluster of each sample."""
    noise = np.random.default_rng(0).normal(size=(2 * n, 2)) * [5.0, 0.3]
    noise[n:] = noise[n:, ::-1]
    return noise, np.repeat([0, 1], n)


DEPENDENT_COLUMNS = {
    "sum": lambda X: (np.c_[X, X.sum(axis=1)], 0.0),
    "constant": lambda X: (np.c_[X, np.full(len(X), 3.0)], 0.0),
    "duplicate": lambda X: (np.c_[X, X[:, 0]], 0.0),
    "percentages": lambda X: (np.c_[X + 40, 20 - X.sum(axis=1)] * 1e5, 1e-6),
}


@pytest.mark.parametrize("columns", DEPENDENT_COLUMNS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_em_goes_on_where_the_samples_have_a_singular_covariance(columns, dtype):
    X, clusters = elongated_clusters()
    X, reg_covar = DEPENDENT_COLUMNS[columns](X)
    model = skem.GaussianMixture(2, init="sample", reg_covar=reg_covar, tol=1e-6, random_state=0)
    with pytest.warns(UserWarning, match=f"singular with reg_covar={reg_covar:g}.*set reg_covar"):
        model.fit(X.astype(dtype))
    assert_never_falls(model, 1e-5 if dtype == np.float32 else None)
    assert abs(np.mean(model.predict(X) == clusters) - 0.5) > 0.4
    with pytest.warns(UserWarning, match="SKEMClassifier: the covariance of the samples is singular"):
        skem.SKEMClassifier(2, reg_covar=0.0, random_state=0).fit(X.astype(dtype), clusters)


def test_a_singular_component_among_others_is_reported():
    X, clusters = elongated_clusters()
    X = np.c_[X, np.where(clusters, 20 + X @ [0.5, 0.5], np.random.default_rng(1).normal(size=len(X)))]
    with pytest.warns(UserWarning, match="1 component covariances are singular"):
        skem.GaussianMixture(2, reg_covar=0.0, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        skem.GaussianMixture(2, random_state=0).fit(X)
        skem.GaussianMixture(2, reg_covar=0.0, random_state=0).fit(X[:, :2])
