"""Error messages for invalid parameters and data."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from reference import equal_classes
from sklearn.base import clone

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
from skem.engine.partition import ARRANGEMENTS
from skem.estimators.rbf import GaussianKernels

CLASSIFIERS = [SKEMClassifier, PSKEMClassifier, MDAClassifier]
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)
every_partitioned_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS[1:])


def assert_fit_raises(message, clf, X, y, sample_weight=None):
    with pytest.raises(ValueError, match=re.compile(message, re.IGNORECASE)):
        clf.fit(X, y, sample_weight)


@every_classifier
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_features(Classifier, value):
    X, y = equal_classes()
    clf = Classifier(4, max_iter=1).fit(X, y)
    X[3, 1] = value
    message = "contains 0 NaN and 1 infinity values, of 240"
    assert_fit_raises(message, Classifier(4), X, y)
    with pytest.raises(ValueError, match=message):
        clf.predict(X)


def named(X):
    return pd.DataFrame(X, columns=[*"abcd"])


@pytest.mark.parametrize(
    ("convert", "column"),
    [
        (lambda X: named(X)[[*"acbd"]], r"column 'b' \(index 2\)"),
        (lambda X: named(X).astype({"b": "category"}), r"column 'b' \(index 1\)"),
        *((convert, "column with index 1") for convert in (pd.DataFrame, np.array, np.ndarray.tolist)),
        (lambda X: X.astype(str), "column with index 1"),
    ],
)
def test_column_of_text(convert, column):
    X, y = equal_classes()
    numeric, text = X.astype(object), X.astype(object)
    text[:, 1] = np.array(["1.5", "red"])[y]
    message = f"The {column} of X holds text such as 'red'; encode it as numbers"
    assert_fit_raises(message, SKEMClassifier(4), convert(text), y)
    model = SKEMClassifier(4, max_iter=1).fit(convert(numeric), y)
    with pytest.raises(ValueError, match=message):
        model.predict(convert(text))


def test_numbers_as_text():
    X, y = equal_classes()
    model = SKEMClassifier(4, max_iter=1, random_state=0)
    expected = model.fit(X, y).predict_proba(X)
    for numbers in (X.astype(str), X.astype(str).astype(object)):
        assert_array_equal(model.fit(numbers, y).predict_proba(numbers), expected)


@every_classifier
def test_unsuitable_training_data(Classifier):
    X, y = equal_classes()
    assert_fit_raises(
        "two classes, and the samples with a weight are of one class only: 0$", Classifier(4), X, y * 0
    )
    named = np.array(["cat", "dog"])[y]
    assert_fit_raises("one class only: 'dog'$", Classifier(4), X, named, sample_weight=y)
    assert_fit_raises(r"inconsistent numbers of samples: \[60, 59\]", Classifier(4), X, y[:-1])
    assert_fit_raises(r"0 feature\(s\)", Classifier(4), X[:, :0], y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 4"):
        Classifier(4, max_iter=1).fit(X, y).predict(X[:, :2])


@every_classifier
@pytest.mark.parametrize("init", ["class", "class_kmeans"])
def test_fewer_components_than_classes(Classifier, init):
    message = "n_components=2 is less than the number of classes, 3; use at least 3, 1 for all classes"
    assert_fit_raises(message, Classifier(2, init=init), *equal_classes(L=3))


@pytest.mark.parametrize("init", ["class", "class_kmeans"])
def test_at_most_one_component_per_distinct_sample(init):
    X, y = equal_classes(n=12)
    labels = np.array(["cat", "dog"])[y]
    labels[1:7] = "cat"
    X[labels == "dog"] = X[-2:][np.arange((labels == "dog").sum()) % 2]
    message = "n_components=7 reserves 3 components for class 'dog', which has 2 distinct training samples; 6 components"
    with pytest.warns(UserWarning, match=message):
        model = SKEMClassifier(7, init=init, max_iter=1, warm_start=True, random_state=0).fit(X, labels)
    assert_array_equal((model.weights_ > 0).sum(axis=0), [4, 2])
    assert model.fit(X, labels).n_components_ == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SKEMClassifier(init=init, max_iter=1).fit(X, labels).n_components_ < 20
        SKEMClassifier(6, init="sample", max_iter=1).fit(X, labels)


def test_rare_class_with_sharing():
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
def test_the_only_sample_of_a_class_is_not_held_out(model):
    X, y = equal_classes(n=40)
    labels = np.where(y == 0, "setosa", "versicolor").astype(object)
    labels[-1] = "virginica"
    X[-1] = 100.0
    assert clone(model).fit(X, labels).predict(X[-1:]) == ["virginica"]
    message = r"validation_fraction=0.01 of 39 samples of 3 classes cannot be held out"
    assert_fit_raises(message, clone(model).set_params(validation_fraction=0.01), X, labels)


@pytest.mark.parametrize("init", ["sample", "kmeans"])
def test_more_components_than_samples(init):
    X, y = equal_classes(n=10)
    message = r"11 components from 10 samples, .* smaller n_components\.$"
    assert_fit_raises(message, SKEMClassifier(11, init=init), X, y)
    assert len(SKEMClassifier(10, init=init, max_iter=1, random_state=0).fit(X, y).means_) == 10


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([[0, 1], []], r"block 1 must hold feature indices \(integers\); got \[\]"),
        ([[0, 1], [2, 2]], "block 1 repeats feature 2"),
        ([[0], [4]], "block 1 names feature 4, but X has 4 features; use 0 to 3"),
        ([[0], [-5]], "names feature -5"),
        ([], "arrangement is an empty list"),
        ([[True, False]], r"block 0 .*integers.*\[True, False\]"),
        ([0, 1], "block 0 must be a list of feature indices; got 0"),
        (np.array([[0.0, 1.0]]), "block 0 .*integers"),
    ],
)
@every_partitioned_classifier
def test_invalid_arrangement(Classifier, blocks, message):
    assert_fit_raises(message, Classifier(4, arrangement=blocks), *equal_classes())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arrangement": "random", "block_size": 5}, "block_size=5 exceeds the 4 features; use at most 4"),
        ({"block_size": 2}, 'block_size=2 requires arrangement="random"'),
        ({"arrangement": [[0, 1]], "block_size": 2}, 'block_size=2 requires arrangement="random"'),
        ({"arrangement": "random", "block_size": 0}, "block_size"),
        ({"arrangement": "random", "block_size": 2.0}, "block_size"),
        *(
            ({"arrangement": name, "n_blocks": 5}, "n_blocks=5 exceeds the 4 features; use at most 4")
            for name in ARRANGEMENTS
        ),
    ],
)
@every_partitioned_classifier
def test_invalid_number_or_size_of_blocks(Classifier, options, message):
    assert_fit_raises(message, Classifier(4, **{"n_blocks": 2} | options), *equal_classes())


def test_more_blocks_than_features_of_a_given_size():
    model = PSKEMClassifier(4, n_blocks=5, arrangement="random", block_size=2, max_iter=1)
    assert model.fit(*equal_classes()).n_blocks_ == 5
    assert model.set_params(arrangement=[[0, 1], [2]], block_size=None).fit(*equal_classes()).n_blocks_ == 2


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
        {"class_prior": {0: "half", 1: 0.5}},
        {"class_prior": [1.5, -0.5]},
        {"class_prior": [0.2, 0.3, 0.5]},
        {"arrangement": "spiral"},
        {"n_blocks": 0},
    ],
    ids=str,
)
def test_parameters_out_of_range(bad):
    assert_fit_raises(next(iter(bad)), PSKEMClassifier(**{"n_components": 4, **bad}), *equal_classes())


def valid_init(K=3, m=4, L=2):
    return (
        np.full((K, L), 1 / K),
        np.arange(K * m, dtype=float).reshape(K, m),
        np.repeat(np.eye(m)[None], K, 0),
    )


@pytest.mark.parametrize(
    ("prior", "message"),
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
def test_class_prior_by_label(prior, message):
    X, y = equal_classes()
    assert_fit_raises(message, SKEMClassifier(4, class_prior=prior), X, np.array(["cat", "dog"])[y])


def test_messages_name_blocks_only_if_there_are_several():
    X, y = equal_classes()
    weights, means, covariances = valid_init()
    for model, message in [
        (
            SKEMClassifier(init=(weights, means[:, :2], covariances)),
            r"init: means must have shape \(K, 4\), got \(3, 2\)",
        ),
        (
            SKEMClassifier(init=[valid_init()] * 2),
            r"init must be a tuple \(weights.*; got a list of length 2",
        ),
        (GaussianMixture(3, init=valid_init()), r"init: weights must have shape \(3,\), got \(3, 2\)"),
        (
            PSKEMClassifier(n_blocks=2, init=[valid_init()] * 2),
            r"init: means of block 0 must have shape \(K, 2\)",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)


@pytest.mark.parametrize(
    ("position", "array", "message"),
    [
        (0, np.full((3, 3), 1 / 3), r"weights must have shape \(3, 2\), got \(3, 3\)"),
        (0, np.full((3, 2), 0.4), r"weights must sum to 1 in each column \(class\); column 0 sums to 1\.2"),
        (0, np.array([[1.5, 1], [-0.5, 0], [0, 0]]), "weights must be non-negative, got -0.5"),
        (0, np.full((3, 2), np.nan), "weights must be finite, got nan"),
        (1, np.zeros((2, 4)), r"means must have shape \(3, 4\), got \(2, 4\)"),
        (1, np.full((3, 4), np.inf), "means must be finite, got inf"),
        (2, np.tile(np.eye(4), (2, 1, 1)), r"covariances must have shape \(3, 4, 4\), got \(2, 4, 4\)"),
        (
            2,
            np.tile(np.diag([1.0, 1, 1, -1]), (3, 1, 1)),
            "covariances must be symmetric and positive definite",
        ),
        (2, np.tile(np.eye(4) + np.eye(4, k=1), (3, 1, 1)), "covariances must be symmetric"),
        (2, np.zeros((3, 4, 4)), "covariances must be symmetric and positive definite"),
    ],
)
def test_invalid_initial_arrays(position, array, message):
    init = list(valid_init())
    SKEMClassifier(3, init=tuple(init), max_iter=1).fit(*equal_classes())
    init[position] = array
    assert_fit_raises(message, SKEMClassifier(3, init=tuple(init)), *equal_classes())


def test_initial_arrays_for_another_model():
    means = r"means must have shape \(5, 4\), got \(3, 4\)"
    assert_fit_raises(means, SKEMClassifier(5, init=valid_init()), *equal_classes())
    assert_fit_raises("got a tuple of length 2", SKEMClassifier(3, init=valid_init()[:2]), *equal_classes())
    two_tuples = "init must be a list of 2 tuples .*, one per feature block; got a list of length 1"
    assert_fit_raises(two_tuples, PSKEMClassifier(3, n_blocks=2, init=[valid_init(m=2)]), *equal_classes())
    different = valid_init()[2] * np.array([1, 2, 3])[:, None, None]
    assert_fit_raises("covariance", MDAClassifier(3, init=[(*valid_init()[:2], different)]), *equal_classes())
    diagonal = np.ones((3, 4))
    diagonal[1, 2] = 0
    assert_fit_raises(
        "covariances",
        SKEMClassifier(3, covariance_type="diag", init=(*valid_init()[:2], diagonal)),
        *equal_classes(),
    )


@every_classifier
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_invalid_sample_weight(Classifier, weight):
    X, y = equal_classes()
    sample_weight = np.ones(60)
    sample_weight[5] = weight
    assert_fit_raises("sample.?weight", Classifier(4), X, y, sample_weight)
    assert_fit_raises("weight", Classifier(4), X, y, np.zeros(60))
    assert_fit_raises("sample.?weight", Classifier(4), X, y, np.ones(59))


@every_classifier
@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_feature_with_overflowing_squares(Classifier, factor):
    X, y = equal_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_fit_raises("feature 3, .* multiply it", Classifier(4), X * [1, 1, 1, factor], y)


@every_classifier
def test_prediction_of_a_sample_with_overflowing_squares(Classifier):
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
def test_booleans_as_numbers(model, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {type(model).__name__} must be .* Got "):
        model.fit(*equal_classes())


def test_class_of_negligible_weight():
    X, y = equal_classes()
    weights = np.where(y == 0, 1.0, 1e-40)
    assert_fit_raises(
        "no sample of class 1 has more than 1e-30 of the largest weight", SKEMClassifier(4), X, y, weights
    )


def test_feature_of_negligible_spread():
    X, y = equal_classes()
    X *= [1e60, 1e60, 1e-50, 1e60]
    model = SKEMClassifier(4, standardize=False, reg_covar=0)
    assert_fit_raises("feature 2.*spreads too little beside the others.*standardize=True", model, X, y)
    assert np.isfinite(model.set_params(standardize=True).fit(X, y).class_log_density(X)).all()


def test_prbf_without_sharing():
    assert_fit_raises(
        "The 'sharing' parameter of PRBFClassifier", PRBFClassifier(4, sharing=None), *equal_classes()
    )


@pytest.mark.parametrize(
    ("n_samples", "error", "message"),
    [
        (0, ValueError, "n_samples must be at least 1, got 0"),
        (1.5, TypeError, "n_samples must be a whole number, got 1.5"),
        ("3", TypeError, "n_samples must be a whole number, got '3'"),
        (True, TypeError, "n_samples must be a whole number, got True"),
    ],
)
def test_invalid_number_of_samples_to_draw(n_samples, error, message):
    X, y = equal_classes()
    for model in (SKEMClassifier(4, max_iter=1).fit(X, y), GaussianMixture(2).fit(X)):
        with pytest.raises(error, match=message):
            model.sample(n_samples)
