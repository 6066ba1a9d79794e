"""Arrays of other libraries: scikit-learn's own checks, the engine as the reference, and input that is refused."""

import os
import subprocess
import sys

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.utils._array_api import NamespaceAndDevice, move_to
from sklearn.utils.estimator_checks import (
    check_array_api_input,
    check_array_api_mixed_inputs,
    check_array_api_same_namespace,
)

from skem import (
    DiscriminativePSKEMClassifier,
    GaussianMixture,
    MDAClassifier,
    PRBFClassifier,
    PSKEMClassifier,
    SKEMClassifier,
)
from skem.engine import device
from skem.estimators import _array_api

CPU, OTHER = (array_api_strict.Device(name) for name in ("CPU_DEVICE", "device1"))
STRICT = array_api_strict.asarray


def gaussians(n=1500, m=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, m)) * rng.uniform(0.5, 2, m) + 1.5 * rng.normal(size=(3, m))[y], y


def arrays_of(library):
    """A function from NumPy arrays to those of a library, under ``array_api_dispatch``."""
    return STRICT if library == "array_api_strict" else pytest.importorskip(library).asarray


def numpy(array):
    with config_context(array_api_dispatch=True):
        return move_to(array, xp=np, device="cpu").astype(np.float64)


def differences(ours, theirs):
    """The largest difference of parameters, relative to one where they are smaller."""
    blocks = [(e.blocks_ if hasattr(e, "blocks_") else [e]) for e in (ours, theirs)]
    names = ("weights", "means", "covariances")
    if not hasattr(ours, "blocks_"):
        names = tuple(f"{name}_" for name in names)
    pairs = [
        (numpy(getattr(a, name)), numpy(getattr(b, name)))
        for a, b in zip(*blocks, strict=True)
        for name in names
    ]
    return max(np.max(np.abs(a - b) / np.maximum(1, np.abs(b))) for a, b in pairs)


@pytest.mark.parametrize(
    "estimator",
    [GaussianMixture(2), SKEMClassifier(6), PSKEMClassifier(6), MDAClassifier(4), PRBFClassifier()],
)
@pytest.mark.parametrize(
    "where",
    [
        ("torch", "cpu", "float64"),
        ("torch", "cpu", "float32"),
        ("array_api_strict", "CPU_DEVICE", "float64"),
        ("array_api_strict", "device1", "float32"),
        ("numpy", None, None),
    ],
)
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_checks_of_scikit_learn(estimator, where):
    arrays_of(where[0])
    namespace, name, dtype = where
    check_array_api_input(
        type(estimator).__name__,
        estimator,
        array_namespace=namespace,
        device_name=name,
        dtype_name=dtype,
        check_sample_weight=True,
    )


