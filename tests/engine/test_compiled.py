"""The compiled loops against NumPy and LAPACK."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import vectorize
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from skem.engine import compiled
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.density import LEAST_LOG_RATIO, LEAST_SUM
from skem.engine.linalg import EPS
from skem.engine.parameters import Mixture
from skem.engine.parts import PartsInMemory
from skem.engine.problem import Problem
from skem.engine.threads import Workers

FULL = COVARIANCE_TYPES["full"]
TYPES = [np.float32, np.float64]


def problem(seed, k, m, sizes, dtype):
    """Features of rows sorted by class, natural parameters with what is common in the last row, and log-weights."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(k, m, m)) / np.sqrt(m)
    w, _ = FULL.natural(rng.normal(size=(k, m)), A @ np.swapaxes(A, 1, 2) + np.eye(m))
    w = np.vstack([w - w.mean(axis=0), w.mean(axis=0)]).astype(dtype)
    log_weights = np.log(rng.dirichlet(np.ones(k), size=len(sizes)).T)
    if k > 1 and len(sizes) > 1:
        log_weights[0, 0] = -np.inf
    x = rng.normal(size=(m, sum(sizes))).astype(dtype)
    return x, w, log_weights.astype(dtype), rng.uniform(0, 2, sum(sizes)), rng.uniform(0, 3, (k, len(sizes)))


@pytest.mark.parametrize("dtype", TYPES)
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 9),
    m=st.integers(1, 11),
    sizes=st.lists(st.sampled_from([1, 2, 383, 384, 385, 600]), min_size=1, max_size=3),
    first=st.integers(0, 2),
)
def test_the_e_step_is_that_of_the_formulas(dtype, seed, k, m, sizes, first):
    x, w, log_weights, sample_weights, penalties = problem(seed, k, m, sizes, dtype)
    borders, C = np.concatenate([[0], np.cumsum(sizes)]), len(sizes)
    codes = np.repeat(np.arange(C), sizes)
    phi = FULL.features(x.astype(np.float64))
    if C == 1:  # they are in w
        w[:-1, -1] += log_weights[:, 0]
    forms = w.astype(np.float64) @ phi
    log_joint = forms[:-1] + (log_weights[:, codes] if C > 1 else 0.0)
    objective = logsumexp(log_joint, axis=0)
    responsibilities = np.exp(log_joint - objective)
    plain = logsumexp(log_joint + penalties[:, codes], axis=0) + forms[-1]
    largest = penalties.max(axis=0)
    terms = log_weights.astype(np.float64), np.exp(penalties - largest), largest
    least = dtype(LEAST_LOG_RATIO[np.dtype(dtype)]), LEAST_SUM[np.dtype(dtype)]
    tolerance = {"rtol": 0, "atol": 2e-3 if dtype is np.float32 else 1e-9}

    kernels, n, H = compiled.kernels(), len(codes), len(phi)
    weighted = responsibilities * sample_weights
    scale = np.abs(phi) @ sample_weights
    around = np.pad(x, ((0, 0), (first, 3)), constant_values=np.nan)
    for family in (None, FULL.family):
        log_likelihood, of_objective = np.empty((2, n))
        counts, sums, given_forms = np.zeros((k, C)), np.zeros((k, H)), forms[[0]] + forms[-1]
        memory = np.empty(kernels.memory_size(k, H, m, n, family), dtype)
        underflown, *totals = kernels.e_step(
            around,
            first,
            np.vstack([np.full(H, 7, dtype), w[1:]]),  # the first component's is not asked for
            family,
            terms,
            (borders, sample_weights),
            least,
            memory,
            (np.array([0]), given_forms),
            log_likelihood,
            of_objective,
            counts,
            sums,
        )
        assert underflown == 0
        assert_allclose(of_objective, objective + forms[-1], **tolerance)
        assert_allclose(log_likelihood, plain, **tolerance)
        assert_allclose(totals, [sample_weights @ log_likelihood, sample_weights @ of_objective])
        assert_allclose(given_forms[0], weighted[0], **tolerance)
        assert_allclose(sums / scale, weighted @ phi.T / scale, **tolerance)
        if C > 1:
            expected = np.stack([weighted[:, codes == c].sum(axis=1) for c in range(C)], axis=1)
            assert_allclose(counts, expected, **(tolerance | {"rtol": 1e-4 if dtype is np.float32 else 1e-9}))
        assert_allclose(kernels.linear_forms(x, w, family), forms, **tolerance)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 12),
    name=st.sampled_from(["full", "diag", "spherical"]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_sums_about_an_origin_are_those_of_the_features(seed, m, name, dtype):
    rng = np.random.default_rng(seed)
    x, weights = rng.normal(size=(m, 600)).astype(dtype), rng.uniform(size=600).astype(dtype)
    origin, covariance_type = rng.normal(size=m).astype(dtype), COVARIANCE_TYPES[name]
    expected = covariance_type.features((x - origin[:, None]).astype(np.float64)) @ weights
    sums = covariance_type.weighted_sums(x, origin, weights)
    assert_allclose(
        sums, expected, rtol=1e-4 if dtype is np.float32 else 1e-11, atol=1e3 * np.finfo(dtype).eps
    )


@pytest.mark.parametrize("name", ["full", "diag", "spherical"])
def test_quadratic_features_are_those_of_the_formulas(name):
    x = np.random.default_rng(0).normal(size=(3, 700))
    a, b, c = x
    expected = {
        "full": [a, a * a, a * b, a * c, b, b * b, b * c, c, c * c],
        "diag": [a, b, c, a * a, b * b, c * c],
        "spherical": [a, b, c, a * a + b * b + c * c],
    }[name]
    assert_allclose(COVARIANCE_TYPES[name].features(x), [*expected, np.ones(700)], rtol=1e-15)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 12))
