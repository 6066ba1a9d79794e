"""The benchmark's splits, from a file in the mirror."""

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


def test_splits_of_the_mirror(tmp_path, monkeypatch):
    monkeypatch.setenv("SKEM_DATA_MIRROR", str(tmp_path))
    assert benchmark.file() is None
    path = saved(tmp_path)
    assert benchmark.file() == str(path)
    for found, expected in zip(
        benchmark.splits(path, "banana", 2)[1], (X[3:], [-1, 1, -1], X[[0, 2]], [1, 1]), strict=True
    ):
        assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("changed", "name", "message"),
    [
        ({"train": TRAIN + 3}, "banana", "samples beyond its 6"),
        ({"test": TEST - 1}, "banana", "samples beyond its 6"),
        ({"x": X[:4]}, "banana", "shapes"),
        ({"x": "text"}, "banana", "no struct of the arrays"),
        ({"train": TRAIN[:1]}, "banana", "has 1 splits of banana; 2 are required"),
        ({}, "titanic", "titanic is no struct"),
    ],
)
def test_other_files_are_refused(tmp_path, changed, name, message):
    with pytest.raises(ValueError, match=message):
        benchmark.splits(saved(tmp_path, **changed), name, 2)
