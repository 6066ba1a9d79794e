"""Does EM compute what the papers say? The estimators against the plain reference in reference.py."""

import warnings

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import shared_clusters
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from skem import MDAClassifier, PSKEMClassifier, SKEMClassifier
from skem.engine import rows
from skem.engine.covariances import COVARIANCE_TYPES

pytestmark = pytest.mark.usefixtures("both_ways")
STARTS = ["uniform", "sample", "kmeans", "class", "class_kmeans"]


def start_of(covariance_type, start, scale):
    """The start in the shape of a covariance type, and the same as the reference wants it."""
    weights, means, covariances = start
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    shaped = {
        "full": covariances,
        "tied": covariances.mean(axis=0),
        "diag": variances,
        "spherical": variances.mean(axis=1)[:, None] * scale**2 if scale.std() else variances.mean(axis=1),
    }[covariance_type]
    return (weights, means, shaped), reference.Model(weights, means, shaped)


def assert_same_model(clf, expected, X, rtol=1e-8):
    """Parameters and densities agree, relative to the size of each."""
    (K, m), spread = expected.means.shape, np.std(X)
    assert_allclose(clf.weights_, expected.weights, rtol=rtol, atol=rtol)
    assert_allclose(clf.means_, expected.means, rtol=rtol, atol=rtol * spread)
    covariances = reference.full_covariances(expected.covariances, K, m)
    atol = rtol * np.abs(covariances).max()
    assert_allclose(reference.full_covariances(clf.covariances_, K, m), covariances, rtol=rtol, atol=atol)
    assert_allclose(clf.class_log_density(X), reference.class_log_density(X, expected), rtol=rtol, atol=rtol)


