"""The estimators as scikit-learn users meet them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import skem
from skem.images import CovariancePCA

CLASSIFIERS = [skem.SKEMClassifier, skem.PSKEMClassifier, skem.MDAClassifier]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)
QUICK = {"max_iter": 3}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        skem.SKEMClassifier(**QUICK),
        skem.PSKEMClassifier(**QUICK),
        skem.MDAClassifier(**QUICK),
        skem.PRBFClassifier(**QUICK),
        skem.DiscriminativePSKEMClassifier(discriminative_iter=2, **QUICK),
        skem.DiscriminativePSKEMClassifierCV(
            skem.DiscriminativePSKEMClassifier(**QUICK),
            covariance_type="tied",
            scaling="standard",
            n_components=5,
            n_blocks=1,
            reg_covar=0.1,
            training_temperature=2.0,
            max_doublings=1,
            cv=2,
        ),
        skem.SDGMClassifier(em_iter=3, **QUICK),
        skem.GaussianMixture(),
        skem.GaussianMixturePath(n_components=(1, 2), covariance_types=("full", "diag")),
        skem.KMeans(),
        skem.DensityOutlierDetector(skem.GaussianMixture(2, random_state=0)),
        CovariancePCA(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scikit_learn_checks_pass_with_nothing_skipped(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    # Arrays of libraries and devices that are not installed.
    missing = [
        r for r in results if r["check_name"].startswith("check_array_api") and r["status"] == "skipped"
    ]
    faults = [r for r in results if r["status"] != "passed" and r not in missing]
    assert [(fault["check_name"], fault["status"], fault["exception"]) for fault in faults] == []
    assert len(results) > 40


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks_of_a_choice():
    """Two samples may be in different folds, and one of weight two is not."""
    name = "check_sample_weight_equivalence_on_dense_data"
    model = skem.DiscriminativePSKEMClassifier()
    results = check_estimator(model, on_skip=None, on_fail=None, expected_failed_checks={name: "folds"})
    failed = {r["check_name"] for r in results if r["status"] not in ("passed", "skipped")}
    assert failed <= {name}


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_defaults_are_good_enough(load):
    """Within three points of linear discriminant analysis, or better, untouched."""
    X, y = load(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    baseline = cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=folds).mean()
    assert cross_val_score(skem.SKEMClassifier(random_state=0), X, y, cv=folds).mean() >= baseline - 0.03


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame, iris):
    X, y = iris
    names = ["a", "b", "c", "d"]
    table = frame(dict(zip(names, X.T, strict=True)))
    clf = skem.PSKEMClassifier(6, max_iter=3, random_state=0).fit(table, y)
    assert list(clf.feature_names_in_) == names
    plain = skem.PSKEMClassifier(6, max_iter=3, random_state=0).fit(X, y)
    assert_allclose(clf.predict_proba(table), plain.predict_proba(X), rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(table[["b", "a", "c", "d"]])


@pytest.mark.parametrize(
    ("priors", "expected"),
    [("uniform", [1 / 3] * 3), ("empirical", [0.5, 0.3, 0.2]), ([0.7, 0.1, 0.2], [0.7, 0.1, 0.2])],
)
def test_class_prior_and_what_follows_from_it(priors, expected, iris):
    X, y = iris
    rows = np.r_[0:50, 50:80, 100:120]
    X, y = X[rows], np.array(["c", "a", "b"])[y[rows]]
    expected = np.array(expected)
    if priors == "empirical":
        expected = expected[[1, 2, 0]]  # in the order of classes_: a, b, c
    clf = skem.SKEMClassifier(6, init_params="uniform", priors=priors, max_iter=5, random_state=0)
    if priors == "empirical":  # weights count
        sample_weight = np.where(y == "a", 2.0, 1.0)
        expected = np.array([0.6, 0.2, 0.5]) / 1.3
        clf.fit(X, y, sample_weight)
    else:
        clf.fit(X, y)
    assert_allclose(clf.priors_, expected, rtol=1e-12)
    joint = clf.class_log_density(X) + np.log(expected)
    assert_allclose(clf.predict_joint_log_proba(X), joint, rtol=1e-12)
    assert_allclose(clf.score_samples(X), logsumexp(joint, axis=1), rtol=1e-12)
    posterior = joint - logsumexp(joint, axis=1, keepdims=True)
    assert_allclose(clf.predict_log_proba(X), posterior, rtol=1e-9, atol=1e-9)
    assert_allclose(clf.predict_proba(X), np.exp(posterior), rtol=1e-9, atol=1e-12)
    assert_array_equal(clf.predict(X), clf.classes_[joint.argmax(axis=1)])


def reference_models(clf):
    """Features of each block, and its parameters as the reference has them."""
    return [
        (index, reference.Model(block.weights, block.means, block.covariances))
        for index, block in zip(clf.block_indices_, clf.blocks_, strict=True)
    ]


@every_classifier
def test_responsibilities(Classifier, iris):
    X, y = iris
    labels = np.array(["u", "v", "w"])[y]
    prior = np.array([0.2, 0.3, 0.5])
    clf = Classifier(7, init_params="uniform", priors=prior, max_iter=4, random_state=0).fit(X, labels)
    unknown, known = clf.responsibilities(X), clf.responsibilities(X, labels)
    for r, (index, model) in enumerate(reference_models(clf)):
        assert unknown[r].shape == known[r].shape == (150, 7)
        assert_allclose(known[r], reference.responsibilities(X[:, index], model, y), atol=1e-9)
        assert_allclose(unknown[r].sum(axis=1), 1, rtol=1e-9)
        if Classifier is skem.SKEMClassifier:
            mixed = reference.Model((model.weights @ prior)[:, None], model.means, model.covariances)
            nothing = np.zeros(len(X), dtype=int)
            assert_allclose(unknown[r], reference.responsibilities(X, mixed, nothing), atol=1e-9)


@pytest.mark.parametrize(
    "model", [skem.SKEMClassifier(6), skem.PSKEMClassifier(6, n_blocks=2), skem.MDAClassifier(6)], ids=str
)
def test_samples_have_the_moments_of_the_model(model, iris):
    clf = model.set_params(priors=[0.2, 0.3, 0.5], max_iter=5, random_state=0).fit(*iris)
    drawn, labels = clf.sample(20_000)
    assert drawn.shape == (20_000, 4)
    assert_allclose(np.bincount(labels) / 20_000, clf.priors_, atol=0.015)
    for c in range(3):
        samples = drawn[labels == c]
        for index, block in reference_models(clf):
            mean = block.weights[:, c] @ block.means
            within = reference.full_covariances(block.covariances, len(block.means), len(index))
            shift = block.means - mean
            total = within + shift[:, :, None] * shift[:, None]
            covariance = np.einsum("k,kij->ij", block.weights[:, c], total)
            deviation = np.sqrt(np.diag(covariance))
            error = (samples[:, index].mean(axis=0) - mean) / (deviation / np.sqrt(len(samples)))
            assert np.abs(error).max() < 5
            ratio = (np.cov(samples[:, index].T) - covariance) / np.outer(deviation, deviation)
            assert np.abs(ratio).max() < 0.1
    wanted = np.repeat([2, 0], 50)
    samples, labels = clf.sample(100, wanted)
    assert_array_equal(labels, wanted)
    assert (clf.predict(samples) == wanted).mean() > 0.8


@pytest.mark.parametrize("Estimator", [skem.SKEMClassifier, skem.GaussianMixture])
def test_random_state_of_samples(Estimator, iris):
    model = Estimator(3, max_iter=2, tol=0, random_state=7).fit(*iris)
    first = model.sample(5)[0]
    for same in (model.sample(5), model.sample(5, random_state=7)):
        assert_array_equal(same[0], first)
    assert (model.sample(5, random_state=8)[0] != first).any()
    stream = np.random.RandomState(7)
    assert_array_equal(model.sample(5, random_state=stream)[0], first)
    assert (model.sample(5, random_state=stream)[0] != first).any()


def arranged(arrangement, n_blocks, n_features=8, **options):
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, n_features)) + y[:, None]
    clf = skem.PSKEMClassifier(4, n_blocks=n_blocks, arrangement=arrangement, max_iter=1, **options).fit(X, y)
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


@pytest.mark.parametrize(("n_blocks", "size"), [(1, 3), (4, 6), (7, 8), (20, 5)])
def test_blocks_of_a_size_cover_features_evenly(n_blocks, size):
    drawn = [
        arranged("random", n_blocks, options={"block_size": size}, random_state=seed, reg_covar=1.0)
        for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1]
    assert size == 8 or drawn[0] != drawn[2]
    assert [len(set(block)) for block in drawn[0]] == [size] * n_blocks
    counts = np.bincount(np.concatenate(drawn[0]), minlength=8)
    assert counts.max() - counts.min() <= 1
