"""Kernel machines with matrix products are those of libsvm."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skem.repro.training.svm import BY_MATRIX, KernelSVC

TABLES = {"digits": load_digits, "iris": load_iris, "breast cancer": load_breast_cancer}
KERNELS = [
    {"kernel": "linear", "C": 0.01},
    {"kernel": "rbf"},
    {"kernel": "rbf", "C": 25.0, "gamma": 0.05, "break_ties": True},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 10.0},
]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("params", KERNELS)
def test_machines_are_those_of_libsvm(name, params):
    X, y = TABLES[name](return_X_y=True)
    X, y = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])[:600], y[:600]
    assert (X.shape[1] >= BY_MATRIX) == (name == "digits")
    ours, theirs = KernelSVC(**params).fit(X[::2], y[::2]), SVC(**params).fit(X[::2], y[::2])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