def test_distances_are_those_of_the_formula(seed, m):
    rng = np.random.default_rng(seed)
    x, origin, rest, inverse = (
        rng.normal(size=(m, 300)),
        *rng.normal(size=(2, m)),
        np.tril(rng.normal(size=(m, m))),
    )
    z = inverse @ (x - origin[:, None]) - rest[:, None]
    kernels = compiled.kernels()
    assert_allclose(kernels.squared_distances(x, origin, rest, inverse), (z * z).sum(axis=0), rtol=1e-11)
    z = inverse.diagonal()[:, None] * (x - origin[:, None]) - rest[:, None]
    distances = kernels.scaled_distances(x, origin, rest, inverse.diagonal().copy())
    assert_allclose(distances, (z * z).sum(axis=0), rtol=1e-11)


def test_the_logarithm_is_that_of_the_c_library():
    logarithm = vectorize(compiled.kernels()._log.py_func)
    decades = 10.0 ** np.random.default_rng(0).uniform(-300, 300, 3000)
    x = np.concatenate([decades, 1 + np.linspace(-0.4, 0.6, 3001), [0.0, np.inf, np.nan]])
    with np.errstate(all="ignore"):
        assert_allclose(logarithm(x), np.log(x), rtol=5e-16, atol=1e-18)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 40), log_condition=st.floats(0, 6))
def test_factors_are_those_of_lapack(seed, m, log_condition):
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(3, m, m)))[0]
    values = 10 ** rng.uniform(-log_condition, 0, (3, 1, m))
    P = (vectors * values) @ np.swapaxes(vectors, 1, 2)
    P = (P + np.swapaxes(P, 1, 2)) / 2
    inverses, log_det = compiled.components().inverse_factors(P)
    L = np.linalg.cholesky(P)
    rtol = 1e-13 * 10**log_condition * m
    assert_allclose(inverses @ L, np.broadcast_to(np.eye(m), P.shape), rtol=0, atol=rtol)
    assert_allclose(log_det, np.linalg.slogdet(P)[1], atol=rtol)
    means = rng.normal(size=(3, m))
    w, traces = FULL.natural(means, P)
    precisions = np.linalg.inv(P)
    assert_allclose(traces, np.trace(precisions, axis1=1, axis2=2), rtol=rtol)
    x = rng.normal(size=(m, 5))
    offsets = x.T[None] - means[:, None]
    squares = np.einsum("kni,kij,knj->kn", offsets, precisions, offsets)
    expected = -0.5 * (m * np.log(2 * np.pi) + np.linalg.slogdet(P)[1][:, None] + squares)
    assert_allclose(w @ FULL.features(x), expected, rtol=100 * rtol, atol=100 * rtol)


def test_what_is_not_positive_definite_is_said():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        FULL.natural(np.zeros((2, 2)), np.array([np.eye(2), [[1.0, 2.0], [2.0, 1.0]]]))


FIT = """
import numpy as np
from skem import SKEMClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 9))
clf = SKEMClassifier(6, max_iter=5, tol=0, random_state=0).fit(X, np.arange(600) % 3)
print(clf.objective_[-1].hex(), clf.class_log_density(X).sum().hex())
"""


