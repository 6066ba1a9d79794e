"""Samples in parts."""

import numpy as np
import reference
from numpy.testing import assert_allclose

from skem import SKEMClassifier
from skem.engine import parts


def test_several_parts_are_exact(monkeypatch):
    """Compare with sums over explicit responsibilities; some parts lack a class."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 5000))
    X = rng.normal(size=(5000, 3)) + 2.0 * y[:, None]
    weights = rng.uniform(0.2, 2.0, 5000)
    init = np.full((4, 3), 0.25), X[::1300].copy(), np.stack([np.eye(3)] * 4)
    monkeypatch.setattr(parts, "PART_ROWS", 700)
    model = SKEMClassifier(4, init_params=init, max_iter=4, reg_covar=0.01).fit(X, y, weights)
    expected = reference.em(
        X, y, reference.Model(*init), 4, covariance_type="full", reg_covar=0.01, sample_weight=weights,
        scale=reference.training_scale(X, weights),
    )  # fmt: skip
    assert_allclose(model.weights_, expected.weights, atol=1e-9)
    assert_allclose(model.means_, expected.means, atol=1e-9)
    assert_allclose(model.covariances_, expected.covariances, atol=1e-9)
