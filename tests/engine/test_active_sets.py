"""Leaving out what no row uses changes nothing a user can see, and makes passes cheaper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from skem import PSKEMClassifier, SKEMClassifier
from skem.engine.problem import ACTIVE_ROWS


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return PCA(24, random_state=0).fit_transform(X) / 8, y


def fitted(digits, active_rows, **options):
    options = {"n_blocks": 2, "init": "uniform", "standardize": False, "max_iter": 30} | options
    model = PSKEMClassifier(30, random_state=0, **options)
    model._active_rows = active_rows
    return model.fit(*digits)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_results_do_not_change(digits, covariance_type):
    model, exact = (fitted(digits, rows, covariance_type=covariance_type) for rows in (ACTIVE_ROWS, 0.0))
    assert_allclose(model.log_likelihood_, exact.log_likelihood_, rtol=1e-12)
    assert_allclose(model.objective_, exact.objective_, rtol=1e-12)
    assert_array_equal(model.predict(digits[0]), exact.predict(digits[0]))


def test_pairs_without_rows_are_left_out(digits):
    model, exact = (fitted(digits, rows) for rows in (ACTIVE_ROWS, 0.0))
    used, all_of_them = (np.mean([b.weights > 0 for b in m.blocks_]) for m in (model, exact))
    assert used < 0.7
    assert all_of_them > used
    rows_per_class = np.bincount(digits[1])
    for block in model.blocks_:
        expected_rows = block.weights * rows_per_class
        assert expected_rows[block.weights > 0].min() >= 0.99 * ACTIVE_ROWS


def test_a_small_weight_to_start_with_is_no_reason():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + 20.0 * y[:, None]
    weights = np.array([[1.0, 1.0 - 1e-12], [0.0, 1e-12]])
    start = weights, np.array([[0.0, 0.0], [20.0, 20.0]]), np.repeat(np.eye(2)[None], 2, axis=0)
    model = SKEMClassifier(2, init=start, max_iter=5).fit(X, y)
    assert_allclose(model.weights_, np.eye(2), atol=1e-6)
    assert model.score(X, y) == 1.0
