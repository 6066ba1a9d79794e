"""Missing values, against SciPy's Gaussians and an EM loop over single samples."""

import numpy as np
import pytest
import reference_missing as reference
from numpy.testing import assert_allclose, assert_array_equal
from reference import full_covariances, unit_covariances
from reference_missing import holes
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

import skem
from skem.engine import rows

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
TYPES = ["full", "tied", "diag", "spherical"]


def initial_parameters(covariance_type, K=5, L=3):
    """Parameters whose weights differ between classes, with one weight of zero if there are several classes."""
    weights = np.random.default_rng(0).dirichlet(np.full(K, 3.0), size=L).T
    weights[0, 1:2] = 0.0
    means = IRIS.mean(axis=0) + np.linspace(-1, 1, K)[:, None] * IRIS.std(axis=0)
    return weights / weights.sum(axis=0), means, unit_covariances(covariance_type, K, 4)


# Training


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
    model = skem.SKEMClassifier(init_params=init, options={"sharing": sharing}, **options)
    if sharing is not None:
        model.set_params(options={"sharing": sharing}, n_components=[2, 1, 2])
        log_sharing = np.log(np.where([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]], 1.0, sharing))
    model.fit(X, y, sample_weight=weights)
    pi, means, P, log_likelihoods = reference.em(
        X, y, weights, init, covariance_type, ridge=ridge, n_passes=3, log_sharing=log_sharing
    )
    assert_allclose(model.weights_, pi, rtol=1e-8, atol=1e-12)
    assert_allclose(model.means_, means, rtol=1e-8)
    assert_allclose(full_covariances(model.covariances_, 5, 4), P, rtol=1e-8, atol=1e-10)
    assert_allclose(model.log_likelihood_, log_likelihoods, rtol=1e-8)
    # Samples without classes are of one class.
    init = initial_parameters(covariance_type, K=2, L=1)
    mixture = skem.GaussianMixture(2, init_params=(init[0][:, 0], *init[1:]), tol=0, **options)
    mixture.fit(X, sample_weight=weights)
    codes = np.zeros(len(X), dtype=int)
    pi, means, P, log_likelihoods = reference.em(
        X, codes, weights, init, covariance_type, ridge=ridge, n_passes=3
    )
    assert_allclose(mixture.weights_, pi[:, 0], rtol=1e-8)
    assert_allclose(mixture.means_, means, rtol=1e-8)
    assert_allclose(mixture.log_likelihood_, log_likelihoods, rtol=1e-8)
    assert_allclose(mixture.score(X, sample_weight=weights), log_likelihoods[-1], rtol=1e-8)


def test_threads_do_not_change_a_bit():
    X, y = holes(np.tile(IRIS, (20, 1))), np.tile(SPECIES, 20)
    one, three = (skem.PSKEMClassifier(6, max_iter=4, random_state=0, n_jobs=n).fit(X, y) for n in (1, 3))
    assert_array_equal(one.class_log_density(X), three.class_log_density(X))


def test_discriminative_training_uses_complete_samples():
    X = IRIS.copy()
    X[3, 1] = np.nan
    model = skem.DiscriminativePSKEMClassifier(6, max_iter=2, discriminative_iter=1, random_state=0)
    assert np.isfinite(model.fit(X, NAMES).predict_log_proba(X)).all()
    assert (model.blocks_[0].means != model.generative_blocks_[0].means).any()
    # Each sample of a class misses a feature, and no feature is missing in all of them.
    first = np.flatnonzero(SPECIES == 0)
    X[first, first % 4] = np.nan
    assert model.fit(X, NAMES).score(X, NAMES) > 0.9
    # Features in no block do not count.
    X = np.where((np.arange(150) % 10 > 0)[:, None] & (np.arange(4) == 3), np.nan, IRIS)
    model.set_params(arrangement=[[0, 1, 2]], temperature=1.0)
    some, expected = (model.fit(samples, NAMES).predict_proba(IRIS) for samples in (X, IRIS))
    assert_allclose(some, expected, rtol=1e-9)


