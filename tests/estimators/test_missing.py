"""GaussianMixture with missing values, against EM row by row and against SciPy's Gaussians."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference_missing import dense, em, holes
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from skem import GaussianMixture

IRIS, _ = load_iris(return_X_y=True)
TYPES = ["full", "tied", "diag", "spherical"]
every_type = pytest.mark.parametrize("covariance_type", TYPES)
every_unit = pytest.mark.parametrize("standardize", [True, False])


def start(X, covariance_type, K=2):
    m = X.shape[1]
    means = np.nanmean(X, axis=0) + np.linspace(-1, 1, K)[:, None] * np.nanstd(X, axis=0)
    covariances = {
        "full": np.repeat(np.eye(m)[None], K, axis=0),
        "tied": np.eye(m),
        "diag": np.ones((K, m)),
        "spherical": np.ones(K),
    }[covariance_type]
    return np.full(K, 1 / K), means, covariances


@every_type
@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_passes_are_those_of_em_row_by_row(covariance_type, ridge):
    X = holes(IRIS[::5])
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    begin = start(X, covariance_type)
    model = GaussianMixture(
        2, covariance_type=covariance_type, init=begin, max_iter=4, tol=0, reg_covar=ridge
    )
    model.fit(X, sample_weight=weights)
    of_one_class = begin[0][:, None], *begin[1:]
    codes = np.zeros(len(X), dtype=int)
    pi, means, P, log_likelihoods = em(
        X, codes, weights, of_one_class, covariance_type, ridge=ridge, n_passes=4
    )
    assert_allclose(model.weights_, pi[:, 0], rtol=1e-8)
    assert_allclose(model.means_, means, rtol=1e-8)
    assert_allclose(dense(model.covariances_, 2, 4), P, rtol=1e-8, atol=1e-10)
    assert_allclose(model.log_likelihood_, log_likelihoods, rtol=1e-8)
    assert_allclose(model.score(X, sample_weight=weights), log_likelihoods[-1], rtol=1e-8)


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**31),
    covariance_type=st.sampled_from(TYPES),
    init=st.sampled_from(["kmeans", "sample"]),
    reg_covar=st.sampled_from([1e-6, 0.1]),
    standardize=st.booleans(),
    share=st.sampled_from([0.05, 0.3, 0.7]),
)
def test_the_objective_never_falls(seed, covariance_type, init, reg_covar, standardize, share):
    rng = np.random.default_rng(seed)
    X = holes(rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-2, 3, size=3), share, seed)
    options = {"init": init, "covariance_type": covariance_type, "standardize": standardize}
    model = GaussianMixture(3, reg_covar=reg_covar, tol=0, max_iter=8, random_state=seed, **options).fit(X)
    assert (np.diff(model.objective_) >= -1e-9 * (1 + np.abs(model.objective_[1:]))).all()
    assert_allclose(model.log_likelihood_[-1], model.score(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_the_variance_of_a_constant_feature_without_ridge_does_not_underflow(covariance_type):
    """Each pass leaves of it the share of rows that miss it."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[:, 1] = 0.0
    X[::3, 1] = np.nan
    model = GaussianMixture(1, covariance_type=covariance_type, reg_covar=0, standardize=True, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model.set_params(max_iter=700).fit(X)
    assert (np.diff(model.objective_) >= -1e-9).all()
    assert np.isfinite(model.score_samples(X)).all()


@every_type
@every_unit
def test_rows_with_holes_are_asked_about_through_what_they_have(covariance_type, standardize):
    X = holes(IRIS * [1, 10, 1, 1])
    model = GaussianMixture(2, covariance_type=covariance_type, standardize=standardize, random_state=0)
    model.set_params(max_iter=5, tol=0).fit(X)
    P = dense(model.covariances_, 2, 4)
    expected, filled = np.empty((len(X), 2)), X.copy()
    for n, x in enumerate(X):
        o, h = ~np.isnan(x), np.isnan(x)
        means = []
        for k in range(2):
            mu = model.means_[k]
            expected[n, k] = multivariate_normal(mu[o], P[k][np.ix_(o, o)]).logpdf(x[o])
            means.append(mu[h] + P[k][np.ix_(h, o)] @ np.linalg.solve(P[k][np.ix_(o, o)], x[o] - mu[o]))
        joint = expected[n] + np.log(model.weights_)
        filled[n, h] = np.exp(joint - logsumexp(joint)) @ np.array(means)
    joint = expected + np.log(model.weights_)
    assert_allclose(model.component_log_density(X), expected, rtol=1e-8, atol=1e-8)
    assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), rtol=1e-8, atol=1e-8)
    responsibilities = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(X), responsibilities, atol=1e-9)
    assert_array_equal(model.predict(X), responsibilities.argmax(axis=1))
    assert_allclose(model.impute(X), filled, rtol=1e-8)
    complete = X[~np.isnan(X).any(axis=1)]
    assert_array_equal(model.impute(complete), complete)
    # A marginal is what is left of rows that miss the rest, and a conditional what the others say of it.
    some = np.array([2, 0])
    alone = np.full((20, 4), np.nan)
    alone[:, some] = IRIS[:20, some]
    marginal = model.marginal(some)
    assert_allclose(marginal.score_samples(IRIS[:20, some]), model.score_samples(alone), rtol=1e-8, atol=1e-8)
    values, rest = IRIS[70, some], np.array([1, 3])
    rows = np.tile(IRIS[70], (20, 1))
    rows[:, rest] = IRIS[40:60, rest]
    conditional = model.condition(some, values)
    joint = model.score_samples(rows) - marginal.score_samples(values[None])
    assert_allclose(conditional.score_samples(rows[:, rest]), joint, rtol=1e-8, atol=1e-8)
    row = np.where(np.isin(np.arange(4), some), IRIS[70], np.nan)[None]
    assert_allclose(conditional.weights_ @ conditional.means_, model.impute(row)[0, rest], rtol=1e-8)


