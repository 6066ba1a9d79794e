"""No fit to hostile data ends in a wrong number, a crash or a leaked warning; `python tests/fuzz.py` tries many more."""

import fuzz
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skem import GaussianMixture, SKEMClassifier


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_fits_to_hostile_data(first):
    for seed in range(first, first + 50):
        found, _, _ = fuzz.faults(seed)
        assert not found, f"seed {seed}: {found}"


def test_fine_tuning_that_overflows_in_the_last_step_of_a_pass():
    found, _, _ = fuzz.faults(101534)
    assert not found


@pytest.mark.parametrize("missing", [0.05, 0.3])
def test_fits_to_hostile_data_that_misses_values(missing):
    for seed in range(20):
        found, _, _ = fuzz.faults(seed, missing)
        assert not found, f"seed {seed}: {found}"


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(12, 40),
    m=st.integers(1, 6),
    scale=st.sampled_from([1e-3, 1.0, 100.0]),
    covariance_type=st.sampled_from(["full", "tied"]),
    reg_covar=st.sampled_from([0.0, 1e-9, 1e-6]),
)
def test_small_float32_data_keep_covariances_definite(seed, n, m, scale, covariance_type, reg_covar):
    """Components of about m rows collapse in one pass, and sums in float32 do not tell by how much."""
    X = (np.random.default_rng(seed).normal(size=(n, m)) * scale).astype(np.float32)
    model = GaussianMixture(4, covariance_type=covariance_type, reg_covar=reg_covar, random_state=seed)
    found, _, _ = fuzz.faults_of_fit(model, X, None, None)
    assert not found
    wide = GaussianMixture(4, covariance_type=covariance_type, reg_covar=reg_covar, random_state=seed)
    wide.fit(X.astype(np.float64))
    if wide.n_iter_ == model.n_iter_:
        np.testing.assert_allclose(model.objective_, wide.objective_, atol=2e-3)


def test_a_collapse_in_float32_is_that_of_float64():
    X = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32) * 100
    narrow = GaussianMixture(4, random_state=0).fit(X)
    wide = GaussianMixture(4, random_state=0).fit(X.astype(np.float64))
    np.testing.assert_allclose(narrow.objective_, wide.objective_, atol=1e-4)
    np.testing.assert_allclose(narrow.covariances_, wide.covariances_, rtol=1e-3, atol=1e-2)
    assert np.isfinite(narrow.sample(5)[0]).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_classes_with_next_to_no_ridge_in_float32(weighted):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2)).astype(np.float32)
    y = rng.integers(0, 2, 30)
    weights = rng.uniform(0.1, 3, 30) if weighted else None
    for seed in range(20):
        model = SKEMClassifier(4, init="sample", random_state=seed, max_iter=15, reg_covar=1e-9)
        found, fall, _ = fuzz.faults_of_fit(model, X, y, weights)
        assert not found
        assert fall < 1e-4


@pytest.mark.parametrize("scale", [1e-25, 1e-20, 1e20, 1e30])
def test_weights_that_float32_cannot_hold(scale):
    """A feature far narrower than the others is computed in float64: squares would overflow in float32."""
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(200, 2)) * [1, scale]).astype(np.float32)
    y = rng.integers(0, 2, 200)
    models = [
        GaussianMixture(2, random_state=0, reg_covar=0, tol=0, max_iter=10),
        SKEMClassifier(4, standardize=False, reg_covar=0, random_state=0, max_iter=10),
    ]
    for model in models:
        found, _, dtype = fuzz.faults_of_fit(model, X, y, None)
        assert not found
        assert dtype == "float64"
