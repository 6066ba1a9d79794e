"""The benchmark's own splits, from a file in a mirror folder."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.io import savemat

from skem.repro.papers.hayashi2021 import benchmark

X = np.arange(12.0).reshape(6, 2)
T = np.array([[1], [-1], [1], [-1], [1], [-1]])
TRAIN, TEST = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[4, 6], [1, 3]])


def saved(folder, **changed):
    path = folder / "benchmarks" / "benchmarks.mat"
    path.parent.mkdir(exist_ok=True)
    savemat(path, {"banana": {"x": X, "t": T, "train": TRAIN, "test": TEST} | changed})
    return path


def test_splits_are_those_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SKEM_DATA_MIRROR", str(tmp_path))
    assert benchmark.file() is None
    path = saved(tmp_path)
    assert benchmark.file() == path
    X_train, y_train, X_test, y_test = benchmark.splits(path, "banana", 2)[1]
    assert_array_equal(X_train, X[3:])
    assert_array_equal(y_train, [-1, 1, -1])
    assert_array_equal(X_test, X[[0, 2]])
    assert_array_equal(y_test, [1, 1])
    monkeypatch.delenv("SKEM_DATA_MIRROR")
    assert benchmark.file() is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"train": TRAIN + 3}, "rows that it has not"),
        ({"test": TEST - 1}, "rows that it has not"),
        ({"x": X[:4]}, "shapes"),
        ({"x": "text"}, "no struct of the arrays"),
        ({"train": TRAIN[:1]}, "2 splits of banana are asked for, it has 1"),
    ],
)
def test_a_file_of_other_arrays_is_refused(tmp_path, changed, message):
    path = saved(tmp_path, **changed)
    with pytest.raises(ValueError, match=message):
        benchmark.splits(path, "banana", 2)


def test_a_data_set_that_is_not_in_the_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="titanic is no struct"):
        benchmark.splits(saved(tmp_path), "titanic", 1)
