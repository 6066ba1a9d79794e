"""Samples in parts: the order of their sums, and the sample that initialisations draw from."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal

from skem import SKEMClassifier
from skem.engine import parts
from skem.engine.threads import Workers


def level_by_level(values, combine):
    while len(values) > 1:
        values = [combine(values[i : i + parts.FAN_IN]) for i in range(0, len(values), parts.FAN_IN)]
    return values[0]


class WeightedSums:
    """Step that sums w x over samples in float32."""

    columns, dtype, pairs = np.array([2, 0]), np.dtype(np.float32), False

    def chunks(self, rows):
        return rows.chunks(100)

    def of_chunk(self, rows, chunk, read, scratch):
        x, first = read(chunk.rows)
        w = rows.weights[chunk.rows]
        return x[:, first : first + len(w)] @ w.astype(np.float32)

    def total(self, values):
        return sum(values)


class InProcess:
    """Executor whose references are the parts themselves."""

    def fold(self, function, references, *arguments):
        return parts.tree(map(function, references, *arguments))


@pytest.mark.parametrize("n", [150, 5000])
def test_folds_have_the_same_bits_everywhere(monkeypatch, tmp_path, n):
    rng = np.random.default_rng(0)
    X, codes, weights = rng.normal(size=(n, 3)), rng.integers(0, 2, n), rng.uniform(0.2, 2.0, n)
    shift, scale, step = X.mean(axis=0), X.std(axis=0), WeightedSums()
    monkeypatch.setattr(parts, "PART_ROWS", 200)
    monkeypatch.setattr(parts, "FAN_IN", 3)

    part_sums = []
    for part in parts.slices(n):
        x, w = ((X[part] - shift) / scale).astype(np.float32)[:, step.columns], weights[part]
        masks = [codes[part] == c for c in (0, 1)]
        chunk_sums = [
            x[k][i : i + 100].T.copy() @ w[k][i : i + 100].astype(np.float32)
            for k in masks
            for i in range(0, k.sum(), 100)
        ]
        part_sums.append(sum(chunk_sums[1:], chunk_sums[0]))
    expected = level_by_level(part_sums, lambda values: sum(values[1:], values[0]))

    np.save(tmp_path / "X.npy", X)
    for data in (X, np.load(tmp_path / "X.npy", mmap_mode="r")):
        in_memory = parts.PartsInMemory(data, codes, weights, shift, scale)
        for n_jobs in (1, 2):
            with Workers(n_jobs) as workers:
                assert_array_equal(in_memory.fold(step, workers), expected)
    out_of_core = parts.PartsOutOfCore(InProcess(), in_memory.parts, shift, scale)
    assert_array_equal(out_of_core.fold(step, Workers()), expected)
    assert (
        (out_of_core.n_samples, out_of_core.n_classes) == (in_memory.n_samples, in_memory.n_classes) == (n, 2)
    )
    assert out_of_core.total_weight == in_memory.total_weight
    assert_array_equal(out_of_core.extent, in_memory.extent)


def test_several_parts_are_exact(monkeypatch):
    """Compare with sums over explicit responsibilities; some parts lack a class."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 5000))
    X = rng.normal(size=(5000, 3)) + 2.0 * y[:, None]
    weights = rng.uniform(0.2, 2.0, 5000)
    init = np.full((4, 3), 0.25), X[::1300].copy(), np.stack([np.eye(3)] * 4)
    monkeypatch.setattr(parts, "PART_ROWS", 700)
    model = SKEMClassifier(4, init_params=init, max_iter=4, reg_covar=0.01).fit(X, y, weights)
    expected = reference.em(
        X, y, reference.Model(*init), 4, covariance_type="full", reg_covar=0.01, sample_weight=weights,
        scale=reference.training_scale(X, weights),
    )  # fmt: skip
    assert_allclose(model.weights_, expected.weights, atol=1e-9)
    assert_allclose(model.means_, expected.means, atol=1e-9)
    assert_allclose(model.covariances_, expected.covariances, atol=1e-9)
