"""The same numbers whichever way they are computed, and as many digits as the data have."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import shared_clusters
from scipy.special import logsumexp
from sklearn.base import clone

from skem import PRBFClassifier, SKEMClassifier
from skem.engine import density, problem, rounding, rows
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.threads import Workers

pytestmark = pytest.mark.usefixtures("both_ways")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("offset", "shape"),
    [(0.0, {}), (1e4, {}), (0.0, {"width": 1e-3}), (0.0, {"condition": 1e4}), (0.0, {"condition": 1e6})],
    ids=["plain", "far off", "tight", "condition 1e4", "condition 1e6"],
)
def test_hard_data_keep_their_digits(offset, shape, dtype):
    X, y, (weights, means, covariances) = shared_clusters(n=4000, **shape)
    X = (X + offset).astype(dtype)
    start = (weights, means + offset, covariances)
    clf = SKEMClassifier(len(means), init=start, reg_covar=0.0, max_iter=3).fit(X, y)
    expected = reference.em(X, y, reference.Model(*start), 3, covariance_type="full")
    atol = 1e-3 if dtype == np.float32 else 1e-9 + 4 * reference.rounding(X, expected)
    assert_allclose(clf.class_log_density(X), reference.class_log_density(X, expected), rtol=0, atol=atol)
    assert np.dtype(clf.dtype_used_) == (np.float64 if shape else dtype)


def test_float32_suffices_for_many_features():
    """Though in no row all of them are at their largest."""
    X, y, start = shared_clusters(n=4000, m=36, K=8)
    X = X.astype(np.float32)
    clf = SKEMClassifier(8, init=start, reg_covar=0.0, max_iter=3).fit(X, y)
    expected = reference.em(X.astype(float), y, reference.Model(*start), 3, covariance_type="full")
    found, sought = clf.class_log_density(X), reference.class_log_density(X.astype(float), expected)
    assert_allclose(found, sought, rtol=0, atol=1e-3)
    assert clf.dtype_used_ == "float32"


def test_float32_is_tried_ever_less_often_where_it_does_not_suffice(monkeypatch):
    X, y, start = shared_clusters(n=600, m=5, width=0.03)
    measured, measurement = [], density.Measurement
    monkeypatch.setattr(density, "LEAST_MEASURED", 0)
    monkeypatch.setattr(density, "Measurement", lambda *a: measured.append(a) or measurement(*a))
    model = SKEMClassifier(len(start[1]), init=start, reg_covar=1e-9, tol=0.0, max_iter=60)
    clf = model.fit(X.astype(np.float32), y)
    assert 5 <= len(measured) <= 8  # after 1, 2, 4, 8, 16 and 16 passes
    assert clf.dtype_used_ == "float64"


@settings(deadline=None, max_examples=150)
@given(
    seed=st.integers(0, 2**31),
    m=st.integers(1, 9),
    tails=st.sampled_from([1.5, 4.0, 100.0]),
    scales=st.sampled_from([0.0, 1.0, 6.0]),
    covariance_type=st.sampled_from(list(COVARIANCE_TYPES.values())),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_what_is_too_coarse_is_found(seed, m, tails, scales, covariance_type, dtype):
    """Whatever the features and the weights: sum_h |w_h phi_h| that is too large in one row is never exact enough."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(tails, (50, m)) * 10 ** rng.uniform(-scales, scales, m)
    X[:, rng.random(m) < 0.1] = 0.0
    phi = np.abs(covariance_type.features(X.T))
    w = np.exp(3 * rng.standard_normal((5, len(phi)))) * (rng.random((5, len(phi))) < 0.7) + 1e-6
    w *= (
        (1 + 1e-9)
        * rounding.MAX_ERROR[np.dtype(dtype)]
        / np.finfo(dtype).eps
        / (w @ phi).max(axis=1, keepdims=True)
    )
    features = rows.Features(X, None, np.zeros(m), np.ones(m))
    bound = rounding.RoundingBound(features, np.arange(m), covariance_type, Workers())
    nothing, dtype = np.zeros(len(phi)), np.dtype(dtype)
    error, fine = bound.errors(w, nothing, dtype)
    assert not bound.suffices(((w @ bound.largest_features).max(), w.max()), dtype)
    assert not fine
    assert not (error < rounding.MAX_ERROR[dtype]).any()


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("condition", [1e6, 1e8, 1e10])
def test_ill_conditioned_components(condition, standardize):
    X, y, start = shared_clusters(n=600, m=3, condition=condition)
    clf = SKEMClassifier(len(start[1]), init=start, reg_covar=0.0, standardize=standardize, max_iter=5).fit(
        X, y
    )
    expected = reference.em(X, y, reference.Model(*start), 5, covariance_type="full")
    assert_allclose(clf.class_log_density(X), reference.class_log_density(X, expected), rtol=0, atol=1e-3)
    assert_allclose(
        clf.class_log_density(X), reference.class_log_density(X, reference.model_of(clf)), rtol=0, atol=1e-3
    )


def of_either_kind(sharing, n_components, **params):
    """A model with as much sharing, or, with None, one from the user's kind of start with a small ridge."""
    params |= {"tol": 0.0, "random_state": 0}
    if sharing is not None:
        return PRBFClassifier(n_components, sharing=sharing, **params)
    return SKEMClassifier(n_components, init="sample", reg_covar=1e-4, **params)


