"""What is refused, with which words."""

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference import equal_classes

from skem import (
    DiscriminativePSKEMClassifier,
    GaussianMixture,
    MDAClassifier,
    PRBFClassifier,
    PRBFClassifierCV,
    PRBFEnsemble,
    PSKEMClassifier,
    SKEMClassifier,
)
from skem.estimators.rbf import GaussianKernels

CLASSIFIERS = [SKEMClassifier, PSKEMClassifier, MDAClassifier]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)


def assert_refused(words, clf, X, y, sample_weight=None):
    with pytest.raises(ValueError, match=re.compile(words, re.IGNORECASE)):
        clf.fit(X, y, sample_weight)


@every_classifier
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.inf, "contains 0 NaN and 1 infinity values, of 240"),
        (-np.inf, "contains 0 NaN and 1 infinity values, of 240"),
    ],
)
def test_features_must_not_be_infinite(Classifier, value, words):
    X, y = equal_classes()
    X[3, 1] = value
    assert_refused(words, Classifier(4), X, y)
    clf = Classifier(4, max_iter=1).fit(*equal_classes())
    with pytest.raises(ValueError, match=words):
        clf.predict(X)


@every_classifier
def test_data_that_cannot_be_classified(Classifier):
    X, y = equal_classes()
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
    assert_refused("n_components", Classifier(2, init=init), *equal_classes(L=3))


@pytest.mark.parametrize("init", ["class", "class_kmeans"])
def test_a_class_is_given_no_more_components_than_distinct_samples(init):
    X, y = equal_classes(n=12)
    labels = np.array(["cat", "dog"])[y]
    labels[1:7] = "cat"
    X[labels == "dog"] = X[-2:][np.arange((labels == "dog").sum()) % 2]
    words = "n_components=7 reserves 3 components for class 'dog', which has 2 distinct training samples; 6 components"
    with pytest.warns(UserWarning, match=words):
        model = SKEMClassifier(7, init=init, max_iter=1, warm_start=True, random_state=0).fit(X, labels)
    assert_array_equal((model.weights_ > 0).sum(axis=0), [4, 2])
    assert model.fit(X, labels).n_components_ == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SKEMClassifier(init=init, max_iter=1).fit(X, labels).n_components_ < 20
        SKEMClassifier(6, init="sample", max_iter=1).fit(X, labels)


def test_components_of_a_rare_class_are_its_own_under_sharing():
    X, y = equal_classes(n=12)
    y[1:9] = 0
    with pytest.warns(UserWarning, match="reserves 4 components for class 1, which has 2"):
        model = PRBFClassifier(8, sharing=0.0, max_iter=2, random_state=0).fit(X, y)
    assert [len(group) for group in model.groups_] == [4, 2]
    assert_array_equal((model.weights_ > 0).sum(axis=0), [4, 2])


@pytest.mark.parametrize(
    "model",
    [PSKEMClassifier(early_stopping=True), DiscriminativePSKEMClassifier(strength="auto")],
    ids=["early_stopping", "auto"],
)
def test_a_class_with_one_sample_is_named_where_samples_are_held_out(model):
    X, y = equal_classes(n=40)
    labels = np.where(y == 0, "setosa", "versicolor").astype(object)
    labels[-1] = "virginica"
    assert_refused("validation_fraction: class 'virginica' has one sample", model, X, labels)


@pytest.mark.parametrize("init", ["sample", "kmeans"])
def test_more_components_asked_for_than_rows(init):
    X, y = equal_classes(n=10)
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
        assert_refused(
            words, Classifier(4, n_blocks=max(len(blocks), 1), arrangement=blocks), *equal_classes()
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"arrangement": "random", "block_size": 5}, "block_size=5 is more than the number of features, 4"),
        ({"block_size": 2}, 'block_size is for blocks drawn at random: give arrangement="random" with it'),
        ({"arrangement": [[0, 1]], "block_size": 2}, "block_size is for blocks drawn at random"),
        ({"arrangement": "random", "block_size": 0}, "block_size"),
        ({"arrangement": "random", "block_size": 2.0}, "block_size"),
    ],
)
def test_impossible_block_sizes(options, words):
    for Classifier in (PSKEMClassifier, MDAClassifier):
        assert_refused(words, Classifier(4, n_blocks=2, **options), *equal_classes())


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
        {"class_prior": {0: 0.5, 1: 0.6}},
        {"class_prior": {0: "half", 1: 0.5}},
        {"class_prior": [1.5, -0.5]},
        {"class_prior": [0.2, 0.3, 0.5]},
        {"arrangement": "spiral"},
        {"n_blocks": 0},
    ],
    ids=str,
)
def test_parameters_out_of_range(bad):
    assert_refused(next(iter(bad)), PSKEMClassifier(**{"n_components": 4, **bad}), *equal_classes())


