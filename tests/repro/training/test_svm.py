import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skem.repro.training.svm import BY_MATRIX, KernelSVC

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "linear", "C": 0.01},
    {"kernel": "rbf"},
    {"kernel": "rbf", "C": 25.0, "gamma": 0.05},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 10.0},
]


def table(name):
    X, y = {"digits": load_digits, "iris": load_iris, "breast cancer": load_breast_cancer}[name](
        return_X_y=True
    )
    return StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])[:900], y[:900]


def decisions(machine, X):
    """Of `SVC`, as `KernelSVC` has them: the second class of a pair from zero on."""
    found = machine.decision_function(X).reshape(len(X), -1)
    return found if len(machine.classes_) == 2 else -found


@pytest.mark.parametrize("name", ["digits", "iris", "breast cancer"])
@pytest.mark.parametrize("params", KERNELS)
def test_kernel_machines_are_libsvms(name, params):
    X, y = table(name)
    assert (X.shape[1] >= BY_MATRIX) == (name == "digits")
    ours = KernelSVC(**params).fit(X[::2], y[::2])
    theirs = SVC(**params, decision_function_shape="ovo").fit(X[::2], y[::2])
    np.testing.assert_allclose(ours.decision_function(X), decisions(theirs, X), atol=5e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert len(ours.support_vectors_) == len(theirs.support_)


def test_equal_columns_and_rows():
    X, y = np.ones((20, 3)), np.repeat([0, 1], 10)
    for machine in (KernelSVC(kernel="linear"), KernelSVC(), KernelSVC(kernel="poly")):
        assert set(machine.fit(X, y).predict(X)) <= {0, 1}


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="needs two classes, all rows are of class"):
        KernelSVC().fit(np.eye(3), np.zeros(3, dtype=int))


def test_another_kernel_is_refused():
    with pytest.raises(ValueError, match='"linear", "poly" or "rbf"'):
        KernelSVC(kernel="sigmoid").fit(np.eye(3), [0, 1, 1])
