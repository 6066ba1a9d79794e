"""The E-step and densities on a device against loops over samples and components."""

from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from skem.engine import device
from skem.engine.device_em import DeviceParts
from skem.engine.parameters import Gaussians
from skem.engine.threads import Workers

TYPES = ("full", "tied", "diag", "spherical")
K, L, M = 4, 2, 3


def device_of(library):
    xp = array_api_strict if library == "array_api_strict" else pytest.importorskip(library)
    if library == "torch":
        from sklearn.externals import array_api_compat

        xp = array_api_compat.array_namespace(xp.asarray([1.0]))
    return device.Device(xp, "cpu" if library == "torch" else None, library, True, np.asarray)


def mixture(covariance_type, distance=0.0):
    """Means, covariances as matrices, whiteners, and weights with a component that each class lacks."""
    rng = np.random.default_rng(1)
    means = rng.normal(size=(K, M)) + distance
    A = rng.normal(size=(K, M, M))
    matrices = A @ np.swapaxes(A, 1, 2) + 0.3 * np.eye(M)
    if covariance_type == "tied":
        matrices = np.repeat(matrices[:1], K, axis=0)
    elif covariance_type != "full":
        variances = np.diagonal(matrices, axis1=1, axis2=2)
        if covariance_type == "spherical":
            variances = np.repeat(variances[:, :1], M, axis=1)
        matrices = np.stack([np.diag(v) for v in variances])
    whiteners = np.linalg.inv(np.linalg.cholesky(matrices))
    log_scales = -0.5 * M * np.log(2 * np.pi) + np.log(np.diagonal(whiteners, axis1=1, axis2=2)).sum(axis=1)
    if covariance_type == "tied":
        whiteners = whiteners[:1]
    elif covariance_type != "full":
        whiteners = np.diagonal(whiteners, axis1=1, axis2=2)
    weights = np.array([[0.5, 0.0], [0.3, 0.2], [0.2, 0.3], [0.0, 0.5]])
    sensitivities = np.ones(K)
    gaussians = Gaussians(
        means, whiteners, means, log_scales, np.full(K, (whiteners**2).sum()), sensitivities
    )
    return matrices, gaussians, weights


def expected_sums(X, codes, sample_weights, matrices, step):
    """Counts (K, L), offsets (K, m), scatter (K, m, m), log-likelihood and objective."""
    means = step.gaussians.means
    counts, offsets, scatter = np.zeros((K, L)), np.zeros((K, M)), np.zeros((K, M, M))
    log_likelihood = objective = 0.0
    log_normal = np.stack(
        [multivariate_normal(m, P).logpdf(X) for m, P in zip(means, matrices, strict=True)], axis=1
    )
    for x, c, w, log_density in zip(X, codes, sample_weights, log_normal, strict=True):
        joint = log_density + step.log_weights[:, c]
        penalised = joint - step.penalties[:, c]
        log_likelihood += w * logsumexp(joint)
        objective += w * logsumexp(penalised)
        for k, r in enumerate(w * np.exp(penalised - logsumexp(penalised))):
            d = x - means[k]
            counts[k, c] += r
            offsets[k] += r * d
            scatter[k] += r * np.outer(d, d)
    return counts, offsets, scatter, log_likelihood, objective


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize(("dtype", "distance"), [("float64", 1e3), ("float32", 100.0)])
@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_the_e_step_on_a_device(monkeypatch, library, dtype, distance, penalised, covariance_type):
    """Sums about means far from zero, whose rounding in float32 would exceed the tolerance; 1500 samples are no whole tiles."""
    monkeypatch.setattr(device, "CPU_NUMBERS", 512 * K * M)
    rng = np.random.default_rng(0)
    matrices, gaussians, weights = mixture(covariance_type, distance)
    penalties = rng.uniform(0, 60, (K, L)) if penalised else np.zeros((K, L))
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    step = SimpleNamespace(
        columns=np.arange(M),
        dtype=np.dtype(dtype),
        gaussians=gaussians,
        log_weights=log_weights,
        penalties=penalties,
    )
    codes = rng.integers(0, L, 1500)
    X = (gaussians.means[rng.integers(0, K, 1500)] + rng.normal(size=(1500, M))).astype(dtype)
    sample_weights = rng.uniform(0, 2, 1500)
    parts = DeviceParts(device_of(library), X, codes, sample_weights, np.zeros(M), np.ones(M))
    found = parts.fold(step, Workers())
    counts, offsets, scatter, log_likelihood, objective = expected_sums(
        X.astype(float), codes, sample_weights, matrices, step
    )
    if covariance_type == "tied":
        scatter = scatter.sum(axis=0, keepdims=True)
    elif covariance_type != "full":
        scatter = np.diagonal(scatter, axis1=1, axis2=2)
    tolerance = sample_weights.sum() * (1e-10 if dtype == "float64" else 2e-6)
    assert_allclose(found.counts, counts, atol=tolerance)
    assert_allclose(found.offsets, offsets, atol=tolerance)
    assert_allclose(found.scatter, scatter, atol=tolerance)
    assert_allclose(found.log_likelihood, log_likelihood, atol=tolerance)
    assert_allclose(found.objective, objective, atol=tolerance)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_densities_on_a_device(monkeypatch, library, covariance_type):
    monkeypatch.setattr(device, "CPU_NUMBERS", 512 * K * M)
    matrices, gaussians, weights = mixture(covariance_type)
    X = np.random.default_rng(2).normal(size=(1300, M))
    features = device.DeviceFeatures(X, None, np.zeros(M), np.ones(M), device=device_of(library))
    block = SimpleNamespace(
        columns=np.arange(M), gaussians=gaussians, mixture=SimpleNamespace(weights=weights)
    )
    log_normal = np.stack(
        [multivariate_normal(m, P).logpdf(X) for m, P in zip(gaussians.means, matrices, strict=True)], axis=1
    )
    assert_allclose(np.asarray(device.component_log_density(features, block)), log_normal, rtol=1e-10)
    with np.errstate(divide="ignore"):
        of_classes = logsumexp(log_normal[:, :, None] + np.log(weights), axis=1)
    found = device.class_log_density(features, [block, block], [0.5, 1.0])
    assert_allclose(np.asarray(found), 2 * of_classes - 1.5, rtol=1e-10)


def test_samples_whose_squares_overflow_float32_are_computed_in_float64():
    _, gaussians, weights = mixture("full")
    X = np.array([[1e20, 0, 0], [0, 1, 0]], dtype=np.float32)
    features = device.DeviceFeatures(X, None, np.zeros(M), np.ones(M), device=device_of("array_api_strict"))
    block = SimpleNamespace(
        columns=np.arange(M), gaussians=gaussians, mixture=SimpleNamespace(weights=weights)
    )
    found = np.asarray(device.class_log_density(features, [block], [0.0]))
    assert np.isfinite(found).all()
    assert (found[0] < -1e35).all()
