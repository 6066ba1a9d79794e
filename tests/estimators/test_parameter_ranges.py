"""Numeric parameters at the ends of their ranges: a fit with finite predictions, or an error that names the parameter."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import skem
from skem.estimators._checking import Interval

ESTIMATORS = [getattr(skem, name) for name in skem.__all__ if hasattr(getattr(skem, name), "fit")]
SINGLE = [each for each in ESTIMATORS if not each.__name__.endswith(("CV", "Search"))]
CHEAP = {"max_iter": 2, "discriminative_iter": 2, "em_iter": 2, "n_components": 2, "early_stopping": True, "random_state": 0}  # fmt: skip
VALUES = [5e-324, 1e-308, np.finfo(float).max, 2.0, np.float32(2), np.int64(2), np.float64(0.5), -5e-324]

X = np.random.default_rng(0).normal(size=(24, 2)) + np.arange(24)[:, None] % 2 * 2
Y = np.arange(24) % 2


@pytest.mark.parametrize("estimator", SINGLE)
def test_numeric_parameters_at_the_ends_of_their_ranges(estimator):
    defaults = estimator().get_params(deep=False)
    cheap = {name: value for name, value in CHEAP.items() if name in defaults}
    for name, allowed in estimator._parameter_constraints.items():
        if name not in defaults or not any(isinstance(each, Interval) for each in allowed):
            continue
        for value in VALUES:
            model = estimator(**cheap | {name: value})
            try:
                with warnings.catch_warnings(action="ignore"):
                    model.fit(X, Y)
            except ValueError as error:
                if name not in str(error):
                    raise
                continue
            for method in ("predict", "predict_proba", "score_samples", "transform"):
                if hasattr(model, method):
                    found = np.asarray(getattr(model, method)(X), dtype=float)
                    assert np.isfinite(found).all(), (name, value, method)
