"""The compiled loops against plain NumPy."""

from unittest.mock import patch

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, softmax

from skem.engine import em, problem
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.linalg import exponentials, longest_axes, product, weighted_sum, weighted_sums
from skem.engine.parameters import Mixture
from skem.engine.parts import PartsInMemory
from skem.engine.threads import Workers


def random_covariances(rng, K, m):
    A = rng.normal(size=(K, m, m)) / np.sqrt(m)
    return A @ np.swapaxes(A, 1, 2) + np.eye(m)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", COVARIANCE_TYPES)
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    K=st.integers(1, 5),
    m=st.integers(1, 9),
    sizes=st.lists(st.sampled_from([1, 15, 65, 256, 257, 513]), min_size=1, max_size=3),
    one_chunk=st.booleans(),
    narrow=st.booleans(),
    penalty=st.sampled_from([0.0, 1.0, 1e9]),
)
def test_e_step(dtype, name, seed, K, m, sizes, one_chunk, narrow, penalty):
    rng, C, n, kind = np.random.default_rng(seed), len(sizes), sum(sizes), COVARIANCE_TYPES[name]
    codes, X = np.repeat(np.arange(C), sizes), rng.normal(size=(n, m)).astype(dtype)
    weights = rng.dirichlet(np.ones(K), C).T * (rng.random((K, C)) < 0.8)
    weights[0] = 0.4
    matrices = random_covariances(rng, K, m)
    covariances = kind.compress(np.einsum("kii->ki", matrices) if kind.diagonal else matrices)
    mixture = Mixture(weights / weights.sum(axis=0), rng.normal(size=(K, m)), covariances)
    matrices = kind.of_components(covariances, K, m)
    matrices = matrices[:, :, None] * np.eye(m) if kind.diagonal else matrices
    model = reference.Model(mixture.weights, mixture.means, matrices)
    # A penalty that all components have costs no digits, however large it is.
    penalties = penalty + rng.uniform(0, 3, (K, C)) * (penalty > 0)
    sample_weight = rng.uniform(0, 2, n) * (rng.random(n) < 0.9)
    parts = PartsInMemory(X, codes, sample_weight, np.zeros(m), np.ones(m))
    with Workers() as workers, patch.object(problem, "ONE_CHUNK", problem.ONE_CHUNK if one_chunk else 0):
        given_start = problem.Problem(parts, np.arange(m), mixture, kind, workers, log_sharing=-penalties)
        parameters = em.initial(given_start)
        if narrow:
            gaussians = parameters.gaussians._replace(sensitivities=np.full(K, np.inf))
            parameters = parameters._replace(gaussians=gaussians)
        found = em.expectation(given_start, parameters, dtype=np.dtype(dtype))

    log_normal = reference.log_normal(X, model).T
    log_joint = log_normal + reference.log_weights(model)[:, codes]
    penalised = log_joint - (penalties - penalty)[:, codes]
    r = sample_weight * softmax(penalised, axis=0)
    offsets = X - mixture.means[:, None]
    eps, scale = 64 * np.finfo(dtype).eps, sample_weight @ np.abs(log_normal).max(axis=0)
    log_likelihood = sample_weight @ logsumexp(log_joint, axis=0)
    assert_allclose(found.log_likelihood, log_likelihood, rtol=0, atol=eps * scale)
    objective = sample_weight @ (logsumexp(penalised, axis=0) - penalty)
    assert_allclose(found.objective, objective, rtol=1e-14, atol=eps * scale)
    counts = np.stack([r[:, codes == c].sum(axis=1) for c in range(C)], axis=1)
    assert_allclose(found.counts, counts, rtol=0, atol=eps * scale)
    assert_allclose(found.offsets, np.einsum("kn,kni->ki", r, offsets), rtol=0, atol=eps * scale)
    scatter = np.einsum("kn,kni,knj->kij", r, offsets, offsets)
    scatter = kind.scatter(np.einsum("kii->ki", scatter) if kind.diagonal else scatter)
    assert_allclose(found.scatter, scatter, rtol=0, atol=eps * scale)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.tuples(*[st.sampled_from([1, 3, 4, 9, 16, 300])] * 3),
    stacks=st.sampled_from([((), ()), ((3,), ()), ((), (3,)), ((3,), (3,))]),
)
def test_product(seed, sizes, stacks):
    rng, (n, p, q) = np.random.default_rng(seed), sizes
    a, b = rng.normal(size=(*stacks[0], n, p)), rng.normal(size=(*stacks[1], p, q))
    assert_allclose(product(a, b), a @ b, rtol=0, atol=1e-14 * p)


@pytest.mark.parametrize("x", [np.random.default_rng(0).normal(size=(5000, 3)), np.ones((7, 2), dtype=bool)])
def test_weighted_sum(x):
    weights = np.random.default_rng(1).random(len(x))
    expected = np.add.accumulate(weights[:, None] * x)[-1]  # which rounds each product, and each sum
    for ordered in (x, np.asfortranarray(x)):
        assert_array_equal(weighted_sum(weights, ordered), expected)
    labels = np.random.default_rng(2).integers(4, size=len(x))
    by_label = [weighted_sum(weights[labels == k], x[labels == k]) for k in range(5)]
    assert_array_equal(weighted_sums(weights, x, labels, 5), by_label)


def test_longest_axes():
    covariances = random_covariances(np.random.default_rng(0), 20, 7)
    variances, axes = longest_axes(covariances)
    assert_allclose(variances, np.linalg.eigvalsh(covariances)[:, -1])
    assert_allclose(np.einsum("kij,kj->ki", covariances, axes), variances[:, None] * axes, atol=1e-9)
    assert (np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1) > 0).all()
    # Equal variances have no longest axis: any direction is one.
    assert_allclose(longest_axes(4 * np.eye(3)[None])[0], 4.0)


def test_exponentials():
    x = np.concatenate([np.linspace(-690, 0, 1001), [-800.0, -np.inf, np.nan]])
    assert_allclose(exponentials(x), np.exp(x), rtol=1e-15, atol=1e-300)
