"""Precision of log-densities in float32 and float64; `python tests/digits.py` compares more mixtures with forty digits."""

import digits
import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose
from reference import shared_clusters
from sklearn.base import clone

from skem import GaussianMixture, SKEMClassifier


def test_random_mixtures_to_forty_digits():
    for seed in range(120):
        if (found := digits.errors(seed)) is not None:
            assert max(found[:3]) < 1, f"seed {seed}: {found}"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("offset", "shape", "float32_suffices"),
    [
        (0.0, {"m": 36, "K": 8}, True),
        (1e4, {}, True),
        (0.0, {"width": 1e-3}, True),
        (0.0, {"condition": 1e4}, False),
        (0.0, {"condition": 1e10, "m": 3}, False),
    ],
    ids=["many features", "far off", "tight", "condition 1e4", "condition 1e10"],
)
def test_hard_data_keep_their_digits(offset, shape, float32_suffices, dtype):
    X, y, (weights, means, covariances) = shared_clusters(n=2000, **shape)
    X = (X + offset).astype(dtype)
    init = (weights, means + offset, covariances)
    clf = SKEMClassifier(init_params=init, reg_covar=0.0, max_iter=3).fit(X, y)
    expected = reference.em(X, y, reference.Model(*init), 3, covariance_type="full")
    ill_conditioned = shape.get("condition") == 1e10
    exact = dtype == np.float64 and not ill_conditioned
    atol = 1e-9 + 4 * reference.rounding(X, expected) if exact else 1e-3
    if ill_conditioned and dtype == np.float32:
        expected = reference.model_of(clf)  # parameters of rounded samples are others
    assert_allclose(clf.class_log_density(X), reference.class_log_density(X, expected), rtol=0, atol=atol)
    assert np.dtype(clf.dtype_used_) == (dtype if float32_suffices else np.float64)


@pytest.mark.parametrize("scale", [1e-40, 1e-20, 1e30])
@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(2, reg_covar=0, tol=0, max_iter=5, random_state=0),
        SKEMClassifier(4, init_params="sample", standardize=False, reg_covar=0.0, max_iter=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_features_whose_squares_float32_cannot_hold(model, scale):
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(300, 2)) * [1, scale]).astype(np.float32)
    y = np.arange(300) % 2
    narrow, wide = (clone(model).fit(samples, y) for samples in (X, X.astype(float)))
    assert narrow.dtype_used_ == "float64"
    assert_allclose(narrow.objective_, wide.objective_, rtol=1e-3)
    far = np.full((1, 2), 1e30, np.float32)
    if scale == 1e30:
        assert_allclose(narrow.score_samples(far), narrow.score_samples(far.astype(float)), rtol=1e-6)


@pytest.mark.parametrize(
    ("deviation", "correlation", "dtype"),
    [(0.3, 0.0, "float32"), (1e-5, 0.0, "float32"), (1e-5, 1 - 1e-4, "float64")],
)
def test_narrow_components_keep_their_digits(deviation, correlation, dtype):
    """In float32 x and the mean of one of 31 components are pairs of numbers; if its features are correlated, that is not enough."""
    rng, m = np.random.default_rng(0), 8
    deviations, centres = np.array([1.0] * 30 + [deviation]), 6 * rng.normal(size=(31, m))
    factors = deviations[:, None, None] * np.eye(m)
    factors[-1, 1, :2] = deviation * np.array([correlation, (1 - correlation**2) ** 0.5])
    z = np.arange(12_000) % 31
    X = (centres[z] + np.einsum("nij,nj->ni", factors[z], rng.normal(size=(len(z), m)))).astype(np.float32)
    init = np.full(31, 1 / 31), centres, factors @ np.swapaxes(factors, 1, 2)
    narrow, wide = (
        GaussianMixture(31, init_params=init, reg_covar=0.0, max_iter=4, tol=0.0).fit(samples)
        for samples in (X, X.astype(np.float64))
    )
    assert (narrow.dtype_used_, wide.dtype_used_) == (dtype, "float64")
    assert_allclose(narrow.covariances_[-1], wide.covariances_[-1], rtol=0, atol=1e-3 * deviation**2)
    assert_allclose(narrow.score_samples(X), narrow.score_samples(X.astype(np.float64)), rtol=0, atol=1e-3)
    assert_allclose(narrow.objective_, wide.objective_, rtol=0, atol=1e-3)
