"""Statements of Sanderson and Curtin (2017) that algebra decides."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from skem import GaussianMixture, KMeans


def test_k_means_is_em_with_hard_assignments():
    """Section 3: equal weights and one narrow variance for all leave rows to the nearest mean."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    means = X[:4]
    narrow = np.full(4, 1e-5)
    mixture = GaussianMixture(
        4,
        covariance_type="spherical",
        init_params=(np.full(4, 0.25), means, narrow),
        max_iter=1,
        tol=0,
        reg_covar=0.0,
    ).fit(X)
    clusters = KMeans(4, init=means, max_iter=1, tol=0).fit(X)
    assert_allclose(mixture.means_, clusters.cluster_centers_, rtol=1e-10)
    nearest = cdist(X, means).argmin(axis=1)
    assert_allclose(mixture.weights_, np.bincount(nearest, minlength=4) / len(X), rtol=1e-10)


def test_both_forms_of_the_covariance_are_one():
    """Eq. 8 is eq. 7, but far from zero it loses the digits that the means share."""
    rng = np.random.default_rng(0)
    X, r = rng.normal(size=(500, 3)), rng.random(500)
    for shift, close in ((0.0, True), (1e9, False)):
        moved = X + shift
        mean = r @ moved / r.sum()
        direct = (r[:, None] * (moved - mean)).T @ (moved - mean) / r.sum()
        short = (r[:, None] * moved).T @ moved / r.sum() - np.outer(mean, mean)
        assert np.allclose(direct, short, rtol=1e-10, atol=1e-12) == close
    far = GaussianMixture(1, reg_covar=0.0).fit(X + 1e6)
    assert_allclose(far.covariances_[0], np.cov(X.T, bias=True), rtol=1e-6)