def same_fit(a, b, X, rtol=1e-8):
    assert_same_model(a, reference.model_of(b), X, rtol)
    assert_allclose(a.objective_, b.objective_, rtol=rtol)


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_the_reference_agrees_with_scikit_learn_on_one_class(covariance_type):
    X, _, start = shared_clusters(n=400)
    (weights, means, covariances), model = start_of(covariance_type, start, np.ones(4))
    invert = np.linalg.inv if covariance_type in ("full", "tied") else np.reciprocal
    options = {
        "means_init": means,
        "weights_init": weights[:, 0],
        "precisions_init": invert(covariances),
        "reg_covar": 0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = GaussianMixture(len(means), covariance_type=covariance_type, tol=0, max_iter=4, **options).fit(
            X
        )
    one_class = reference.Model(weights[:, :1], means, model.covariances)
    ours = reference.em(X, np.zeros(len(X), dtype=int), one_class, 4, covariance_type=covariance_type)
    assert_allclose(ours.means, peer.means_, rtol=1e-9)
    assert_allclose(reference.class_log_density(X, ours)[:, 0], peer.score_samples(X), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
@pytest.mark.parametrize("passes", [1, 5])
def test_passes_equal_the_reference(passes, covariance_type, standardize, weighted):
    X, y, start = shared_clusters()
    X = X * [1, 20, 0.1, 3] if standardize else X
    if standardize:
        unit = np.array([1, 20, 0.1, 3])
        start = (start[0], start[1] * unit, start[2] * np.outer(unit, unit))
    sample_weight = np.random.default_rng(1).uniform(0, 3, len(y)) if weighted else None
    scale = reference.training_scale(X, sample_weight, standardize)
    init, model = start_of(covariance_type, start, scale)
    clf = SKEMClassifier(len(init[1]), covariance_type=covariance_type, init=init, standardize=standardize)
    clf.set_params(reg_covar=0.05, max_iter=passes).fit(X, y, sample_weight)
    options = {"reg_covar": 0.05, "scale": scale, "sample_weight": sample_weight}
    expected = reference.em(X, y, model, passes, covariance_type=covariance_type, **options)
    assert_same_model(clf, expected, X)
    assert_allclose(clf.objective_[-1], reference.objective(X, y, expected, **options), rtol=1e-9)
    assert_allclose(
        clf.log_likelihood_[-1], reference.log_likelihood(X, y, expected, sample_weight), rtol=1e-9
    )


def test_few_components_among_many_features_equal_the_reference():
    X, y, (weights, means, covariances) = shared_clusters(m=14, K=3)
    init = weights, means, covariances
    clf = SKEMClassifier(3, init=init, standardize=False, reg_covar=0.05, max_iter=4).fit(X, y)
    options = {"reg_covar": 0.05, "scale": np.ones(14)}
    expected = reference.em(X, y, reference.Model(*init), 4, covariance_type="full", **options)
    assert_same_model(clf, expected, X)
    assert_allclose(clf.objective_[-1], reference.objective(X, y, expected, **options), rtol=1e-9)


@pytest.mark.parametrize("copies", [False, True])
def test_mda_equals_the_reference_with_one_covariance(copies):
    X, y, (weights, means, covariances) = shared_clusters()
    pooled = covariances.mean(axis=0)
    start = (weights, means, np.repeat(pooled[None], len(means), axis=0) if copies else pooled)
    clf = MDAClassifier(len(means), init=[start], reg_covar=0.1, max_iter=5).fit(X, y)
    scale = reference.training_scale(X)
    model = reference.Model(weights, means, pooled)
    expected = reference.em(X, y, model, 5, covariance_type="tied", reg_covar=0.1, scale=scale)
    (block,) = clf.blocks_
    assert block.covariances.shape == pooled.shape
    assert_allclose(block.covariances, expected.covariances[0], rtol=1e-8)
    assert_allclose(clf.class_log_density(X), reference.class_log_density(X, expected), rtol=1e-8)


@settings(deadline=None, max_examples=75)
@given(
    seed=st.integers(0, 2**31),
    m=st.integers(1, 3),
    covariance_type=st.sampled_from(list(COVARIANCE_TYPES)),
    init=st.sampled_from(STARTS),
    reg_covar=st.sampled_from([0.0, 1e-6, 0.1, 10.0]),
    standardize=st.booleans(),
    weighted=st.booleans(),
)
@example(  # three rows in three dimensions: the last pivot is above its own rounding, and below that of those before it
    seed=115079, m=3, covariance_type="full", init="kmeans", reg_covar=0.0, standardize=True, weighted=True
)
def test_the_objective_never_falls(seed, m, covariance_type, init, reg_covar, standardize, weighted):
    rng = np.random.default_rng(seed)
    L, n = int(rng.integers(2, 4)), int(rng.integers(60, 150))
    y = np.arange(n) % L
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + rng.normal(size=(L, m))[y]
    X = X * 10.0 ** rng.integers(-2, 3, size=m) + rng.normal(size=m)
    sample_weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n) if weighted else None
    scale = reference.training_scale(X, sample_weight, standardize)
    clf = SKEMClassifier(
        L + 2,
        covariance_type=covariance_type,
        init=init,
        standardize=standardize,
        reg_covar=reg_covar,
        max_iter=6,
        random_state=seed,
    )
    before = -np.inf
    for passes, _ in enumerate(clf.fit_passes(X, y, sample_weight), 1):
        model = reference.model_of(clf)
        value = reference.objective(X, y, model, reg_covar, scale, sample_weight)
        allowed = 1e-9 * (1 + abs(value)) + reference.rounding(X, model)
        assert abs(clf.objective_[-1] - value) <= allowed
        plain = reference.log_likelihood(X, y, model, sample_weight)
        assert abs(clf.log_likelihood_[-1] - plain) <= 1e-9 * (1 + abs(plain)) + reference.rounding(X, model)
        assert clf.objective_[-1] >= before - allowed
        before = clf.objective_[-1]
        assert len(clf.objective_) == len(clf.log_likelihood_) == clf.n_iter_ == passes
    assert passes == 6


@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_one_block_is_skem_bit_for_bit(covariance_type, init):
    X, y, _ = shared_clusters()
    options = {"covariance_type": covariance_type, "init": init, "max_iter": 8, "random_state": 3}
    one = SKEMClassifier(7, **options).fit(X, y)
    other = PSKEMClassifier(7, n_blocks=1, **options).fit(X, y)
    (block,) = other.blocks_
    assert_array_equal(block.weights, one.weights_)
    assert_array_equal(block.means, one.means_)
    assert_array_equal(block.covariances, one.covariances_)
    assert_array_equal(other.class_log_density(X), one.class_log_density(X))
    assert_array_equal(other.objective_, one.objective_)


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


def test_rows_far_from_all_training_data():
    X, y, _ = shared_clusters()
    clf = SKEMClassifier(6, max_iter=4, random_state=0).fit(X, y)
    far = X[:50] * np.geomspace(1, 1e6, 50)[:, None]
    assert_allclose(
        clf.class_log_density(far), reference.class_log_density(far, reference.model_of(clf)), rtol=1e-8
    )


def test_each_block_starts_from_its_own_arrays():
    X, y, (weights, means, covariances) = shared_clusters()
    halves = [[0, 1], [2, 3]]
    starts = [(weights, means[:, i], covariances[:, i][:, :, i]) for i in halves]
    clf = PSKEMClassifier(len(means), n_blocks=2, init=starts, reg_covar=0.0, max_iter=2).fit(X, y)
    expected = [
        reference.em(X[:, i], y, reference.Model(*start), 2, covariance_type="full")
        for i, start in zip(halves, starts, strict=True)
    ]
    density = sum(
        reference.class_log_density(X[:, i], model) for i, model in zip(halves, expected, strict=True)
    )
    assert_allclose(clf.class_log_density(X), density, rtol=1e-8)


@pytest.mark.parametrize("init", STARTS)
def test_neither_order_nor_repetition_of_rows_matters(init):
    X, y, _ = shared_clusters(n=150)
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 4, len(y))
    clf = SKEMClassifier(6, init=init, max_iter=5, random_state=2).fit(X, y, counts)
    order = rng.permutation(len(y))
    shuffled = SKEMClassifier(6, init=init, max_iter=5, random_state=2).fit(X[order], y[order], counts[order])
    same_fit(shuffled, clf, X)
    rows = rng.permutation(np.repeat(np.arange(len(y)), counts))
    repeated = SKEMClassifier(6, init=init, max_iter=5, random_state=2).fit(X[rows], y[rows])
    same_fit(repeated, clf, X)
    padded = SKEMClassifier(6, init=init, max_iter=5, random_state=2)
    same_fit(SKEMClassifier(6, init=init, max_iter=5, random_state=2).fit(X, y, 7 * counts), clf, X)
    ghosts = np.r_[X, X[:40] + 9], np.r_[y, y[:40]], np.r_[counts, np.zeros(40)]
    same_fit(padded.fit(*ghosts), clf, X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_workers_and_seeds_leave_no_trace(dtype):
    X, y, _ = shared_clusters(n=6007, m=6)
    X = X.astype(dtype)
    options = {"n_blocks": 2, "init": "uniform", "max_iter": 6, "random_state": 11}
    one, two, again = [PSKEMClassifier(8, n_jobs=jobs, **options).fit(X, y) for jobs in (1, 2, 1)]
    for other in (two, again):
        for block, twin in zip(one.blocks_, other.blocks_, strict=True):
            assert_array_equal(block.weights, twin.weights)
            assert_array_equal(block.means, twin.means)
            assert_array_equal(block.covariances, twin.covariances)
        assert_array_equal(one.class_log_density(X), other.class_log_density(X))
        assert_array_equal(one.objective_, other.objective_)
    different = PSKEMClassifier(8, **{**options, "random_state": 12}).fit(X, y)
    assert not np.allclose(different.blocks_[0].means, one.blocks_[0].means)


def test_a_file_is_read_in_place(tmp_path, monkeypatch):
    X, y, _ = shared_clusters(n=3000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for n_blocks in (1, 2):
        options = {"n_blocks": n_blocks, "max_iter": 5, "random_state": 0}
        first = PSKEMClassifier(9, **options).fit(X, y)
        monkeypatch.setattr(rows, "KEPT_BYTES", 0)  # what memory holds is not read twice
        others = [PSKEMClassifier(9, **options).fit(data, y) for data in (mapped, X)]
        monkeypatch.undo()
        for other in [*others, PSKEMClassifier(9, **options).fit(mapped, y)]:
            assert_array_equal(other.objective_, first.objective_)
            assert_array_equal(other.class_log_density(mapped), first.class_log_density(X))
