"""EM of the classifiers against the slow reference in reference.py, and identities that EM satisfies."""

import warnings

import numpy as np
import pytest
import reference
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import shared_clusters

from skem import GaussianMixture, KMeans, PSKEMClassifier, SKEMClassifier
from skem.engine import em, little, parts, problem, rows
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.parameters import Mixture

INITIALISATIONS = ["uniform", "sample", "kmeans", "class", "class_kmeans"]
every_type = pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)


@pytest.fixture(params=["one chunk", "a chunk per class", "several parts"])
def every_size(request, monkeypatch):
    """Small data is one chunk, larger data has chunks of one class each, and still larger data has parts."""
    if request.param != "one chunk":
        monkeypatch.setattr(problem, "ONE_CHUNK", 0)
    if request.param == "several parts":
        monkeypatch.setattr(parts, "PART_ROWS", 15)


def initial_model(covariance_type, init, scale):
    """Initial arrays in the shape of a covariance type; spherical covariances may be balls in units of ``scale``."""
    weights, means, covariances = init
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    shaped = {
        "full": covariances,
        "tied": covariances.mean(axis=0),
        "diag": variances,
        "spherical": variances.mean(axis=1)[:, None] * scale**2 if scale.std() else variances.mean(axis=1),
    }[covariance_type]
    return reference.Model(weights, means, shaped)


def arrays_of(model):
    return model.weights, model.means, model.covariances


def assert_same_model(clf, expected, X, rtol=1e-8):
    """Parameters and densities agree, relative to the size of each."""
    (K, m), spread = expected.means.shape, np.std(X)
    assert_allclose(clf.weights_, expected.weights, rtol=rtol, atol=rtol)
    assert_allclose(clf.means_, expected.means, rtol=rtol, atol=rtol * spread)
    covariances = reference.full_covariances(expected.covariances, K, m)
    atol = rtol * np.abs(covariances).max()
    assert_allclose(reference.full_covariances(clf.covariances_, K, m), covariances, rtol=rtol, atol=atol)
    assert_allclose(clf.class_log_density(X), reference.class_log_density(X, expected), rtol=rtol, atol=rtol)


@pytest.mark.usefixtures("every_size")
def test_iterations_equal_the_equations():
    X, y, init = shared_clusters()
    mixture, ridge = Mixture(*init), 0.05
    clf = SKEMClassifier(init_params=init, standardize=False, reg_covar=ridge, max_iter=4).fit(X, y)
    for _ in range(4):
        responsibilities, _ = em.e_step(X, y, mixture, ridge)
        mixture = em.m_step(X, y, responsibilities, ridge)
    assert_same_model(clf, mixture, X)
    assert_allclose(clf.objective_[-1], em.e_step(X, y, mixture, ridge)[1].mean(), rtol=1e-9)
    assert_allclose(clf.responsibilities(X, y)[0], em.e_step(X, y, mixture, 0.0)[0], atol=1e-9)


@pytest.mark.usefixtures("every_size")
@pytest.mark.parametrize(("standardize", "weighted"), [(False, False), (True, True)])
@every_type
def test_passes_equal_the_reference(covariance_type, standardize, weighted):
    X, y, (weights, means, covariances) = shared_clusters()
    X, y = X[y.argsort()], np.sort(y)  # some parts lack a class
    unit = np.array([1, 20, 0.1, 3]) if standardize else np.ones(4)
    X, init = X * unit, (weights, means * unit, covariances * np.outer(unit, unit))
    sample_weight = np.random.default_rng(1).uniform(0, 3, len(y)) if weighted else None
    scale = reference.training_scale(X, sample_weight, standardize)
    model = initial_model(covariance_type, init, scale)
    clf = SKEMClassifier(
        init_params=arrays_of(model), covariance_type=covariance_type, standardize=standardize
    )
    clf.set_params(reg_covar=0.05, max_iter=5).fit(X, y, sample_weight)
    options = {"reg_covar": 0.05, "scale": scale, "sample_weight": sample_weight}
    expected = reference.em(X, y, model, 5, covariance_type=covariance_type, **options)
    assert_same_model(clf, expected, X)
    assert_allclose(clf.objective_[-1], reference.objective(X, y, expected, **options), rtol=1e-9)
    log_likelihood = reference.log_likelihood(X, y, expected, sample_weight)
    assert_allclose(clf.log_likelihood_[-1], log_likelihood, rtol=1e-9)


