"""Log-densities are as exact as promised; `python tests/digits.py` tries many more mixtures."""

import digits
import numpy as np
import pytest
from numpy.testing import assert_allclose

from skem import GaussianMixture


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_mixtures(first):
    for seed in range(first, first + 50):
        if (found := digits.errors(seed)) is not None:
            assert max(found[:3]) < 1, f"seed {seed}: {found}"


@pytest.mark.parametrize(("deviation", "dtype"), [(1.0, "float32"), (0.3, "float32"), (1e-3, "float64")])
def test_narrow_components_are_computed_in_float64(deviation, dtype):
    rng, m = np.random.default_rng(0), 8
    deviations, centres = np.array([1.0] * 30 + [deviation]), 6 * rng.normal(size=(31, m))
    z = np.arange(12_000) % 31
    X = (centres[z] + deviations[z, None] * rng.normal(size=(len(z), m))).astype(np.float32)
    start = np.full(31, 1 / 31), centres, deviations[:, None, None] ** 2 * np.eye(m)
    narrow, wide = (
        GaussianMixture(31, init=start, reg_covar=0.0, max_iter=4, tol=0.0).fit(samples)
        for samples in (X, X.astype(np.float64))
    )
    assert (narrow.dtype_used_, wide.dtype_used_) == (dtype, "float64")
    assert_allclose(narrow.covariances_[-1], wide.covariances_[-1], rtol=0, atol=1e-3 * deviation**2)
    assert_allclose(narrow.score_samples(X), narrow.score_samples(X.astype(np.float64)), rtol=0, atol=1e-3)
    assert_allclose(narrow.objective_, wide.objective_, rtol=0, atol=1e-3)
