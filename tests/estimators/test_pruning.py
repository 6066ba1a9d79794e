"""GaussianMixture(prune=True): the number of components by the data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture as Reference

from skem import GaussianMixture, GaussianMixturePath

X, _ = load_iris(return_X_y=True)


def clusters(covariance_type, K=5, n=1500, m=3):
    """Samples of K clusters whose covariances have a type."""
    rng = np.random.default_rng(7)
    factors = {
        "full": rng.normal(size=(K, m, m)) + np.eye(m),
        "tied": np.broadcast_to(rng.normal(size=(m, m)) + np.eye(m), (K, m, m)),
        "diag": rng.uniform(0.3, 2, size=(K, m, 1)) * np.eye(m),
        "spherical": rng.uniform(0.3, 2, size=(K, 1, 1)) * np.eye(m),
    }[covariance_type]
    k = rng.integers(0, K, n)
    means = 8 * rng.normal(size=(K, m))
    return means[k] + np.einsum("nij,nj->ni", factors[k], rng.normal(size=(n, m)))


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("n_components", [12, 30])
def test_clusters_are_counted(covariance_type, n_components):
    samples = clusters(covariance_type)
    model = GaussianMixture(n_components, covariance_type=covariance_type, prune=True, random_state=0).fit(
        samples
    )
    assert model.n_components_ == len(model.weights_) == 5
    known = Reference(5, covariance_type=covariance_type, n_init=5, random_state=0).fit(samples)
    assert_allclose(model.bic(samples), known.bic(samples), rtol=1e-3)


def test_the_lowest_bic_on_the_way_down_is_kept():
    model = GaussianMixture(6, prune=True, random_state=0).fit(X)
    fit, table = GaussianMixture(6, random_state=0).fit(X), {}
    for K in range(6, 0, -1):
        if (150 * fit.weights_ > 5).all():
            table[K] = fit.bic(X)
        kept = np.sort(np.argsort(fit.weights_)[1:])
        if K > 1:
            start = fit.weights_[kept] / fit.weights_[kept].sum(), fit.means_[kept], fit.covariances_[kept]
            fit = GaussianMixture(K - 1, init_params=start).fit(X)
    assert model.n_components_ == min(table, key=table.get) == 2
    assert_allclose(model.bic(X), min(table.values()))


def test_components_without_enough_samples_are_not_kept():
    # Four copies of each of ten points: as many narrow components would have any likelihood.
    points = np.repeat(np.random.default_rng(1).normal(size=(10, 4)), 4, axis=0)
    model = GaussianMixture(10, prune=True, reg_covar=1e-9, random_state=0).fit(points)
    assert (40 * model.weights_ > 4.99).all()


def test_pruned_mixtures_go_on():
    model = GaussianMixture(8, prune=True, warm_start=True, random_state=0).fit(X)
    K, objective = model.n_components_, model.lower_bound_
    model.fit(X)
    assert model.n_components_ <= K
    assert model.lower_bound_ >= objective - 1e-9 or model.n_components_ < K
    threads = GaussianMixture(8, prune=True, random_state=0, n_jobs=2).fit(X)
    assert_array_equal(threads.means_, GaussianMixture(8, prune=True, random_state=0).fit(X).means_)


def test_pruning_needs_all_samples_and_no_other_search():
    with pytest.raises(ValueError, match="partial_fit: prune needs all samples at once"):
        GaussianMixture(3, prune=True).partial_fit(X)
    with pytest.raises(ValueError, match="estimator: prune must be False, got True"):
        GaussianMixturePath(GaussianMixture(prune=True)).fit(X)
