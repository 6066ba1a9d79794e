"""Numeric parameters at the ends of their ranges: a fit with finite predictions, or an error that names the parameter."""

import warnings

import numpy as np
import pytest

import skem
from skem.estimators._sklearn import Interval

ESTIMATORS = [getattr(skem, name) for name in skem.__all__ if hasattr(getattr(skem, name), "fit")]
CHEAP = {"max_iter": 2, "discriminative_iter": 2, "em_iter": 2, "n_components": 2, "early_stopping": True, "random_state": 0}  # fmt: skip
SEARCHES = {"cv": 2, "n_blocks": 1, "reg_covar": 0.1, "covariance_type": "tied", "scaling": "standard", "max_doublings": 0}  # fmt: skip
SEARCHES |= {"training_temperature": 2.0, "covariance_types": ["diag"], "criterion": "held_out"}  # fmt: skip
VALUES = 2**70, 5e-324, 1e-308, np.finfo(float).max, np.float32(2), np.int64(2), np.float64(0.5), -5e-324

X = np.random.default_rng(0).normal(size=(24, 2)) + np.arange(24)[:, None] % 2 * 2
Y = np.arange(24) % 2


def made(estimator, name, value):
    """An estimator with a parameter, or an option, of this value."""
    known = estimator().get_params(deep=False)
    cheap = CHEAP | SEARCHES if "estimator" in known else CHEAP
    parameters = {name: value for name, value in cheap.items() if name in known}
    return estimator(**parameters | ({name: value} if name in known else {"options": {name: value}}))


def numeric(estimator):
    """Parameters and options that are numbers, and True for those that may be sequences."""
    for name, allowed in estimator._parameter_constraints.items():
        parameters = estimator().get_params(deep=False)
        known = name in parameters or ("options" in parameters and name in estimator._OPTIONS)
        if known and any(isinstance(each, Interval) for each in allowed):
            yield name, "array-like" in allowed


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_numeric_parameters_at_the_ends_of_their_ranges(estimator):
    for name, is_grid in numeric(estimator):
        for value in [[value] for value in VALUES] if is_grid else VALUES:
            model = made(estimator, name, value)
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
