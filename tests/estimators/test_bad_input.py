"""What is refused, with which words; and what looks hopeless but has a defined outcome."""

import re
import threading
import warnings

import numpy as np
import pytest
import reference
from threadpoolctl import threadpool_info

from skem import (
    GaussianMixture,
    MDAClassifier,
    PRBFClassifier,
    PRBFClassifierCV,
    PRBFEnsemble,
    PSKEMClassifier,
    SKEMClassifier,
)
from skem.engine import em
from skem.estimators.rbf import GaussianKernels

CLASSIFIERS = [SKEMClassifier, PSKEMClassifier, MDAClassifier]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)
every_type = pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
every_start = pytest.mark.parametrize("init", ["uniform", "sample", "kmeans", "class", "class_kmeans"])


def rows(n=60, m=4, L=2, seed=0):
    y = np.arange(n) % L
    return np.random.default_rng(seed).normal(size=(n, m)) + y[:, None], y


def assert_refused(words, clf, X, y, sample_weight=None):
    with pytest.raises(ValueError, match=re.compile(words, re.IGNORECASE)):
        clf.fit(X, y, sample_weight)


def assert_all_finite(clf, X):
    """Every array a user can see holds numbers, and every row gets a proper posterior."""
    if isinstance(clf, SKEMClassifier):
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
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, "contains 1 NaN and 0 infinity values, of 240"),
        (np.inf, "contains 0 NaN and 1 infinity values, of 240"),
        (-np.inf, "contains 0 NaN and 1 infinity values, of 240"),
    ],
)
def test_features_must_be_finite(Classifier, value, words):
    X, y = rows()
    X[3, 1] = value
    assert_refused(words, Classifier(4), X, y)
    clf = Classifier(4, max_iter=1).fit(*rows())
    with pytest.raises(ValueError, match=words):
        clf.predict(X)


@every_classifier
def test_data_that_cannot_be_classified(Classifier):
    X, y = rows()
    assert_refused(
        "two classes, and the rows with a weight are of one class only: 0$", Classifier(4), X, y * 0
    )
    named = np.array(["cat", "dog"])[y]
    assert_refused("one class only: 'dog'$", Classifier(4), X, named, sample_weight=y)
    assert_refused(r"inconsistent numbers of samples: \[60, 59\]", Classifier(4), X, y[:-1])
    assert_refused(r"0 feature\(s\)", Classifier(4), X[:, :0], y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 4"):
        Classifier(4, max_iter=1).fit(X, y).predict(X[:, :2])


@every_classifier
@pytest.mark.parametrize("init", ["class", "class_kmeans"])
def test_fewer_components_than_classes_to_reserve_them_for(Classifier, init):
    assert_refused("n_components", Classifier(2, init=init), *rows(L=3))


@pytest.mark.parametrize("init", ["class", "class_kmeans"])
def test_more_components_asked_for_than_rows_of_a_class(init):
    X, y = rows(n=10)
    labels = np.array(["cat", "dog"])[y]
    labels[1:7] = "cat"
    words = f'init="{init}" draws 3 components from 2 rows of class \'dog\': .*n_components, or init="sample"'
    assert_refused(words, SKEMClassifier(6, init=init), X, labels)
    SKEMClassifier(6, init="sample", max_iter=1).fit(X, labels)


@pytest.mark.parametrize("init", ["sample", "kmeans"])
def test_more_components_asked_for_than_rows(init):
    X, y = rows(n=10)
    assert_refused(
        "11 components from 10 rows: .* smaller n_components$", SKEMClassifier(11, init=init), X, y
    )
    assert len(SKEMClassifier(10, init=init, max_iter=1, random_state=0).fit(X, y).means_) == 10


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([[0, 1], []], "empty"),
        ([[0, 1], [2, 2]], r"\b2\b"),
        ([[0], [4]], r"\b4\b"),
        ([[0], [-5]], "-5"),
        ([], "block"),
        ([[True, False]], r"block 0 .*integers.*\[True, False\]"),
        ([0, 1], "block 0 must be a list of feature indices, got 0"),
        (np.array([[0.0, 1.0]]), "block 0 .*integers"),
    ],
)
def test_impossible_blocks(blocks, words):
    for Classifier in (PSKEMClassifier, MDAClassifier):
        assert_refused(words, Classifier(4, n_blocks=max(len(blocks), 1), arrangement=blocks), *rows())


