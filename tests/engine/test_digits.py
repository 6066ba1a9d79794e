"""Log-densities are as exact as promised; `python tests/digits.py` tries many more."""

import digits
import numpy as np
import pytest
from numpy.testing import assert_allclose

from skem import GaussianMixture


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_log_densities_from_float32_rows_keep_to_a_thousandth(first):
    for seed in range(first, first + 50):
        if (found := digits.errors(seed)) is not None:
            *errors, kind = found
            assert max(errors) < 1e-3, f"seed {seed}, {kind}: {errors}"


def clusters(deviations, m=8, n=12_000):
    """Rows of clusters of one size but for the last, which may be as narrow as asked for; and a start."""
    rng = np.random.default_rng(0)
    K = len(deviations)
    centres = 6 * rng.normal(size=(K, m))
    z = np.arange(n) % K
    X = (centres[z] + np.array(deviations)[z, None] * rng.normal(size=(n, m))).astype(np.float32)
    covariances = np.array(deviations)[:, None, None] ** 2 * np.eye(m)
    return X, (np.full(K, 1 / K), centres, covariances)


@pytest.mark.parametrize("deviation", [0.3, 0.03])
def test_one_narrow_component_does_not_take_the_others_along(deviation):
    """With 0.3 its log-densities are too coarse as products, with 0.03 its scatter is as well."""
    X, start = clusters([1.0] * 30 + [deviation])
    fits = [
        GaussianMixture(31, init=start, reg_covar=0.0, max_iter=4, tol=0.0).fit(rows)
        for rows in (X, X.astype(np.float64))
    ]
    assert [model.dtype_used_ for model in fits] == ["float32", "float64"]
    narrow, wide = fits
    assert_allclose(narrow.covariances_[-1], wide.covariances_[-1], rtol=0, atol=1e-3 * deviation**2)
    assert_allclose(narrow.score_samples(X), narrow.score_samples(X.astype(np.float64)), rtol=0, atol=1e-3)
    assert_allclose(narrow.objective_, wide.objective_, rtol=0, atol=1e-3)


def test_many_narrow_components_are_left_to_float64():
    X, start = clusters([1e-3] * 31)
    model = GaussianMixture(31, init=start, reg_covar=0.0, max_iter=2, tol=0.0).fit(X)
    assert model.dtype_used_ == "float64"
