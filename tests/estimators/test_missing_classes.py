"""Classifiers with missing values, against SciPy's Gaussians and an EM loop over single samples."""

import warnings

import numpy as np
import pandas as pd
import pytest
import reference_missing as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference_missing import holes
from scipy.special import logsumexp
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import cross_val_score

from skem import (
    DiscriminativePSKEMClassifier,
    MDAClassifier,
    PRBFClassifier,
    PRBFClassifierCV,
    PRBFEnsemble,
    PSKEMClassifier,
    SKEMClassifier,
)

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
TYPES = ["full", "tied", "diag", "spherical"]


def expected_log_density(model, X):
    """Return log p(x_o|c), shape (n, L), and log N(x_o; mu_o, P_oo) of each feature block."""
    total, of_blocks = 0.0, []
    for columns, block in zip(model.block_indices_, model.blocks_, strict=True):
        P = reference.dense(block.covariances, *block.means.shape)
        log_normal = reference.log_normal(X[:, columns], block.means, P)
        with np.errstate(divide="ignore"):
            total = total + logsumexp(log_normal[:, :, None] + np.log(block.weights), axis=1)
        of_blocks.append(log_normal)
    return total, of_blocks


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(
    "model",
    [
        *(SKEMClassifier(7, covariance_type=of_type, init="sample") for of_type in TYPES),
        PSKEMClassifier(7, n_blocks=2, arrangement="random"),
        PSKEMClassifier(6, arrangement=[[0, 1, 2], [1, 3], [2]], init="uniform"),
        MDAClassifier(6, n_blocks=2),
        PRBFClassifier(6, sharing=0.25, covariance_type="diag"),
    ],
    ids=str,
)
def test_predictions_with_missing_values(model, standardize):
    X = IRIS * [1, 10, 1, 0.1]
    model.set_params(standardize=standardize, max_iter=5, random_state=0, class_prior=[0.5, 0.2, 0.3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PRBFClassifier does not converge in 5 iterations.
        model.fit(X, NAMES)
    rows = np.vstack([holes(X[::3], 0.5), X[:3], np.full((1, 4), np.nan), [[np.nan, np.nan, 5.0, 0.2]]])
    expected, of_blocks = expected_log_density(model, rows)
    assert_allclose(model.class_log_density(rows), expected, rtol=1e-8, atol=1e-8)
    joint = expected + np.log(model.class_prior_)
    assert_allclose(model.score_samples(rows), logsumexp(joint, axis=1), rtol=1e-8, atol=1e-8)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(rows), posterior, rtol=1e-7, atol=1e-9)
    assert_array_equal(model.predict(rows), model.classes_[posterior.argmax(axis=1)])
    # The posterior of a sample without any value is the class prior.
    assert_allclose(model.predict_proba(rows)[-2], model.class_prior_, rtol=1e-12)
    responsibilities = model.responsibilities(rows, np.resize(NAMES, len(rows)))
    if not isinstance(responsibilities, list):
        responsibilities = [responsibilities]
    codes = np.resize(SPECIES, len(rows))
    for found, block, log_normal in zip(responsibilities, model.blocks_, of_blocks, strict=True):
        with np.errstate(divide="ignore"):
            log_joint = log_normal + np.log(block.weights).T[codes]
        wanted = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
        assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


def test_meta_estimators_with_missing_values():
    X = pd.DataFrame(holes(IRIS, 0.2), columns=list("abcd"))
    inner = PRBFClassifier(6, tol=1e-2, random_state=0)
    for model in (PRBFEnsemble(inner, sharings=(0, 1)), PRBFClassifierCV(inner, sharings=(0, 1), cv=2)):
        assert model.fit(X, NAMES).score(X, NAMES) > 0.9


def test_missing_values_in_float32_and_several_threads():
    X, y = load_digits(return_X_y=True)
    X = np.random.default_rng(0).normal(scale=1e-3, size=X.shape) + X
    model = PSKEMClassifier(20, n_blocks=4, max_iter=3, random_state=0, n_jobs=1).fit(X, y)
    rows = holes(X[:300], 0.1)
    expected = model.class_log_density(rows)
    assert_allclose(model.class_log_density(rows.astype(np.float32)), expected, rtol=1e-5, atol=1e-2)
    assert_array_equal(model.set_params(n_jobs=3).class_log_density(rows), expected)


def initial_parameters(covariance_type, K=5, L=3):
    """Return parameters whose weights differ between classes, with one weight of zero."""
    weights = np.random.default_rng(0).dirichlet(np.full(K, 3.0), size=L).T
    weights[0, 1] = 0.0
    means = IRIS.mean(axis=0) + np.linspace(-1, 1, K)[:, None] * IRIS.std(axis=0)
    covariances = {
        "full": np.repeat(np.eye(4)[None], K, axis=0),
        "tied": np.eye(4),
        "diag": np.ones((K, 4)),
        "spherical": np.ones(K),
    }[covariance_type]
    return weights / weights.sum(axis=0), means, covariances


@pytest.mark.parametrize(
    ("covariance_type", "ridge", "sharing"),
    [
        ("full", 0.05, None),
        ("full", 0.0, 0.3),
        ("tied", 0.05, 0.3),
        ("diag", 0.05, None),
        ("spherical", 0.0, None),
    ],
)
def test_iterations_match_a_loop_over_samples(covariance_type, ridge, sharing):
    X, y = holes(IRIS[::4]), SPECIES[::4]
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    init, log_sharing = initial_parameters(covariance_type), 0.0
    options = {"covariance_type": covariance_type, "reg_covar": ridge, "standardize": False, "max_iter": 3}
    model = SKEMClassifier(init=init, sharing=sharing, **options)
    if sharing is not None:
        model.set_params(groups=[[0, 3], [1], [2, 4]])
        log_sharing = np.log(np.where([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]], 1.0, sharing))
    model.fit(X, y, sample_weight=weights)
    pi, means, P, log_likelihoods = reference.em(
        X, y, weights, init, covariance_type, ridge=ridge, n_passes=3, log_sharing=log_sharing
    )
    assert_allclose(model.weights_, pi, rtol=1e-8, atol=1e-12)
    assert_allclose(model.means_, means, rtol=1e-8)
    assert_allclose(reference.dense(model.covariances_, 5, 4), P, rtol=1e-8, atol=1e-10)
    assert_allclose(model.log_likelihood_, log_likelihoods, rtol=1e-8)