@pytest.mark.parametrize(
    "bad",
    [
        {"reg_covar": -1e-3},
        {"reg_covar": np.nan},
        {"covariance_type": "round"},
        {"init": "magic"},
        {"init_scale": 0.0},
        {"init_spread": -1.0},
        {"n_components": 0},
        {"max_iter": 0},
        {"tol": -1.0},
        {"validation_fraction": 1.5, "early_stopping": True},
        {"n_iter_no_change": 0},
        {"class_prior": "guess"},
        {"class_prior": [0.5, 0.2]},
        {"class_prior": [1.5, -0.5]},
        {"class_prior": [0.2, 0.3, 0.5]},
        {"arrangement": "spiral"},
        {"n_blocks": 0},
    ],
    ids=str,
)
def test_parameters_out_of_range(bad):
    assert_refused(next(iter(bad)), PSKEMClassifier(**{"n_components": 4, **bad}), *rows())


def good_start(K=3, m=4, L=2):
    return (
        np.full((K, L), 1 / K),
        np.arange(K * m, dtype=float).reshape(K, m),
        np.repeat(np.eye(m)[None], K, 0),
    )


@pytest.mark.parametrize(
    ("position", "array", "words"),
    [
        (0, np.full((3, 3), 1 / 3), "weights"),
        (0, np.full((2, 2), 1 / 2), "weights"),
        (0, np.full((3, 2), 0.4), "weights"),
        (0, np.array([[1.5, 1], [-0.5, 0], [0, 0]]), "weights"),
        (0, np.full((3, 2), np.nan), "weights"),
        (1, np.zeros((3, 5)), "means"),
        (1, np.zeros((2, 4)), "means"),
        (1, np.full((3, 4), np.inf), "means"),
        (2, np.repeat(np.eye(5)[None], 3, 0), "covariances"),
        (2, np.repeat(np.eye(4)[None], 2, 0), "covariances"),
        (2, np.repeat(np.diag([1.0, 1, 1, -1])[None], 3, 0), "covariances"),
        (2, np.zeros((3, 4, 4)), "covariances"),
        (2, np.repeat((np.eye(4) + np.eye(4, k=1))[None], 3, 0), "covariances"),
        (2, np.full((3, 4, 4), np.nan), "covariances"),
    ],
)
def test_arrays_that_are_no_mixture(position, array, words):
    start = list(good_start())
    SKEMClassifier(3, init=tuple(start), max_iter=1).fit(*rows())
    start[position] = array
    assert_refused(words, SKEMClassifier(3, init=tuple(start)), *rows())


def test_starts_that_do_not_fit_the_model():
    assert_refused("n_components|weights", SKEMClassifier(5, init=good_start()), *rows())
    assert_refused("init", SKEMClassifier(3, init=good_start()[:2]), *rows())
    assert_refused("init", PSKEMClassifier(3, n_blocks=2, init=[good_start(m=2)]), *rows())
    different = good_start()[2] * np.array([1, 2, 3])[:, None, None]
    assert_refused("covariance", MDAClassifier(3, init=[(*good_start()[:2], different)]), *rows())
    diagonal = np.ones((3, 4))
    diagonal[1, 2] = 0
    assert_refused(
        "covariances", SKEMClassifier(3, covariance_type="diag", init=(*good_start()[:2], diagonal)), *rows()
    )


@every_classifier
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_sample_weight_must_be_weights(Classifier, weight):
    X, y = rows()
    sample_weight = np.ones(60)
    sample_weight[5] = weight
    assert_refused("sample.?weight", Classifier(4), X, y, sample_weight)
    assert_refused("weight", Classifier(4), X, y, np.zeros(60))
    assert_refused("sample.?weight", Classifier(4), X, y, np.ones(59))


@every_classifier
@every_start
def test_a_constant_column(Classifier, init):
    X, y = rows()
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
    X, y = rows()
    X = np.c_[X, X[:, 0], 3 * X[:, 1] - 2]
    for reg_covar in (0.0, 0.1):
        options = {"covariance_type": covariance_type, "init": init, "reg_covar": reg_covar}
        clf = SKEMClassifier(4, **options, max_iter=10, random_state=0).fit(X, y)
        assert_all_finite(clf, X)
        assert_never_falls(clf)
    assert clf.score(X, y) > 0.6


@every_classifier
@every_start
def test_a_class_with_one_row(Classifier, init):
    X, y = rows()
    y[y == 1] = 0
    y[17], X[17] = 1, 6.0
    for reg_covar in (0.0, 0.1):
        clf = Classifier(init=init, reg_covar=reg_covar, random_state=0).fit(X, y)
        assert_all_finite(clf, X)
        assert_never_falls(clf)
    assert clf.predict(X[17:18]) == [1]


@every_type
def test_a_component_without_data_stays_where_it_is(covariance_type):
    X, y = rows()
    weights, means, covariances = good_start()
    means = np.array([[0.0] * 4, [1.0] * 4, [1e6] * 4])
    shapes = {"full": covariances, "tied": np.eye(4), "diag": np.ones((3, 4)), "spherical": np.ones(3)}
    start = (weights, means, shapes[covariance_type])
    clf = SKEMClassifier(3, covariance_type=covariance_type, init=start, standardize=False, max_iter=6).fit(
        X, y
    )
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
    X, y = rows(n=200)
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
    clf = SKEMClassifier(3, **options).fit(X.astype(dtype), y)
    assert_all_finite(clf, X.astype(dtype))
    assert_never_falls(clf, 1e-5 if dtype == np.float32 else None)
    assert clf.responsibilities(X[:20].astype(dtype)).argmax(axis=1).tolist() == [2] * 20