CASES = [
    *(GaussianMixture(6, covariance_type=t, init="sample") for t in ("full", "tied", "diag", "spherical")),
    SKEMClassifier(9),
    SKEMClassifier(9, sharing=0.3),
    SKEMClassifier(9, sharing=1e-25),  # penalties too far apart for a product
    PSKEMClassifier(9, n_blocks=2),
    MDAClassifier(6),
    PRBFClassifier(),
]


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize(("dtype", "limit"), [("float64", 1e-11), ("float32", 5e-5)])
@pytest.mark.parametrize("estimator", CASES, ids=repr)
@pytest.mark.parametrize("far", [False, True])
def test_the_engine_fits_the_same(library, dtype, limit, estimator, far, monkeypatch):
    # Several chunks of tiles, and the samples left over.
    monkeypatch.setattr(device, "CPU_NUMBERS", 512 * 36)
    asarray = arrays_of(library)
    X, y = gaussians()
    weights = np.random.default_rng(1).uniform(0, 2, len(y))
    X = (X + (100.0 if far else 0.0)).astype(dtype)
    ours = clone(estimator).set_params(max_iter=6, tol=0.0, random_state=0)
    theirs = clone(ours).fit(X, y, sample_weight=weights)
    with config_context(array_api_dispatch=True):
        rows = asarray(X)
        ours.fit(rows, asarray(y), sample_weight=asarray(weights))
        assert ours.dtype_used_ == theirs.dtype_used_
        assert type(ours.means_ if hasattr(ours, "means_") else ours.blocks_[1].means) is type(rows)
        assert differences(ours, theirs) < limit
        assert_allclose(numpy(ours.objective_), theirs.objective_, rtol=limit)
        assert_allclose(numpy(ours.log_likelihood_), theirs.log_likelihood_, rtol=limit)
        for method in ("predict_proba", "score_samples"):
            result = getattr(ours, method)(rows)
            assert type(result) is type(rows)
            assert_allclose(numpy(result), getattr(theirs, method)(X), rtol=limit, atol=limit)
        predicted = ours.predict(rows)
        assert type(predicted) is type(rows)
        assert_array_equal(numpy(predicted), theirs.predict(X))


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_narrow_components_far_from_zero(covariance_type):
    """Sums about zero would leave no digit of the scatter in float64."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(400, 3)), 3e3 + 1e-6 * rng.normal(size=(300, 3))])
    start = (np.full(2, 0.5), X[[0, 500]], np.stack([np.eye(3)] * 2))
    if covariance_type == "diag":
        start = (*start[:2], np.ones((2, 3)))
    model = GaussianMixture(2, covariance_type=covariance_type, reg_covar=0.0, max_iter=8, tol=0.0)
    theirs = clone(model).set_params(init=start).fit(X)
    with config_context(array_api_dispatch=True):
        ours = model.set_params(init=tuple(map(STRICT, start))).fit(STRICT(X))
    assert_allclose(numpy(ours.covariances_), theirs.covariances_, rtol=1e-6, atol=1e-18)
    assert np.all(numpy(ours.covariances_)[1].diagonal() < 1e-11 if covariance_type == "full" else True)


def test_everything_follows_X():
    """Labels may be words, weights may be on another device; results are on the device of X."""
    X, y = load_wine(return_X_y=True)
    words = np.array(["a", "b", "c"])[y]
    with config_context(array_api_dispatch=True):
        rows = STRICT(X, device=OTHER)
        model = SKEMClassifier(random_state=0).fit(rows, words, sample_weight=STRICT(np.ones(len(y))))
        assert model.class_prior_.device == model.means_.device == model.predict_proba(rows).device == OTHER
        assert_array_equal(model.predict(rows), SKEMClassifier(random_state=0).fit(X, words).predict(X))
        assert isinstance(model.score(rows, words), float)
        responsibilities = model.responsibilities(rows)
        assert responsibilities.device == OTHER
        mixture = GaussianMixture(2, random_state=0).fit(rows)
        theirs = GaussianMixture(2, random_state=0).fit(X)
        assert mixture.bic(rows) == pytest.approx(theirs.bic(X))
        assert mixture.sample(3)[0].device == OTHER
        assert_array_equal(numpy(mixture.fit_predict(rows)), theirs.predict(X))
    # Without dispatch such a model takes NumPy arrays.
    assert_allclose(mixture.score_samples(X), theirs.score_samples(X))


def test_warm_start_on_a_device():
    X, y = gaussians()
    with config_context(array_api_dispatch=True):
        ours = SKEMClassifier(6, max_iter=3, warm_start=True, random_state=0)
        ours.fit(STRICT(X), y).fit(STRICT(X), y)
    theirs = SKEMClassifier(6, max_iter=3, warm_start=True, random_state=0).fit(X, y).fit(X, y)
    assert differences(ours, theirs) < 1e-11


def test_mixed_inputs_and_same_namespace_checks():
    pytest.importorskip("torch")
    other, here = NamespaceAndDevice("array_api_strict", "device1"), NamespaceAndDevice("torch", "cpu")
    for estimator in (GaussianMixture(2, tol=0), SKEMClassifier(6)):
        name = type(estimator).__name__
        check_array_api_mixed_inputs(name, estimator, here, other)
        check_array_api_same_namespace(name, estimator, "array_api_strict")


# Bad input


def refused(model, message, *rows, error=ValueError):
    before = dict(vars(model))
    with config_context(array_api_dispatch=True), pytest.raises(error, match=message):
        model.fit(*rows)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_an_initialisation_of_another_namespace_or_device_is_refused():
    X, _ = gaussians(200, 2)
    start = (np.full(2, 0.5), X[:2], np.stack([np.eye(2)] * 2))
    fitted = GaussianMixture(2, random_state=0).fit(X)
    refused(fitted.set_params(init=start), "X is of array_api_strict on .* init of numpy", STRICT(X))
    there = tuple(STRICT(a, device=OTHER) for a in start)
    refused(fitted.set_params(init=there), "init: .*CPU_DEVICE.*device1", STRICT(X))
    refused(fitted.set_params(init=there), "init: .*X is of numpy", X)
    refused(fitted.set_params(init={"means": there[1]}), "init: .*CPU_DEVICE.*device1", STRICT(X))


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_means_alone_and_precisions_are_where_X_is(covariance_type):
    X, _ = gaussians(200, 2)
    options = {"covariance_type": covariance_type, "max_iter": 3, "tol": 0.0}
    theirs = GaussianMixture(2, init={"means": X[:2]}, **options).fit(X)
    with config_context(array_api_dispatch=True):
        ours = GaussianMixture(2, init={"means": STRICT(X[:2], device=OTHER)}, **options)
        precisions = ours.fit(STRICT(X, device=OTHER)).precisions_
    assert precisions.device == OTHER
    assert_allclose(numpy(precisions), theirs.precisions_, rtol=1e-6)


def test_refused_samples_leave_the_estimator_as_it_was():
    X, y = gaussians(200, 2)
    fitted = GaussianMixture(2, random_state=0).fit(X)
    missing = X.copy()
    missing[3, 1] = np.nan
    refused(fitted, "missing values", STRICT(missing))
    refused(SKEMClassifier().fit(X, y), "missing values", STRICT(missing), STRICT(y))
    with config_context(array_api_dispatch=True):
        with pytest.raises(ValueError, match=r"GaussianMixture.predict\(\) must use the same namespace"):
            fitted.predict(STRICT(X))
        with pytest.raises(TypeError, match=r"array of array_api_strict on .*CPU_DEVICE"):
            GaussianMixture(2).partial_fit(STRICT(X))
        with pytest.raises(TypeError, match=r"array of array_api_strict on .*CPU_DEVICE"):
            next(SKEMClassifier().fit_passes(STRICT(X), y))
        with pytest.raises(TypeError, match="DiscriminativePSKEMClassifier is computed in NumPy alone"):
            DiscriminativePSKEMClassifier().fit(STRICT(X), y)


def test_a_device_without_float64(monkeypatch):
    """Such as the GPU of a Mac: computed in float32, or refused if that is not exact enough."""
    monkeypatch.setattr(_array_api, "_max_precision_float_dtype", lambda xp, _: xp.float32)
    X, _ = gaussians(900)
    X = X.astype(np.float32)
    model = GaussianMixture(3, init="sample", max_iter=5, tol=0.0, random_state=0)
    theirs = clone(model).fit(X)
    with config_context(array_api_dispatch=True):
        ours = clone(model).fit(STRICT(X))
        assert ours.score_samples(STRICT(X)).dtype == array_api_strict.float32
        assert differences(ours, theirs) < 5e-5
    narrow = np.repeat(1e4 + np.eye(4, dtype=np.float32), 100, axis=0)
    narrow += 1e-2 * np.random.default_rng(0).normal(size=narrow.shape).astype(np.float32)
    start = np.full(4, 0.25), narrow[::100], np.stack([1e-9 * np.eye(4)] * 4)
    model = GaussianMixture(4, init=tuple(map(STRICT, start)), reg_covar=0.0)
    refused(model, "has no float64: use arrays on the CPU", STRICT(narrow))


WITHOUT = """
import os
assert "SCIPY_ARRAY_API" not in os.environ
import numpy as np
from sklearn.datasets import load_iris
import skem
X, y = load_iris(return_X_y=True)
for name in ("SKEMClassifier", "PSKEMClassifier", "MDAClassifier", "PRBFClassifier", "DiscriminativePSKEMClassifier"):
    model = getattr(skem, name)(6, random_state=0).fit(X, y)
    assert model.predict(X).shape == (150,) and np.isfinite(model.predict_proba(X)).all() and model.score(X, y) > 0.8
    assert np.isfinite(model.score_samples(X)).all() and np.ndim(model.responsibilities(X)) >= 2
mixture = skem.GaussianMixture(3, random_state=0).fit(X)
assert np.isfinite([mixture.score(X), mixture.bic(X)]).all() and mixture.predict(X).shape == (150,)
"""


def test_arrays_of_numpy_need_no_array_api():
    """Users of NumPy arrays need not set SCIPY_ARRAY_API, as these tests do."""
    environment = {name: value for name, value in os.environ.items() if name != "SCIPY_ARRAY_API"}
    done = subprocess.run([sys.executable, "-c", WITHOUT], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