@pytest.mark.usefixtures("every_size")
# All examples have one size.
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**31),
    m=st.integers(1, 3),
    covariance_type=st.sampled_from(list(COVARIANCE_TYPES)),
    init=st.sampled_from(INITIALISATIONS),
    reg_covar=st.sampled_from([0.0, 1e-6, 0.1, 10.0]),
    standardize=st.booleans(),
    weighted=st.booleans(),
)
@example(  # three samples in three dimensions: the last pivot is above its own rounding, and below that of those before it
    seed=115079, m=3, covariance_type="full", init="kmeans", reg_covar=0.0, standardize=True, weighted=True
)
def test_objective_never_falls(seed, m, covariance_type, init, reg_covar, standardize, weighted):
    rng = np.random.default_rng(seed)
    L, n = int(rng.integers(2, 4)), int(rng.integers(60, 150))
    y = np.arange(n) % L
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + rng.normal(size=(L, m))[y]
    X = X * 10.0 ** rng.integers(-2, 3, size=m) + rng.normal(size=m)
    sample_weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n) if weighted else None
    scale = reference.training_scale(X, sample_weight, standardize)
    options = {"covariance_type": covariance_type, "standardize": standardize, "reg_covar": reg_covar}
    clf = SKEMClassifier(L + 2, init_params=init, max_iter=6, random_state=seed, **options)
    before = -np.inf
    for _ in clf.fit_iterations(X, y, sample_weight):
        model = reference.model_of(clf)
        value = reference.objective(X, y, model, reg_covar, scale, sample_weight)
        allowed = 1e-9 * (1 + abs(value)) + reference.rounding(X, model)
        assert abs(clf.objective_[-1] - value) <= allowed
        plain = reference.log_likelihood(X, y, model, sample_weight)
        assert abs(clf.log_likelihood_[-1] - plain) <= 1e-9 * (1 + abs(plain)) + reference.rounding(X, model)
        assert clf.objective_[-1] >= before - allowed
        before = clf.objective_[-1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reg_covar", [1e-6, 0.0])
def test_little_data_have_the_bits_of_much_data(monkeypatch, dtype, reg_covar):
    """Without regularisation the covariance of five equal samples turns singular after eleven iterations in reused memory."""
    X, y = np.random.default_rng(2).standard_normal((60, 3)).round(1).astype(dtype), np.arange(60) % 3
    X[:5] = X[0]
    options = {"max_iter": 30, "tol": 0, "reg_covar": reg_covar, "random_state": 0}
    models = [GaussianMixture(8, **options), PSKEMClassifier(6, n_blocks=2, **options)]
    results = []
    for iterations in (little.iterations, lambda *_: iter(())):
        monkeypatch.setattr(little, "iterations", iterations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of singular covariances
            results.append([model.fit(X, y).predict_proba(X).tobytes() for model in models])
            results[-1] += [model.objective_.tobytes() for model in models]
    assert results[0] == results[1]


@pytest.mark.parametrize("arrangement", ["sequential", "interleaved", "random", [[0, 5], [5, 1, 2]]])
def test_blocks_multiply(arrangement):
    X, y, _ = shared_clusters(m=7)
    clf = PSKEMClassifier(6, n_blocks=2, arrangement=arrangement, max_iter=4, random_state=0).fit(X, y)
    parts = [
        (X[:, index], reference.Model(block.weights, block.means, block.covariances))
        for index, block in zip(clf.block_indices_, clf.blocks_, strict=True)
    ]
    density = sum(reference.class_log_density(*part) for part in parts)
    assert_allclose(clf.class_log_density(X), density, rtol=1e-9)
    assert_allclose(clf.log_likelihood_[-1], density[np.arange(len(y)), y].mean(), rtol=1e-9)
    penalised = sum(reference.objective(x, y, model, 0.1, reference.training_scale(x)) for x, model in parts)
    assert_allclose(clf.objective_[-1], penalised, rtol=1e-9)
    # One feature block is SKEM, to the bit.
    options = {"init_params": "class_kmeans", "max_iter": 3, "random_state": 3}
    one, other = (model.fit(X, y) for model in (SKEMClassifier(6, **options), PSKEMClassifier(6, **options)))
    assert_array_equal(other.blocks_[0].means, one.means_)
    assert_array_equal(other.objective_, one.objective_)


def test_each_block_starts_from_its_own_arrays():
    X, y, (weights, means, covariances) = shared_clusters()
    halves = [[0, 1], [2, 3]]
    inits = [(weights, means[:, i], covariances[:, i][:, :, i]) for i in halves]
    clf = PSKEMClassifier(n_blocks=2, init_params=inits, reg_covar=0.0, max_iter=2).fit(X, y)
    for i, init, block in zip(halves, inits, clf.blocks_, strict=True):
        expected = reference.em(X[:, i], y, reference.Model(*init), 2, covariance_type="full")
        assert_allclose(block.means, expected.means, rtol=1e-8)
        assert_allclose(block.covariances, expected.covariances, rtol=1e-8)


@pytest.mark.parametrize("init", INITIALISATIONS)
def test_order_and_repetition_of_samples(init):
    X, y, _ = shared_clusters(n=150)
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 4, len(y))
    order, repeated = rng.permutation(len(y)), rng.permutation(np.repeat(np.arange(len(y)), counts))

    def fit(*samples):
        return SKEMClassifier(6, init_params=init, max_iter=5, random_state=2).fit(*samples)

    expected = fit(X, y, counts)
    for same in (
        fit(X[order], y[order], counts[order]),
        fit(X[repeated], y[repeated]),
        fit(X, y, 7 * counts),
        fit(np.r_[X, X[:40] + 9], np.r_[y, y[:40]], np.r_[counts, np.zeros(40)]),
    ):
        assert_same_model(same, reference.model_of(expected), X)
        assert_allclose(same.objective_, expected.objective_, rtol=1e-8)


def fitted_arrays(model):
    """Every array that a fit leaves."""
    names = "weights_", "means_", "covariances_", "objective_", "labels_", "cluster_centers_", "inertia_"
    blocks = [array for block in getattr(model, "blocks_", ()) for array in arrays_of(block)]
    return [*blocks, *(getattr(model, name) for name in names if hasattr(model, name))]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "model",
    [
        PSKEMClassifier(8, n_blocks=2, init_params="uniform", max_iter=4),
        GaussianMixture(7, init_params="random_spread", metric="mahalanobis", tol=0, max_iter=4),
        KMeans(9, init="k-means++", max_iter=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_workers_and_seeds_leave_no_trace(tmp_path, monkeypatch, model, dtype):
    X, y, _ = shared_clusters(n=9000, m=6)
    X[::9] = 3.0 + 1e-5 * X[::9]  # so narrow that float32 needs pairs of numbers
    X = X.astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = fitted_arrays(model.set_params(random_state=11).fit(X, y))
    assert len(expected) > 2
    for kept_bytes, n_jobs, data in ((10**9, 1, X), (10**9, 3, mapped), (0, 2, X), (0, 2, mapped)):
        monkeypatch.setattr(rows, "KEPT_BYTES", kept_bytes)  # samples that fit in memory are not read twice
        for array, other in zip(
            expected, fitted_arrays(model.set_params(n_jobs=n_jobs).fit(data, y)), strict=True
        ):
            assert_array_equal(array, other)
    different = fitted_arrays(model.set_params(random_state=12).fit(X, y))
    assert not all(np.array_equal(one, other) for one, other in zip(expected, different, strict=True))