@every_classifier
@every_start
def test_far_fewer_rows_than_features(Classifier, init):
    X, y = rows(n=12, m=40)
    for reg_covar in (0.0, 0.1):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            clf = Classifier(4, init=init, reg_covar=reg_covar, max_iter=10, random_state=0).fit(X, y)
            assert_all_finite(clf, X)
        assert_never_falls(clf)


def test_two_rows_are_enough():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), ["a", "b"]
    clf = SKEMClassifier(random_state=0).fit(X, y)
    assert_all_finite(clf, X)
    assert clf.predict(X).tolist() == ["a", "b"]


@every_classifier
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_breaks_off_leaves_everything_as_it_was(monkeypatch, Classifier, error, n_jobs):
    X, y = rows(n=5000)
    clf = Classifier(4, n_jobs=n_jobs, random_state=0).fit(X, y)
    before, threads, blas = dict(vars(clf)), threading.active_count(), threadpool_info()
    exponentiate = em.exponentiate
    calls = iter(range(10**6))

    def breaks(log_joint):
        if next(calls) > 30:
            raise error
        return exponentiate(log_joint)

    monkeypatch.setattr(em, "exponentiate", breaks)
    with pytest.raises(error):
        clf.fit(X + 1, y)
    assert vars(clf).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(clf).items())
    assert threading.active_count() == threads
    assert threadpool_info() == blas


@every_classifier
@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_a_feature_whose_square_float64_cannot_hold_is_named(Classifier, factor):
    X, y = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_refused("feature 3, .* multiply it", Classifier(4), X * [1, 1, 1, factor], y)


@every_classifier
def test_a_row_too_far_off_for_its_square_is_refused(Classifier):
    X, y = rows()
    clf = Classifier(4, max_iter=1).fit(X, y)
    X[3, 1] = 1e200
    with pytest.raises(ValueError, match=r"feature 1 is .* too far"):
        clf.predict(X)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (SKEMClassifier(n_components=True), "n_components"),
        (SKEMClassifier(max_iter=np.True_), "max_iter"),
        (PSKEMClassifier(n_blocks=True), "n_blocks"),
        (PSKEMClassifier(n_iter_no_change=False), "n_iter_no_change"),
        (MDAClassifier(reg_covar=False), "reg_covar"),
        (PRBFClassifier(n_init=True), "n_init"),
        (PRBFEnsemble(n_jobs=True), "n_jobs"),
        (PRBFClassifierCV(n_jobs=True), "n_jobs"),
        (GaussianMixture(n_components=True), "n_components"),
        (GaussianKernels(n_components=True), "n_components"),
    ],
)
def test_true_and_false_are_no_numbers(model, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {type(model).__name__} must be .* Got "):
        model.fit(*rows())


@pytest.mark.parametrize("weight", [1e308, 1e-300, 5e-324])
@pytest.mark.parametrize("Classifier", [SKEMClassifier, PRBFClassifier])
def test_only_ratios_of_weights_matter_however_large_they_are(Classifier, weight):
    X, y = rows()
    plain = Classifier(4, max_iter=3, tol=0, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weighted = Classifier(4, max_iter=3, tol=0, random_state=0).fit(X, y, np.full(len(y), weight))
    np.testing.assert_allclose(weighted.objective_, plain.objective_, rtol=1e-12)


def test_a_class_with_next_to_no_weight_is_refused():
    X, y = rows()
    weights = np.where(y == 0, 1.0, 1e-40)
    assert_refused(
        "no row of class 1 has more than 1e-30 of the largest weight", SKEMClassifier(4), X, y, weights
    )


def test_a_feature_lost_beside_the_others_is_refused():
    X, y = rows()
    X *= [1e60, 1e60, 1e-50, 1e60]
    model = SKEMClassifier(4, standardize=False, reg_covar=0)
    assert_refused("feature 2.*spreads too little beside the others.*standardize=True", model, X, y)
    assert_all_finite(model.set_params(standardize=True).fit(X, y), X)


def test_a_constant_column_of_large_numbers_is_constant():
    X, y = rows()
    X[:, 1] = 1.7e97
    model = SKEMClassifier(4, random_state=0).fit(X, y)
    assert_all_finite(model, X)
    zero = SKEMClassifier(4, random_state=0).fit(X * [1, 0, 1, 1], y)
    np.testing.assert_allclose(model.objective_, zero.objective_)
