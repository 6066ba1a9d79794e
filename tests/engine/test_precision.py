"""Precision of log-densities that users rely on, in float32 and float64."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose
from reference import shared_clusters
from sklearn.base import clone

from skem import PRBFClassifier, SKEMClassifier
from skem.engine import problem
from skem.engine.covariances import COVARIANCE_TYPES

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


@pytest.mark.parametrize(("dtype", "sharing"), [(np.float64, 1e-320), (np.float32, 1e-44)])
def test_the_plain_likelihood_is_exact_whatever_the_penalty(dtype, sharing):
    X, y, _ = shared_clusters(n=400, m=3)
    X = X.astype(dtype)
    clf = PRBFClassifier(9, sharing=sharing, max_iter=4, tol=0.0, random_state=0).fit(X, y)
    own = clf.class_log_density(X)[np.arange(len(y)), np.searchsorted(clf.classes_, y)]
    assert_allclose(clf.log_likelihood_[-1], own.mean(), rtol=1e-9 if dtype is np.float64 else 1e-5)


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


def test_no_square_overflows_float32():
    """Features narrower than float32 can invert, and samples whose squares it cannot hold."""
    rng = np.random.default_rng(0)
    X, y = (rng.normal(size=(300, 2)) * [1, 1e-40]).astype(np.float32), np.arange(300) % 2
    options = {"init": "sample", "standardize": False, "reg_covar": 0.0, "max_iter": 5, "random_state": 0}
    narrow, wide = (SKEMClassifier(4, **options).fit(samples, y) for samples in (X, X.astype(float)))
    assert_allclose(narrow.objective_, wide.objective_, rtol=1e-3)
    X[:, 1] = rng.normal(size=300)
    model, far = SKEMClassifier(4, **options).fit(X, y), np.full((1, 2), 1e30, np.float32)
    assert_allclose(model.class_log_density(far), model.class_log_density(far.astype(float)), rtol=1e-6)