def test_the_order_of_samples_does_not_matter_to_the_temperature():
    X, order = holes(IRIS), np.random.default_rng(0).permutation(len(IRIS))
    model = skem.DiscriminativePSKEMClassifier(6, temperature="auto", strength=0.1, random_state=0)
    sorted_by_class = model.fit(X, SPECIES).temperature_
    assert_allclose(model.fit(X[order], SPECIES[order]).temperature_, sorted_by_class, rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        skem.SKEMClassifier(6, random_state=0),
        skem.SKEMClassifier(6, init_params="uniform", random_state=0),
        skem.PSKEMClassifier(6, n_blocks=2, random_state=0),
        skem.MDAClassifier(6, random_state=0),
        skem.DiscriminativePSKEMClassifier(random_state=0),
        skem.DiscriminativePSKEMClassifierCV(n_components=3, n_blocks=1, cv=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_class_without_any_value_of_a_feature(model):
    X = np.where((SPECIES == 2)[:, None] & (np.arange(4) == 1), np.nan, IRIS)
    assert model.fit(X, NAMES).score(X, NAMES) > 0.9
    assert model.score(IRIS, NAMES) > 0.9


def test_an_unknown_feature_of_a_class_spreads_as_in_all_samples():
    unknown = [1, 3]
    X = np.where((SPECIES == 2)[:, None] & np.isin(np.arange(4), unknown), np.nan, IRIS)
    rest = IRIS[SPECIES != 2][:, unknown]
    model = skem.SKEMClassifier(3, max_iter=20, random_state=0).fit(X, NAMES)  # one component per class
    assert_allclose(model.means_[2, unknown], rest.mean(axis=0), rtol=0.03)
    ridge = model.reg_covar * np.diag(IRIS.var(axis=0)[unknown])
    covariance = model.covariances_[2][np.ix_(unknown, unknown)] - ridge
    assert_allclose(covariance, np.cov(rest.T, bias=True), rtol=0.2)


# Predictions


@pytest.mark.parametrize(
    "model",
    [
        skem.SKEMClassifier(7, covariance_type="tied", init_params="sample", standardize=False),
        skem.PSKEMClassifier(7, n_blocks=2, arrangement="random"),
        skem.PSKEMClassifier(6, arrangement=[[0, 1, 2], [1, 3], [2]], init_params="uniform"),
        skem.PRBFClassifier(6, sharing=0.25, covariance_type="diag", tol=0),
    ],
    ids=str,
)
def test_predictions_of_classifiers(model, monkeypatch):
    X = IRIS * [1, 10, 1, 0.1]
    model.set_params(max_iter=5, random_state=0, priors=[0.5, 0.2, 0.3]).fit(X, NAMES)
    samples = np.vstack([holes(X[::3], 0.5), X[:3], np.full((1, 4), np.nan), [[np.nan, np.nan, 5.0, 0.2]]])
    codes = np.resize(SPECIES, len(samples))
    monkeypatch.setattr(rows, "CHUNK_ROWS", 3)  # several chunks
    responsibilities = model.responsibilities(samples, np.resize(NAMES, len(samples)))
    expected = 0.0
    for found, columns, block in zip(responsibilities, model.block_indices_, model.blocks_, strict=True):
        P = full_covariances(block.covariances, *block.means.shape)
        log_normal = reference.log_normal(samples[:, columns], block.means, P)
        with np.errstate(divide="ignore"):
            log_weights = np.log(block.weights)
        expected = expected + logsumexp(log_normal[:, :, None] + log_weights, axis=1)
        log_joint = log_normal + log_weights.T[codes]
        wanted = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
        assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
    assert_allclose(model.class_log_density(samples), expected, rtol=1e-8, atol=1e-8)
    joint = expected + np.log(model.priors_)
    assert_allclose(model.score_samples(samples), logsumexp(joint, axis=1), rtol=1e-8, atol=1e-8)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(samples), posterior, rtol=1e-7, atol=1e-9)
    assert_array_equal(model.predict(samples), model.classes_[posterior.argmax(axis=1)])
    # The posterior of a sample without any value is the class prior.
    assert_allclose(model.predict_proba(samples)[-2], model.priors_, rtol=1e-12)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_marginals_and_imputation(covariance_type):
    X = holes(IRIS * [1, 10, 1, 1])
    options = {"covariance_type": covariance_type, "standardize": covariance_type != "full"}
    model = skem.GaussianMixture(2, max_iter=5, tol=0, random_state=0, **options).fit(X)
    P = full_covariances(model.covariances_, 2, 4)
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
    assert_allclose(model.log_likelihood_[-1], logsumexp(joint, axis=1).mean(), rtol=1e-8)
    assert_allclose(model.component_log_density(X), expected, rtol=1e-8, atol=1e-8)
    assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), rtol=1e-8, atol=1e-8)
    responsibilities = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(X), responsibilities, atol=1e-9)
    assert_array_equal(model.predict(X), responsibilities.argmax(axis=1))
    assert_allclose(model.impute(X), filled, rtol=1e-8)
    complete = X[~np.isnan(X).any(axis=1)]
    assert_array_equal(model.impute(complete), complete)
    # A marginal has the densities of samples that miss the rest; with a conditional it makes the joint density.
    some, rest = np.array([2, 0]), np.array([1, 3])
    alone = np.full((20, 4), np.nan)
    alone[:, some] = IRIS[:20, some]
    marginal = model.marginal(some)
    assert_allclose(marginal.score_samples(IRIS[:20, some]), model.score_samples(alone), rtol=1e-8, atol=1e-8)
    values, samples = IRIS[70, some], np.tile(IRIS[70], (20, 1))
    samples[:, rest] = IRIS[40:60, rest]
    conditional = model.condition(some, values)
    joint = model.score_samples(samples) - marginal.score_samples(values[None])
    assert_allclose(conditional.score_samples(samples[:, rest]), joint, rtol=1e-8, atol=1e-8)
    sample = np.where(np.isin(np.arange(4), some), IRIS[70], np.nan)[None]
    assert_allclose(conditional.weights_ @ conditional.means_, model.impute(sample)[0, rest], rtol=1e-8)
