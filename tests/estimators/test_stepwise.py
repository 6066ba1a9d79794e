"""partial_fit: stepwise EM against the same with dense matrices, and what a user may get wrong."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import constrained, full_covariances, unit_covariances
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

from skem import GaussianMixture

IRIS, _ = load_iris(return_X_y=True)
TYPES = ["full", "tied", "diag", "spherical"]
every_type = pytest.mark.parametrize("covariance_type", TYPES)


def start(covariance_type, K=2, m=4):
    means = IRIS.mean(axis=0) + np.linspace(-1, 1, K)[:, None] * IRIS.std(axis=0)
    return np.full(K, 1 / K), means, unit_covariances(covariance_type, K, m)


def slow_stepwise(batches, parameters, covariance_type, ridge, decay):
    """Running means of n, n x and n x x' (Cappe and Moulines 2009), all about zero, and an M-step after each batch."""
    pi, means, covariances = parameters
    (K, m), P = means.shape, full_covariances(covariances, *means.shape)
    n = np.zeros(K)
    sums, squares, log_likelihoods = np.zeros((K, m)), np.zeros((K, m, m)), []
    for t, (X, w) in enumerate(batches, start=1):
        plain = np.stack(
            [multivariate_normal(means[k], P[k]).logpdf(X) + np.log(pi[k]) for k in range(K)], axis=1
        )
        joint = plain - 0.5 * ridge * np.trace(np.linalg.inv(P), axis1=1, axis2=2)
        log_likelihoods.append(np.average(logsumexp(plain, axis=1), weights=w))
        r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)) * (w / w.sum())[:, None]
        gamma = t**-decay
        n = (1 - gamma) * n + gamma * r.sum(axis=0)
        sums = (1 - gamma) * sums + gamma * r.T @ X
        squares = (1 - gamma) * squares + gamma * np.einsum("nk,ni,nj->kij", r, X, X)
        pi, means = n / n.sum(), sums / n[:, None]
        S = squares / n[:, None, None] - np.einsum("ki,kj->kij", means, means)
        P = constrained(S, pi, covariance_type) + ridge * np.eye(m)
    return pi, means, P, log_likelihoods


@every_type
@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_batches_match_stepwise_em(covariance_type, ridge):
    rng = np.random.default_rng(0)
    batches = [(IRIS[rng.permutation(150)[:60]], rng.uniform(0.5, 2, 60)) for _ in range(6)]
    model = GaussianMixture(
        2, covariance_type=covariance_type, init_params=start(covariance_type), reg_covar=ridge
    )
    for X, weights in batches:
        model.partial_fit(X, sample_weight=weights)
    pi, means, P, log_likelihoods = slow_stepwise(
        batches, start(covariance_type), covariance_type, ridge, 0.7
    )
    assert_allclose(model.weights_, pi, rtol=1e-8)
    assert_allclose(model.means_, means, rtol=1e-8)
    assert_allclose(full_covariances(model.covariances_, 2, 4), P, rtol=1e-8, atol=1e-9)
    assert_allclose(model.log_likelihood_, log_likelihoods, rtol=1e-8)
    assert model.n_iter_ == 6


@pytest.mark.parametrize("batches_before", [0, 1, 3])
@pytest.mark.parametrize("standardize", [True, False])
def test_saved_mixtures_continue(tmp_path, batches_before, standardize):
    options = {"variance_floor": 0.1, "standardize": standardize, "random_state": 0}
    model = GaussianMixture(2, **options)
    if not batches_before:
        model.fit(IRIS)
    for batch in np.split(IRIS, 3)[:batches_before]:
        model.partial_fit(batch)
    model.save(tmp_path / "mixture.npz")
    loaded = GaussianMixture.load(tmp_path / "mixture.npz")
    for each in (model, loaded):
        each.partial_fit(IRIS[::2]).partial_fit(IRIS[1:60], sample_weight=np.ones(59))
        assert each.n_iter_ == len(each.objective_) == batches_before + 2
    for name in ("weights_", "means_", "covariances_", "objective_", "n_samples_seen_"):
        assert_array_equal(getattr(loaded, name), getattr(model, name))
    again = model.fit(IRIS)
    assert_array_equal(again.means_, GaussianMixture(2, **options).fit(IRIS).means_)
    assert again.partial_fit(IRIS).n_iter_ == 1


def test_bad_input_is_named():
    with pytest.raises(
        ValueError, match="n_components=5 exceeds the n_samples=4 samples with a weight of the first batch"
    ):
        GaussianMixture(5).partial_fit(IRIS[:4])
    model = GaussianMixture(5, random_state=0).partial_fit(IRIS)
    before, means = dict(vars(model)), model.means_
    assert np.isfinite(model.partial_fit(IRIS[:1]).means_).all()
    model.__dict__.update(before)
    for batch, words in [(IRIS[:, :3], "3 features"), (np.full((9, 4), np.nan), "36 NaN")]:
        with pytest.raises(ValueError, match=words):
            model.partial_fit(batch)
    with pytest.raises(
        ValueError, match=r"partial_fit: n_components changed from 5 to 4 .* or begin with a clone"
    ):
        model.set_params(n_components=4, warm_start=True).partial_fit(IRIS)
    assert_array_equal(model.means_, means)
