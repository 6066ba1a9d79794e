import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skem.repro.training import svm
from skem.repro.training.svm import BY_MATRIX, KernelSVC, LinearMachines

KERNELS = [
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


@pytest.mark.parametrize("name", ["digits", "iris", "breast cancer"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_linear_machines_are_libsvms(name, C):
    X, y = table(name)
    ours = LinearMachines(C=C).fit(X[::2], y[::2])
    theirs = SVC(kernel="linear", C=C, tol=1e-7, decision_function_shape="ovo").fit(X[::2], y[::2])
    sign = 1 if len(ours.classes_) == 2 else -1
    # The weights are unique; the intercept of classes that can be told apart need not be.
    np.testing.assert_allclose(ours.coef_, sign * theirs.coef_, atol=2e-3 * np.abs(theirs.coef_).max())
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.998


def test_machines_of_overlapping_and_unequal_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(["few", "many"], [3, 200])
    X = rng.normal(size=(203, 5)) + 0.1 * (y == "few")[:, None]
    ours = LinearMachines(C=1.0).fit(X, y)
    theirs = SVC(kernel="linear", C=1.0, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_what_rounding_spoils_is_left_to_libsvm(monkeypatch):
    X, y = table("iris")
    theirs = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    monkeypatch.setattr(svm, "_separate", lambda *_: 1 / np.zeros(1))
    np.testing.assert_allclose(LinearMachines().fit(X, y).coef_, -theirs.coef_, rtol=1e-12)


def test_equal_columns_and_rows():
    X, y = np.ones((20, 3)), np.repeat([0, 1], 10)
    for machine in (LinearMachines(), KernelSVC(), KernelSVC(kernel="poly")):
        assert set(machine.fit(X, y).predict(X)) <= {0, 1}


@pytest.mark.parametrize("machine", [LinearMachines(), KernelSVC()])
def test_one_class_is_refused(machine):
    with pytest.raises(ValueError, match="needs two classes, all rows are of class"):
        machine.fit(np.eye(3), np.zeros(3, dtype=int))


def test_other_parameters_are_refused():
    with pytest.raises(ValueError, match='"poly" or "rbf"'):
        KernelSVC(kernel="linear").fit(np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="C must be positive"):
        LinearMachines(C=0.0).fit(np.eye(3), [0, 1, 1])