def test_sample_that_misses_a_feature_block():
    X = IRIS.copy()
    X[::5, :2] = np.nan
    options = {"n_blocks": 2, "standardize": False, "reg_covar": 0.01, "max_iter": 4}
    init = [
        tuple(a[:, i : i + 2] if a.ndim == 2 and j else a for j, a in enumerate(initial_parameters("diag")))
        for i in (0, 2)
    ]
    both = PSKEMClassifier(covariance_type="diag", init=init, **options).fit(X, SPECIES)
    kept = ~np.isnan(X[:, 0])
    first = SKEMClassifier(
        covariance_type="diag", init=init[0], standardize=False, reg_covar=0.01, max_iter=4
    )
    first.fit(X[kept, :2], SPECIES[kept])
    assert_allclose(both.blocks_[0].means, first.means_, rtol=1e-8)
    assert_allclose(both.blocks_[0].weights, first.weights_, rtol=1e-8, atol=1e-12)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**31),
    covariance_type=st.sampled_from(TYPES),
    init=st.sampled_from(["class", "class_kmeans", "sample", "uniform"]),
    sharing=st.sampled_from([None, 0.0, 0.4]),
    reg_covar=st.sampled_from([1e-6, 0.1]),
    standardize=st.booleans(),
    share=st.sampled_from([0.05, 0.3, 0.6]),
)
def test_monotone_objective(seed, covariance_type, init, sharing, reg_covar, standardize, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) * 10.0 ** rng.integers(-2, 3, size=3)
    X, y = holes(X, share, seed), np.arange(60) % 2
    options = {"covariance_type": covariance_type, "sharing": sharing, "reg_covar": reg_covar}
    model = PSKEMClassifier(
        4, n_blocks=2, init=init, standardize=standardize, max_iter=8, random_state=seed, **options
    ).fit(X, y)
    assert (np.diff(model.objective_) >= -1e-9 * (1 + np.abs(model.objective_[1:]))).all()
    log_density = model.class_log_density(X)[np.arange(60), y]
    assert_allclose(model.log_likelihood_[-1], log_density.mean(), rtol=1e-7, atol=1e-7)