def assert_fits_agree(one, other, dtype, tol):
    assert_allclose(one.objective_, other.objective_, rtol=tol)
    assert_allclose(one.log_likelihood_, other.log_likelihood_, rtol=tol)
    if dtype is np.float64:
        assert_allclose(one.weights_, other.weights_, atol=tol)
        assert_allclose(one.means_, other.means_, atol=10 * tol)
        assert_allclose(one.covariances_, other.covariances_, atol=10 * tol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
@pytest.mark.parametrize("sharing", [None, 0.0, 0.3])
def test_it_does_not_matter_how_classes_come_in_chunks(monkeypatch, sharing, covariance_type, dtype):
    X, y, _ = shared_clusters(n=400, m=4)
    # A row that its class hardly explains, and a component no wider than two equal rows.
    X[0], X[1] = X[2] + 40, X[3]
    X = X.astype(dtype)
    model = of_either_kind(sharing, 9, covariance_type=covariance_type, max_iter=8)
    fits = []
    for limit in (0, 10**9):
        monkeypatch.setattr(problem, "ONE_CHUNK", limit)
        fits.append(clone(model).fit(X, y))
    one, other = fits
    assert_fits_agree(one, other, dtype, 1e-7 if dtype is np.float64 else 2e-3)
    assert ((one.weights_ > 0) == (other.weights_ > 0)).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("covariance_type", ["full", "tied"])
@pytest.mark.parametrize("sharing", [None, 0.0, 0.3])
def test_it_does_not_matter_whether_quadratic_features_are_made(monkeypatch, sharing, covariance_type, dtype):
    """Few components do without."""
    X, y, _ = shared_clusters(n=600, m=18)
    X[0], X[1] = X[2] + 40, X[3]
    X = X.astype(dtype)
    model = of_either_kind(sharing, 2 if sharing is None else 4, covariance_type=covariance_type, max_iter=6)
    fits = []
    for most in (48, 0):
        monkeypatch.setattr("skem.engine.covariances.DIRECTLY", most)
        fits.append(clone(model).fit(X, y, np.linspace(0, 2, len(y))))
    one, other = fits
    assert_fits_agree(one, other, dtype, 1e-8 if dtype is np.float64 else 2e-4)
    assert_allclose(one.class_log_density(X), other.class_log_density(X), rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [1.0, 1e-3])
def test_it_does_not_matter_whether_what_follows_an_e_step_is_one_call(monkeypatch, width, dtype):
    X, y, _ = shared_clusters(n=900, m=5, width=width)
    model = SKEMClassifier(6, max_iter=15, tol=0.0, reg_covar=1e-9, random_state=0)
    one = clone(model).fit(X.astype(dtype), y)
    monkeypatch.setattr(problem.Problem, "usual", False)
    other = clone(model).fit(X.astype(dtype), y)
    assert_fits_agree(one, other, dtype, 1e-8 if dtype is np.float64 else 2e-4)


@pytest.mark.parametrize(("dtype", "sharing"), [(np.float64, 1e-320), (np.float32, 1e-44)])
def test_the_plain_likelihood_is_exact_whatever_the_penalty(dtype, sharing):
    X, y, _ = shared_clusters(n=400, m=3)
    X = X.astype(dtype)
    clf = PRBFClassifier(9, sharing=sharing, max_iter=4, tol=0.0, random_state=0).fit(X, y)
    own = clf.class_log_density(X)[np.arange(len(y)), np.searchsorted(clf.classes_, y)]
    assert_allclose(clf.log_likelihood_[-1], own.mean(), rtol=1e-9 if dtype is np.float64 else 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 16, 33, 1000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_ratios_are_zero_or_normal_numbers(dtype, n, order):
    """What a matrix product would take fifty times as long for is not there, and nothing else is another."""
    logs = np.random.default_rng(n).uniform(-1500, 0, (40, n)).astype(dtype, order=order)
    logs[0] = 0
    ratios = logs.copy(order="K")
    log_total, largest = density.log_sum_exp(ratios)
    kept = logs > density.LEAST_LOG_RATIO[np.dtype(dtype)]
    assert_allclose(ratios[kept], np.exp(logs)[kept], rtol=4 * np.finfo(dtype).eps)
    assert (ratios[~kept] == 0).all()
    assert (largest == 0).all()
    assert_allclose(log_total, logsumexp(logs.astype(np.float64), axis=0), atol=8 * np.finfo(dtype).eps)


def test_clusters_far_apart_end_in_float32_where_they_do_in_float64():
    """Most log-densities lie between those of the least normal and the least subnormal number, or beyond."""
    rng = np.random.default_rng(0)
    centres = 12 * rng.normal(size=(20, 6))
    z = np.arange(4000) % 20
    X = (centres[z] + rng.normal(size=(4000, 6))).astype(np.float32)
    y = z % 2
    options = {"init": "sample", "max_iter": 8, "random_state": 0}
    narrow = SKEMClassifier(30, **options).fit(X, y)
    wide = SKEMClassifier(30, **options).fit(X.astype(np.float64), y)
    assert narrow.objective_[-1] == pytest.approx(wide.objective_[-1], abs=1e-3)
    assert (narrow.predict(X) == wide.predict(X)).all()