def test_threads_do_not_change_a_bit_and_a_row_of_weight_two_is_two_rows():
    rng = np.random.default_rng(0)
    X = holes(rng.normal(size=(3000, 3)) + rng.integers(0, 2, size=(3000, 1)) * 4)
    options = {"max_iter": 4, "tol": 0, "random_state": 0}
    fits = [GaussianMixture(2, n_jobs=n, **options).fit(X) for n in (1, 3)]
    assert_array_equal(fits[0].means_, fits[1].means_)
    assert_array_equal(fits[0].impute(X), fits[1].impute(X))
    few, weights = X[:200], rng.integers(1, 3, 200)
    weighted = GaussianMixture(2, **options).fit(few, sample_weight=weights)
    repeated = GaussianMixture(2, **options).fit(np.repeat(few, weights, axis=0))
    assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-8)


def test_values_that_are_missing_at_random_hardly_move_a_fit():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 5, -2], [[2, 1.5, 0], [1.5, 2, 0.5], [0, 0.5, 1]], size=4000)
    gone = np.where((X[:, :1] > 0) & [[False, True, False]], np.nan, X)  # by what is there
    model = GaussianMixture(1, max_iter=200, tol=1e-8, reg_covar=0).fit(gone)
    assert_allclose(model.means_[0], [0, 5, -2], atol=0.15)
    assert_allclose(model.covariances_[0], np.cov(X.T), atol=0.2)
    assert np.nanmean(gone[:, 1]) < 4.6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: np.vstack([X, np.full(4, np.nan)]), "1 rows have no value at all, the first is row 150"),
        (lambda X: np.c_[X, np.full(150, np.nan)], "feature 4 has no value at all: leave it out"),
        (lambda X: np.where(X > 7, np.inf, X), "infinity values"),
    ],
)
def test_what_cannot_be_learned_from_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        GaussianMixture(2, random_state=0).fit(change(holes(IRIS)))


def test_features_that_are_none_are_named():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianMixture(2, random_state=0).fit(holes(IRIS))
    for features, words in [
        ([], "a list of indices from 0 to 3"),
        (["a"], "a list of indices"),
        ([0, 4], r"distinct indices from 0 to 3, got \[0, 4\]"),
        ([1, 1], r"distinct indices from 0 to 3, got \[1, 1\]"),
    ]:
        for ask in (model.marginal, lambda these: model.condition(these, np.zeros(len(these)))):
            with pytest.raises(ValueError, match=words):
                ask(features)
    with pytest.raises(ValueError, match="values must be 2 finite numbers"):
        model.condition([0, 1], [1.0])
    with pytest.raises(ValueError, match="all 4 features are given"):
        model.condition(range(4), np.zeros(4))
    with pytest.raises(ValueError, match="no value at all"):
        model.score_samples(np.full((1, 4), np.nan))
