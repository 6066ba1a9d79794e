"""No fit to hostile data ends in a wrong number, a crash or a leaked warning; `python tests/fuzz.py` tries many more."""

import fuzz
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skem import DiscriminativePSKEMClassifier, GaussianMixture


def test_fits_to_hostile_data():
    # The last ones have an infinite inertia, an infinite BIC, a constant feature far from zero, and means far from the samples.
    for seed in (*range(150), 9000428, 2009287, 2022616, 2011114):
        found = fuzz.faults(seed)
        assert not found, f"seed {seed}: {found}"


def test_fits_to_hostile_data_with_nothing_set():
    for seed in (*range(6), 21, 54):  # in the last two, a class is in one fold only
        X, y, sample_weight = fuzz.draw_rows(np.random.default_rng(seed))
        found = fuzz.faults_of_fit(DiscriminativePSKEMClassifier(random_state=seed), X, y, sample_weight)
        assert not found, f"seed {seed}: {found}"


@pytest.mark.parametrize("missing", [0.05, 0.3])
def test_fits_to_hostile_data_with_missing_values(missing):
    for seed in range(12):
        found = fuzz.faults(seed, missing)
        assert not found, f"seed {seed}: {found}"


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(12, 40),
    m=st.integers(1, 6),
    scale=st.sampled_from([1e-3, 1.0, 100.0]),
    covariance_type=st.sampled_from(["full", "tied"]),
    reg_covar=st.sampled_from([0.0, 1e-9, 1e-6]),
)
@example(seed=5, n=13, m=2, scale=1e-3, covariance_type="full", reg_covar=0.0)
def test_small_float32_data_keep_covariances_definite(seed, n, m, scale, covariance_type, reg_covar):
    """Components of about m samples collapse in one iteration, and sums in float32 do not tell by how much."""
    X = (np.random.default_rng(seed).normal(size=(n, m)) * scale).astype(np.float32)
    model = GaussianMixture(4, covariance_type=covariance_type, reg_covar=reg_covar, random_state=seed)
    assert not fuzz.faults_of_fit(model, X, None, None)
    wide = GaussianMixture(4, covariance_type=covariance_type, reg_covar=reg_covar, random_state=seed)
    wide.fit(X.astype(np.float64))
    # Without regularisation the last digit of a collapsed covariance decides between two optima.
    both = np.concatenate([model.covariances_.reshape(-1, m, m), wide.covariances_.reshape(-1, m, m)])
    spectra = np.linalg.eigvalsh(both)
    if wide.n_iter_ == model.n_iter_ and (spectra[:, 0] > 1e-9 * spectra[:, -1]).all():
        np.testing.assert_allclose(model.objective_, wide.objective_, atol=2e-3)
