"""Components without samples of a class are left out, with the same results."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from skem import PSKEMClassifier, SKEMClassifier
from skem.engine.problem import ACTIVE_ROWS


def test_pairs_without_samples_are_left_out():
    X, y = load_digits(return_X_y=True)
    X = PCA(24, random_state=0).fit_transform(X) / 8
    fits = []
    for active_rows in (ACTIVE_ROWS, 0.0):
        options = {"init_params": "uniform", "standardize": False, "max_iter": 30, "random_state": 0}
        model = PSKEMClassifier(30, n_blocks=2, **options)
        model._active_rows = active_rows
        fits.append(model.fit(X, y))
    model, exact = fits
    assert_allclose(model.log_likelihood_, exact.log_likelihood_, rtol=1e-12)
    assert_allclose(model.objective_, exact.objective_, rtol=1e-12)
    assert_array_equal(model.predict(X), exact.predict(X))
    used, all_of_them = (np.mean([block.weights > 0 for block in fit.blocks_]) for fit in fits)
    assert used < min(0.7, all_of_them)
    for block in model.blocks_:
        expected_samples = block.weights * np.bincount(y)
        assert expected_samples[block.weights > 0].min() >= 0.99 * ACTIVE_ROWS


def test_small_initial_weights_are_kept():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + 20.0 * y[:, None]
    weights = np.array([[1.0, 1.0 - 1e-12], [0.0, 1e-12]])
    init = weights, np.array([[0.0, 0.0], [20.0, 20.0]]), np.repeat(np.eye(2)[None], 2, axis=0)
    model = SKEMClassifier(init_params=init, max_iter=5).fit(X, y)
    assert_allclose(model.weights_, np.eye(2), atol=1e-6)
    assert model.score(X, y) == 1.0