def good_start(K=3, m=4, L=2):
    return (
        np.full((K, L), 1 / K),
        np.arange(K * m, dtype=float).reshape(K, m),
        np.repeat(np.eye(m)[None], K, 0),
    )


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ({"cat": 1.0}, r"no probability for class 'dog', only for \['cat'\]: add it"),
        (
            {"cat": 0.5, "dog": 0.5, "cow": 0.0},
            "a probability for 'cow', which is no class of the training samples",
        ),
        ({0: 0.5, 1: 0.5}, "no probability for class 'cat'"),
        ({"cat": 0.5, "dog": 0.6}, "2 non-negative numbers that sum to one, one for each label"),
    ],
)
def test_priors_by_label_that_do_not_fit_the_classes(prior, words):
    X, y = equal_classes()
    assert_refused(words, SKEMClassifier(4, class_prior=prior), X, np.array(["cat", "dog"])[y])


def test_given_starts_speak_of_blocks_only_where_there_are_several():
    X, y = equal_classes()
    weights, means, covariances = good_start()
    for model, words in [
        (
            SKEMClassifier(init=(weights, means[:, :2], covariances)),
            r"init: means must have shape \(3, 4\), got \(3, 2\)",
        ),
        (SKEMClassifier(init=[good_start()] * 2), "init: 2 starts for one mixture: give a tuple"),
        (
            GaussianMixture(3, init=(weights, means, covariances)),
            r"init: weights must have shape \(3,\), got \(3, 2\)",
        ),
        (
            PSKEMClassifier(n_blocks=2, init=[good_start()] * 2),
            r"init: means of block 0 must have shape \(3, 2\)",
        ),
    ]:
        with pytest.raises(ValueError, match=words):
            model.fit(X, y)


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
    SKEMClassifier(3, init=tuple(start), max_iter=1).fit(*equal_classes())
    start[position] = array
    assert_refused(words, SKEMClassifier(3, init=tuple(start)), *equal_classes())


def test_starts_that_do_not_fit_the_model():
    assert_refused("n_components|weights", SKEMClassifier(5, init=good_start()), *equal_classes())
    assert_refused("init", SKEMClassifier(3, init=good_start()[:2]), *equal_classes())
    assert_refused("init", PSKEMClassifier(3, n_blocks=2, init=[good_start(m=2)]), *equal_classes())
    different = good_start()[2] * np.array([1, 2, 3])[:, None, None]
    assert_refused("covariance", MDAClassifier(3, init=[(*good_start()[:2], different)]), *equal_classes())
    diagonal = np.ones((3, 4))
    diagonal[1, 2] = 0
    assert_refused(
        "covariances",
        SKEMClassifier(3, covariance_type="diag", init=(*good_start()[:2], diagonal)),
        *equal_classes(),
    )


@every_classifier
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_sample_weight_must_be_weights(Classifier, weight):
    X, y = equal_classes()
    sample_weight = np.ones(60)
    sample_weight[5] = weight
    assert_refused("sample.?weight", Classifier(4), X, y, sample_weight)
    assert_refused("weight", Classifier(4), X, y, np.zeros(60))
    assert_refused("sample.?weight", Classifier(4), X, y, np.ones(59))


@every_classifier
@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_a_feature_whose_square_float64_cannot_hold_is_named(Classifier, factor):
    X, y = equal_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_refused("feature 3, .* multiply it", Classifier(4), X * [1, 1, 1, factor], y)


@every_classifier
def test_a_row_too_far_off_for_its_square_is_refused(Classifier):
    X, y = equal_classes()
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
        model.fit(*equal_classes())


def test_a_class_with_next_to_no_weight_is_refused():
    X, y = equal_classes()
    weights = np.where(y == 0, 1.0, 1e-40)
    assert_refused(
        "no row of class 1 has more than 1e-30 of the largest weight", SKEMClassifier(4), X, y, weights
    )


def test_a_feature_lost_beside_the_others_is_refused():
    X, y = equal_classes()
    X *= [1e60, 1e60, 1e-50, 1e60]
    model = SKEMClassifier(4, standardize=False, reg_covar=0)
    assert_refused("feature 2.*spreads too little beside the others.*standardize=True", model, X, y)
    assert np.isfinite(model.set_params(standardize=True).fit(X, y).class_log_density(X)).all()


def test_lambda_cannot_be_left_out():
    assert_refused(
        "The 'sharing' parameter of PRBFClassifier", PRBFClassifier(4, sharing=None), *equal_classes()
    )


@pytest.mark.parametrize(
    ("n_samples", "error", "words"),
    [
        (0, ValueError, "n_samples must be at least 1, got 0"),
        (1.5, TypeError, "n_samples must be a whole number, got 1.5"),
        ("3", TypeError, "n_samples must be a whole number, got '3'"),
        (True, TypeError, "n_samples must be a whole number, got True"),
    ],
)
def test_numbers_of_rows_that_cannot_be_drawn(n_samples, error, words):
    X, y = equal_classes()
    for model in (SKEMClassifier(4, max_iter=1).fit(X, y), GaussianMixture(2).fit(X)):
        with pytest.raises(error, match=words):
            model.sample(n_samples)
