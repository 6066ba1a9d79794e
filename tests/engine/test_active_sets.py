"""Components without samples of a class are left out, with the same results."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from skem import PSKEMClassifier
from skem.engine import problem
from skem.engine.problem import ACTIVE_ROWS


def test_pairs_without_samples_are_left_out(monkeypatch):
    X, y = load_digits(return_X_y=True)
    X = PCA(24, random_state=0).fit_transform(X) / 8
    fits = []
    for active_rows in (ACTIVE_ROWS, 0.0):
        options = {"init_params": "uniform", "standardize": False, "max_iter": 30, "random_state": 0}
        model = PSKEMClassifier(30, n_blocks=2, **options)
        monkeypatch.setattr(problem, "ACTIVE_ROWS", active_rows)
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