def test_threads_and_weights_with_missing_values():
    X, weights = holes(IRIS), np.random.default_rng(0).integers(1, 3, 150)
    options = {"max_iter": 4, "random_state": 0, "class_prior": "empirical"}
    fits = [PSKEMClassifier(6, n_blocks=2, n_jobs=n, **options).fit(X, SPECIES, weights) for n in (1, 3)]
    assert_array_equal(fits[0].class_log_density(X), fits[1].class_log_density(X))
    repeated = PSKEMClassifier(6, n_blocks=2, **options)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(SPECIES, weights))
    assert_allclose(repeated.class_log_density(X), fits[0].class_log_density(X), rtol=1e-6, atol=1e-6)


def test_large_constant_feature_with_missing_values():
    """The rounding of its mean is large relative to the unit of a feature without spread."""
    X, y = load_iris(return_X_y=True)
    X = holes(X, 0.1, 0)
    for constant in 1e20 / np.arange(1, 11):
        X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, constant)
        model = SKEMClassifier(5, init="kmeans", max_iter=5, random_state=0).fit(X, y)
        assert_array_equal(model.blocks_[0].means[:, 3], constant)
        assert (model.blocks_[0].covariances[:, 3, 3] < 1).all()


def test_early_stopping_and_cross_validation_with_missing_values():
    X = holes(IRIS, 0.3)
    early = SKEMClassifier(6, early_stopping=True, max_iter=5, random_state=0).fit(X, NAMES)
    assert len(early.validation_scores_) == early.n_iter_
    assert cross_val_score(SKEMClassifier(3, random_state=0), X, NAMES, cv=3).mean() > 0.85


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda X: np.where(np.arange(150)[:, None] == 7, np.nan, X),
            "1 rows have no value at all, .* row 7",
        ),
        (lambda X: np.c_[X, np.full(150, np.nan)], "feature 4 has no value at all: leave it out"),
        (
            lambda _: np.where((NAMES == "virginica")[:, None] & [False, True, False, False], np.nan, IRIS),
            "no training sample of class 'virginica' has a value of feature 1: leave the feature out",
        ),
        (lambda X: np.where(X > 7, np.inf, X), "infinity values"),
    ],
)
def test_training_data_without_necessary_values(change, message):
    for Classifier in (SKEMClassifier, PSKEMClassifier, MDAClassifier, PRBFClassifier):
        with pytest.raises(ValueError, match=message):
            Classifier(6, random_state=0).fit(change(holes(IRIS)), NAMES)


def test_discriminative_training_uses_complete_samples():
    X = IRIS.copy()
    X[3, 1] = np.nan
    model = DiscriminativePSKEMClassifier(6, max_iter=2, discriminative_iter=1, random_state=0).fit(X, NAMES)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert (model.blocks_[0].means != model.generative_blocks_[0].means).any()
    first = np.flatnonzero(np.asarray(NAMES) == NAMES[0])
    # Each sample of a class misses a feature, and no feature is missing in all of them.
    X[first, first % X.shape[1]] = np.nan
    with pytest.raises(ValueError, match="has none: set discriminative_iter=0"):
        model.fit(X, NAMES)
    model.set_params(discriminative_iter=0).fit(X, NAMES)


def test_prediction_of_infinite_or_large_values():
    model = SKEMClassifier(6, max_iter=1, random_state=0).fit(IRIS, NAMES)
    rows = holes(IRIS)
    for value, message in [(np.inf, "1 infinity values, of 600"), (1e200, "feature 2 is .* too far")]:
        rows[3, 2] = value
        with pytest.raises(ValueError, match=message):
            model.predict(rows)