def test_what_is_read_from_disk_is_what_was_compiled(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    compiled, read = (
        subprocess.run(
            [sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    )
    assert any(tmp_path.rglob("*.nbc"))
    assert read.stdout == compiled.stdout != ""


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), K=st.integers(1, 7), L=st.integers(1, 3), m=st.integers(1, 6))
def test_weights_and_means_are_those_of_the_formulas(seed, K, L, m):
    """Pairs below the limit are dropped; a component without any keeps its mean, and has no rows."""
    rng = np.random.default_rng(seed)
    counts = rng.uniform(0.5, 5, (K, L)) * np.where(rng.random((K, L)) < 0.3, 1e-9, 1.0)
    counts[0] += 1.0
    linear = FULL.linear(m)
    sums = rng.normal(size=(K, FULL.n_quadratic(m)))
    sums[:, -1] = counts.sum(axis=1)
    origins, previous = rng.normal(size=(2, K, m))
    kept = np.where(counts < 1e-6, 0.0, counts)
    alive = kept.any(axis=1)
    weights, means, phi, offsets, n_k = compiled.components().expectations(
        counts, sums, origins, previous, linear, 1e-6
    )
    assert_allclose(weights, kept / kept.sum(axis=0), rtol=1e-14)
    assert_allclose(n_k, np.where(alive, sums[:, -1], 0.0))
    assert_allclose(phi[alive], (sums / sums[:, -1:])[alive], rtol=1e-14)
    mean = np.where(alive[:, None], sums[:, linear] / sums[:, -1:], 0.0)
    assert_allclose(offsets, mean, rtol=1e-14)
    assert_allclose(means, np.where(alive[:, None], origins + mean, previous), rtol=1e-13, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    K=st.integers(1, 5),
    L=st.integers(1, 3),
    m=st.integers(1, 6),
    ridge=st.sampled_from([0.0, 1e-3]),
)
def test_the_next_parameters_are_those_of_the_formulas(seed, K, L, m, ridge):
    rng, components = np.random.default_rng(seed), compiled.components()
    X, codes = rng.normal(size=(40, m)) + rng.normal(size=m), np.arange(40) % L
    r = rng.uniform(size=(K, 40))
    counts = np.stack([r[:, codes == c].sum(axis=1) for c in range(L)], axis=1)
    sums, means = r @ FULL.features(X.T).T, (r @ X) / r.sum(axis=1)[:, None]
    covariances = np.stack(
        [np.cov(X.T, aweights=of_k, ddof=0).reshape(m, m) + ridge * np.eye(m) for of_k in r]
    )
    penalties = 0.5 * ridge * np.trace(np.linalg.inv(covariances), axis1=1, axis2=2)
    constants = Problem(
        PartsInMemory(X, None, np.ones(40), np.zeros(m), np.ones(m)),
        np.arange(m),
        Mixture(counts, means, covariances),
        FULL,
        Workers(),
    ).constants
    of_rows = FULL.linear(m), 1e-40, ridge, EPS, np.zeros(K, dtype=bool), np.ones(sums.shape[1]), True

    def next_parameters(sums):
        return components.next_parameters(
            counts, sums, np.zeros((K, m)), np.zeros((K, m)), *of_rows, constants
        )

    usual, parameters, w, terms, joint = next_parameters(sums)
    assert usual
    for found, expected in zip(parameters, (counts / counts.sum(axis=0), means, covariances), strict=True):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    points = rng.normal(size=(m, 5))
    log_normal = np.stack(
        [multivariate_normal(mean, P).logpdf(points.T) for mean, P in zip(means, covariances, strict=True)]
    )
    assert_allclose(w @ FULL.features(points), log_normal - penalties[:, None], rtol=1e-7, atol=1e-7)
    log_weights, _, of_apart, rest, common, _, _ = terms
    assert_allclose(rest + common, w, rtol=1e-9, atol=1e-9 * np.abs(w).max())
    assert_allclose(of_apart, penalties, rtol=1e-7)
    for found, expected in zip(
        joint, components.joint_terms(rest, common, log_weights, of_apart[:, None]), strict=True
    ):
        assert_allclose(found, expected, rtol=1e-14)
    if not ridge:  # all rows of a component in one place
        sums[0] = counts[0].sum() * FULL.features(X[:1].T)[:, 0]
        assert not next_parameters(sums)[0]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), K=st.integers(1, 7), H=st.integers(2, 20))
def test_what_is_apart_adds_up_again(seed, K, H):
    rng = np.random.default_rng(seed)
    w, weights, largest = rng.normal(size=(K, H)), rng.random((K, 2)), rng.uniform(0, 3, H)
    traces, leave_out = rng.random(K), rng.random(K) < 0.3
    plain, components = w.copy(), compiled.components()
    terms = components.apart(w, traces, 0.5, weights, leave_out, largest)
    log_weights, everywhere, penalties, rest, common, of_all, of_rest = terms
    assert everywhere
    assert_allclose(log_weights, np.log(weights))
    assert_allclose(penalties, 0.25 * traces)
    plain[:, -1] -= penalties
    assert_allclose(w, plain)
    assert_allclose((rest + common)[~leave_out], w[~leave_out], rtol=1e-12, atol=1e-14)
    assert not rest[leave_out].any()
    for taken_apart, found in ((np.zeros(H), of_all), (common, of_rest)):
        of_parts = np.abs(w - taken_apart) + np.abs(taken_apart)
        assert_allclose(found, ((of_parts @ largest).max(), of_parts.max()), rtol=1e-13)
        for overflow in (np.inf, np.median(of_parts)):
            sums, fine = components.error_bounds(w, taken_apart, largest, 0, 0.0, 0.0, 2.0, 9.0, overflow)
            expected = np.where(of_parts.max(axis=1) < overflow, 2.0 * of_parts @ largest, np.inf)
            assert_allclose(sums, expected, rtol=1e-13)
            assert fine == (sums < 9.0).all()


def test_a_sum_that_is_no_number_is_told_wherever_it_stands():
    for place in range(3):
        w = np.ones((3, 4))
        w[place, 1] = np.nan
        *_, of_all, of_rest = compiled.components().apart(
            w, np.ones(3), 0.0, np.ones((3, 1)), np.zeros(3, dtype=bool), np.ones(4)
        )
        assert np.isnan(of_all[0])
        assert np.isnan(of_rest[0])
