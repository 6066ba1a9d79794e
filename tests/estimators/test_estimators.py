"""The estimators as scikit-learn users meet them."""

import inspect
import io

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from skem import (
    DiscriminativePSKEMClassifier,
    GaussianKernels,
    MDAClassifier,
    PRBFClassifier,
    PRBFClassifierCV,
    PRBFEnsemble,
    PSKEMClassifier,
    PSKEMClassifierCV,
    SDGMClassifier,
    SKEMClassifier,
)

CLASSIFIERS = [SKEMClassifier, PSKEMClassifier, MDAClassifier]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def parameters_of(clf):
    """Everything a fit learned, as a list of (weights, means, covariances)."""
    if isinstance(clf, SKEMClassifier):
        return [(clf.weights_, clf.means_, clf.covariances_)]
    return [(block.weights, block.means, block.covariances) for block in clf.blocks_]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        SKEMClassifier(),
        PSKEMClassifier(),
        MDAClassifier(),
        PRBFClassifier(),
        PRBFEnsemble(),
        PRBFClassifierCV(sharings=(0, 1), cv=2),  # five lambdas in five folds take a minute
        PSKEMClassifierCV(n_blocks=1, reg_covar=(0.03, 0.3), max_iter=3, cv=2),
        GaussianKernels(),
        DiscriminativePSKEMClassifier(),
        DiscriminativePSKEMClassifier(batch_size=500, discriminative_iter=3),
        SDGMClassifier(max_iter=3, em_iter=3),  # the checks ask for no more, and there are 60 of them
    ],
    ids=str,
)
def test_scikit_learn_checks_pass_with_nothing_skipped(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    # Arrays of libraries and devices that are not there.
    results = [
        result
        for result in results
        if not (result["check_name"].startswith("check_array_api") and result["status"] == "skipped")
    ]
    assert sum(result["check_name"].startswith("check_array_api") for result in results)
    faults = [result for result in results if result["status"] != "passed"]
    assert [(fault["check_name"], fault["status"], fault["exception"]) for fault in faults] == []
    assert len(results) > 40


SHARED_PARAMETERS = (
    "sharing=None, groups=None, init='class', n_init=1, init_spread=2.0, init_scale=2.0, standardize=True, reg_covar=0.1, class_prior='empirical', "
    "max_iter=30, tol=0.0, early_stopping=False, validation_fraction=0.1, n_iter_no_change=5, "
    "warm_start=False, n_jobs=None, random_state=None"
)


@pytest.mark.parametrize(
    ("Classifier", "first"),
    [
        (SKEMClassifier, "covariance_type='full'"),
        (PSKEMClassifier, "n_blocks=1, arrangement='sequential', block_size=None, covariance_type='full'"),
        (MDAClassifier, "n_blocks=1, arrangement='sequential', block_size=None"),
    ],
)
def test_signatures(Classifier, first):
    parameters = inspect.signature(Classifier).parameters.values()
    bare = inspect.Signature(
        [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    )
    assert str(bare) == f"(n_components=None, *, {first}, {SHARED_PARAMETERS})"


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_defaults_are_good_enough(load):
    """Within three points of linear discriminant analysis, or better, untouched."""
    X, y = load(return_X_y=True)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2 if len(y) > 500 else 5, random_state=0)
    rival = cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=folds).mean()
    accuracy = cross_val_score(SKEMClassifier(random_state=0), X, y, cv=folds).mean()
    assert accuracy >= rival - 0.03, (accuracy, rival)
    # Untouched, the other one is the same model.
    expected = SKEMClassifier(max_iter=3, random_state=0).fit(X, y).predict_proba(X)
    assert_array_equal(PSKEMClassifier(max_iter=3, random_state=0).fit(X, y).predict_proba(X), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@every_classifier
def test_frames_in(Classifier, frame, iris):
    X, y = iris
    names = ["a", "b", "c", "d"]
    table = frame(dict(zip(names, X.T, strict=True)))
    clf = Classifier(6, max_iter=3, random_state=0).fit(table, y)
    assert list(clf.feature_names_in_) == names
    assert clf.n_features_in_ == 4
    plain = Classifier(6, max_iter=3, random_state=0).fit(X, y)
    assert_allclose(clf.predict_proba(table), plain.predict_proba(X), rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(table[["b", "a", "c", "d"]])


@every_classifier
def test_saved_and_loaded(Classifier, iris):
    X, y = iris
    clf = Classifier(6, max_iter=3, random_state=0).fit(X, y)
    stream = io.BytesIO()
    joblib.dump(clf, stream)
    stream.seek(0)
    dumped = skops.io.dumps(clf)
    untrusted = skops.io.get_untrusted_types(data=dumped)
    assert all(name.startswith("skem.") for name in untrusted), untrusted
    for twin in (joblib.load(stream), skops.io.loads(dumped, trusted=untrusted)):
        assert_array_equal(twin.class_log_density(X), clf.class_log_density(X))
        assert_array_equal(twin.predict(X), clf.predict(X))


@every_classifier
def test_clone_and_parameters(Classifier):
    clf = Classifier(7, reg_covar=0.3)
    assert clf.set_params(max_iter=9, n_components=8) is clf
    twin = clone(clf)
    assert twin.get_params() == clf.get_params()
    assert (twin.n_components, twin.max_iter, twin.reg_covar) == (8, 9, 0.3)


def test_grid_search_in_a_pipeline(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pipeline = make_pipeline(StandardScaler(), PSKEMClassifier(6, max_iter=5, random_state=0))
    grid = {"pskemclassifier__n_components": [3, 6], "pskemclassifier__n_blocks": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, names)
    assert search.best_score_ > 0.9
    assert set(search.predict(X)) == {"setosa", "versicolor", "virginica"}
    assert list(search.best_estimator_[-1].classes_) == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize(
    ("class_prior", "expected"),
    [("uniform", [1 / 3] * 3), ("empirical", [0.5, 0.3, 0.2]), ([0.7, 0.1, 0.2], [0.7, 0.1, 0.2])],
)
def test_class_prior_and_what_follows_from_it(class_prior, expected, iris):
    X, y = iris
    rows = np.r_[0:50, 50:80, 100:120]
    X, y = X[rows], np.array(["c", "a", "b"])[y[rows]]
    expected = np.array(expected)
    if class_prior == "empirical":
        expected = expected[[1, 2, 0]]  # in the order of classes_: a, b, c
    clf = SKEMClassifier(6, init="uniform", class_prior=class_prior, max_iter=5, random_state=0).fit(X, y)
    assert_allclose(clf.class_prior_, expected, rtol=1e-12)
    joint = clf.class_log_density(X) + np.log(expected)
    assert_allclose(clf.predict_joint_log_proba(X), joint, rtol=1e-12)
    assert_allclose(clf.score_samples(X), logsumexp(joint, axis=1), rtol=1e-12)
    posterior = joint - logsumexp(joint, axis=1, keepdims=True)
    assert_allclose(clf.predict_log_proba(X), posterior, rtol=1e-9, atol=1e-9)
    assert_allclose(clf.predict_proba(X), np.exp(posterior), rtol=1e-9, atol=1e-12)
    assert_array_equal(clf.predict(X), clf.classes_[joint.argmax(axis=1)])


def test_the_empirical_prior_is_weighted(iris):
    X, y = iris
    sample_weight = np.array([1.0, 2.0, 5.0])[y]
    clf = SKEMClassifier(6, class_prior="empirical", max_iter=2, random_state=0).fit(X, y, sample_weight)
    assert_allclose(clf.class_prior_, [1 / 8, 2 / 8, 5 / 8], rtol=1e-12)


@every_classifier
def test_responsibilities(Classifier, iris):
    X, y = iris
    labels = np.array(["u", "v", "w"])[y]
    prior = np.array([0.2, 0.3, 0.5])
    clf = Classifier(7, init="uniform", class_prior=prior, max_iter=4, random_state=0).fit(X, labels)
    unknown, known = clf.responsibilities(X), clf.responsibilities(X, labels)
    indices = clf.block_indices_ if Classifier is PSKEMClassifier else [np.arange(4)]
    if Classifier is not PSKEMClassifier:
        unknown, known = [unknown], [known]
    assert isinstance(unknown, list)
    assert isinstance(known, list)
    for r, (arrays, index) in enumerate(zip(parameters_of(clf), indices, strict=True)):
        model = reference.Model(*arrays)
        assert unknown[r].shape == known[r].shape == (150, 7)
        assert_allclose(known[r], reference.responsibilities(X[:, index], model, y), atol=1e-9)
        assert_allclose(unknown[r].sum(axis=1), 1, rtol=1e-9)
        if Classifier is SKEMClassifier:
            mixed = reference.Model((model.weights @ prior)[:, None], model.means, model.covariances)
            nothing = np.zeros(len(X), dtype=int)
            assert_allclose(unknown[r], reference.responsibilities(X, mixed, nothing), atol=1e-9)


@every_classifier
def test_sample_has_the_right_moments(Classifier, iris):
    X, y = iris
    clf = Classifier(6, class_prior=[0.2, 0.3, 0.5], max_iter=5, random_state=0).fit(X, y)
    drawn, labels = clf.sample(30000)
    assert drawn.shape == (30000, 4)
    assert labels.shape == (30000,)
    assert_allclose(np.bincount(labels) / 30000, clf.class_prior_, atol=0.015)
    indices = [np.arange(4)] if Classifier is SKEMClassifier else clf.block_indices_
    for c in range(3):
        rows = drawn[labels == c]
        for index, (weights, means, covariances) in zip(indices, parameters_of(clf), strict=True):
            mean = weights[:, c] @ means
            within = reference.full_covariances(covariances, len(means), len(index))
            shift = means - mean
            covariance = np.einsum("k,kij->ij", weights[:, c], within + shift[:, :, None] * shift[:, None])
            deviation = np.sqrt(np.diag(covariance))
            error = (rows[:, index].mean(axis=0) - mean) / (deviation / np.sqrt(len(rows)))
            assert np.abs(error).max() < 5
            ratio = (np.cov(rows[:, index].T) - covariance) / np.outer(deviation, deviation)
            assert np.abs(ratio).max() < 0.1
    wanted = np.repeat([2, 0], 50)
    rows, labels = clf.sample(100, wanted)
    assert_array_equal(labels, wanted)
    assert (clf.predict(rows) == wanted).mean() > 0.8
    first, second = Classifier(3, max_iter=1).fit(X, y).sample()
    assert first.shape == (1, 4)
    assert second.shape == (1,)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(
    ("covariance_type", "shape"),
    [("full", (6, 4, 4)), ("tied", (4, 4)), ("diag", (6, 4)), ("spherical", (6,))],
)
def test_shapes_of_fitted_parameters(covariance_type, shape, standardize, iris):
    if covariance_type == "spherical" and standardize:
        shape = (6, 4)
    options = {
        "covariance_type": covariance_type,
        "standardize": standardize,
        "max_iter": 2,
        "random_state": 0,
    }
    clf = SKEMClassifier(6, **options).fit(*iris)
    assert clf.weights_.shape == (6, 3)
    assert clf.means_.shape == (6, 4)
    assert clf.covariances_.shape == shape
    assert_allclose(clf.weights_.sum(axis=0), 1)
    blocks = PSKEMClassifier(6, n_blocks=2, **options).fit(*iris).blocks_
    assert [block.means.shape for block in blocks] == [(6, 2), (6, 2)]


@pytest.mark.parametrize("Classifier", [SKEMClassifier, PSKEMClassifier, PRBFClassifier])
@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_a_covariance_type_set_after_the_fit_waits_for_the_next_one(Classifier, covariance_type, iris):
    X, y = iris
    clf = Classifier(4, covariance_type=covariance_type, max_iter=3, tol=0, random_state=0).fit(X, y)
    before = clf.class_log_density(X), clf.sample(5)[0]
    for other in ("full", "tied", "diag", "spherical"):
        clf.set_params(covariance_type=other)
        assert_array_equal(clf.class_log_density(X), before[0])
        assert_array_equal(clf.sample(5)[0], before[1])


@pytest.mark.parametrize("Classifier", [SKEMClassifier, MDAClassifier, PRBFClassifier])
def test_parameters_before_a_fit(Classifier):
    for name in ("weights_", "means_", "covariances_"):
        assert not hasattr(Classifier(), name)
        with pytest.raises(AttributeError, match=f"{Classifier.__name__} is not fitted: {name}"):
            getattr(Classifier(), name)


@pytest.mark.parametrize("y", [None, 1])
def test_rows_to_draw_are_at_least_one(y, iris):
    clf = SKEMClassifier(4, max_iter=1).fit(*iris)
    for n in (0, -1):
        with pytest.raises(ValueError, match=f"n_samples must be at least 1, got {n}"):
            clf.sample(n, y)
    assert len(clf.sample(y=[0, 1, 1])[0]) == 3


def test_class_start_reserves_components(iris):
    clf = SKEMClassifier(8, init="class", max_iter=10, random_state=0).fit(*iris)
    assert_array_equal((clf.weights_ > 0).sum(axis=1), np.ones(8))
    assert_array_equal((clf.weights_ > 0).sum(axis=0), [3, 3, 2])


@pytest.mark.parametrize(("n_classes", "expected"), [(2, 20), (6, 20), (7, 21), (10, 30)])
def test_number_of_components_by_default(n_classes, expected):
    y = np.arange(300) % n_classes
    X = np.random.default_rng(0).normal(size=(300, 3)) + y[:, None]
    clf = SKEMClassifier(max_iter=1, random_state=0).fit(X, y)
    assert clf.n_components_ == expected == len(clf.means_)
    assert clf.n_components is None


def arranged(arrangement, n_blocks, n_features=8, **options):
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, n_features)) + y[:, None]
    clf = PSKEMClassifier(4, n_blocks=n_blocks, arrangement=arrangement, max_iter=1, **options).fit(X, y)
    assert clf.n_blocks_ == len(clf.blocks_) == len(clf.block_indices_)
    assert [block.means.shape[1] for block in clf.blocks_] == [len(index) for index in clf.block_indices_]
    return [list(map(int, index)) for index in clf.block_indices_]


def test_arrangements():
    assert arranged("sequential", 2) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert arranged("interleaved", 3) == [[0, 3, 6], [1, 4, 7], [2, 5]]
    unequal = arranged("sequential", 3)
    assert [*unequal[0], *unequal[1], *unequal[2]] == list(range(8))
    assert sorted(map(len, unequal)) == [2, 3, 3]
    shuffled = arranged("random", 3, random_state=0)
    assert sorted([*shuffled[0], *shuffled[1], *shuffled[2]]) == list(range(8))
    assert sorted(map(len, shuffled)) == [2, 3, 3]
    assert shuffled == arranged("random", 3, random_state=0) != arranged("random", 3, random_state=1)
    assert arranged([[7, 0], [0, 1, 2]], 3) == [[7, 0], [0, 1, 2]]
    assert arranged(np.array([[7, 0], [1, 2]]), 3) == [[7, 0], [1, 2]]
    assert arranged("sequential", 8) == [[i] for i in range(8)]


@pytest.mark.parametrize(("n_blocks", "size"), [(1, 3), (4, 6), (5, 3), (7, 8), (20, 5)])
def test_blocks_of_a_size_cover_features_evenly(n_blocks, size):
    drawn = [
        arranged("random", n_blocks, block_size=size, random_state=seed, reg_covar=1.0) for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1]
    assert size == 8 or drawn[0] != drawn[2]
    assert [len(set(block)) for block in drawn[0]] == [size] * n_blocks
    counts = np.bincount(np.concatenate(drawn[0]), minlength=8)
    assert counts.max() - counts.min() <= 1


def test_overlapping_blocks_are_trained_apart_and_multiplied():
    X, y = load_wine(return_X_y=True)
    options = {"arrangement": "random", "block_size": 7, "init": "sample", "warm_start": True}
    clf = PSKEMClassifier(6, n_blocks=4, max_iter=2, random_state=0, **options).fit(X, y)
    parts = []
    for columns, block in zip(clf.block_indices_, clf.blocks_, strict=True):
        part = SKEMClassifier(init=(block.weights, block.means, block.covariances), max_iter=1)
        parts.append(part.fit(X[:, columns], y).class_log_density(X[:, columns]))
    clf.set_params(max_iter=1).fit(X, y)
    assert_allclose(clf.class_log_density(X), sum(parts), rtol=1e-7)
    with pytest.raises(ValueError, match="block_indices_ has features in several blocks or in none"):
        clf.sample(2)
    with pytest.raises(ValueError, match="warm_start: block_size changed from 7 to 6"):
        clf.set_params(block_size=6).fit(X, y)


def test_mda_has_one_covariance_per_block(iris):
    clf = MDAClassifier(6, n_blocks=2, max_iter=3, random_state=0).fit(*iris)
    assert [block.covariances.shape for block in clf.blocks_] == [(2, 2), (2, 2)]
    assert clf.score(*iris) > 0.85
