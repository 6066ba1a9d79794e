"""The compiled loops against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp, softmax

from skem.engine import compiled, density
from skem.engine.linalg import exponentials, longest_axes, product
from skem.engine.parameters import Gaussians
from skem.engine.threads import Scratch

TYPES = [np.float32, np.float64]
SIZES = st.lists(st.sampled_from([0, 1, 15, 65, 256, 257, 513]), min_size=1, max_size=3).filter(any)


def random_covariances(rng, K, m):
    A = rng.normal(size=(K, m, m)) / np.sqrt(m)
    return A @ np.swapaxes(A, 1, 2) + np.eye(m)


def log_normals(x, means, covariances):
    """log N(x; mu_k, P_k), (K, n), and x - mu_k, (K, n, m), of samples (m, n)."""
    offsets = x.T.astype(float) - means[:, None]
    squares = np.einsum("kni,kij,knj->kn", offsets, np.linalg.inv(covariances), offsets)
    log_det = np.linalg.slogdet(covariances)[1]
    return -0.5 * (len(x) * np.log(2 * np.pi) + log_det[:, None] + squares), offsets


def sums_about_means(offsets, responsibilities, scatter_shape):
    """Offsets and scatter, by definition, and the sums of their absolute terms."""
    for r, d in ((responsibilities, offsets), (np.abs(responsibilities), np.abs(offsets))):
        scatter = np.einsum("kn,kni,knj->kij", r, d, d)
        if len(scatter_shape) == 2:
            scatter = np.einsum("kii->ki", scatter)
            if scatter_shape[1] < offsets.shape[2]:
                scatter = scatter.mean(axis=1, keepdims=True)
        elif scatter_shape[0] == 1:
            scatter = scatter.sum(axis=0, keepdims=True)
        yield np.einsum("kn,kni->ki", r, d), scatter


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("form", ["full", "diagonal", "spherical", "shared scatter"])
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    K=st.integers(1, 5),
    m=st.integers(1, 9),
    sizes=SIZES,
    first=st.integers(0, 2),
    narrow=st.booleans(),
    penalty=st.sampled_from([0.0, 1.0, 1e9]),
)
def test_e_step(dtype, form, seed, K, m, sizes, first, narrow, penalty):
    rng, C, n = np.random.default_rng(seed), len(sizes), sum(sizes)
    codes, means, x = np.repeat(np.arange(C), sizes), rng.normal(size=(K, m)), rng.normal(size=(m, n))
    covariances = random_covariances(rng, K, m)
    if form != "full":
        covariances = (covariances[:, :1, :1] if form == "spherical" else covariances) * np.eye(m)
    whiteners = np.linalg.inv(np.linalg.cholesky(covariances))
    if form != "full":
        whiteners = np.einsum("kii->ki", whiteners).copy()
    with np.errstate(divide="ignore"):
        log_weights = np.log(rng.dirichlet(np.ones(K), C).T * (rng.random((K, C)) < 0.8))
    log_weights[0] = -1.0
    penalties = penalty + rng.uniform(0, 3, (K, C if rng.random() < 0.5 else 1)) * (penalty > 0)
    weights = rng.uniform(0, 2, n) * (rng.random(n) < 0.9)
    x = x.astype(dtype)

    log_normal, offsets = log_normals(x, means, covariances)
    log_joint = log_normal + log_weights[:, codes]
    # A penalty that all components have costs no digits, however large it is.
    penalised = log_joint - np.broadcast_to(penalties - penalty, (K, C))[:, codes]
    r = weights * softmax(penalised, axis=0)
    shape = {"full": (K, m, m), "diagonal": (K, m), "spherical": (K, 1), "shared scatter": (1, m, m)}[form]
    sums = density.zero_sums(K, m, C, shape)
    around = np.pad(x, ((0, 0), (first, 3)), constant_values=np.nan)
    borders = np.concatenate([[0], np.cumsum(sizes)])
    log_scales = -0.5 * (m * np.log(2 * np.pi) + np.linalg.slogdet(covariances)[1])
    shifts = whiteners * means if whiteners.ndim == 2 else np.einsum("kij,kj->ki", whiteners, means)
    sensitivities = np.full(K, np.inf if narrow else 0.0)
    gaussians = Gaussians(means, whiteners, shifts, log_scales, np.zeros(K), sensitivities, sensitivities)
    U, *arrays = density.kernel_arrays(gaussians, np.dtype(dtype))[1]
    scratch = density.scratch_of(Scratch(), 2 * K, m, np.dtype(dtype))
    log_likelihood, objective, exact = compiled.kernels().e_step(
        (around, first, borders, weights),
        U,
        tuple(arrays),
        (log_scales, log_weights, penalties, density.float64_scratch(K, np.dtype(dtype))),
        *sums,
        scratch,
        scratch[-K:] if sums[2].shape[1:] == (1,) else None,
    )
    eps = 64 * np.finfo(dtype).eps
    scale = weights @ np.abs(log_normal).max(axis=0)
    assert exact
    assert_allclose(log_likelihood, weights @ logsumexp(log_joint, axis=0), rtol=0, atol=eps * scale)
    expected = weights @ (logsumexp(penalised, axis=0) - penalty)
    assert_allclose(objective, expected, rtol=1e-14, atol=eps * scale)
    found = density.statistics_of(sums, m, np.dtype(dtype))
    counts, found_offsets, scatter = found.counts, found.offsets, found.scatter
    of_classes = np.stack([r[:, codes == c].sum(axis=1) for c in range(C)], axis=1)
    assert_allclose(counts, of_classes, rtol=0, atol=eps * scale)
    (of_offsets, of_scatter), (size, size_of_scatter) = sums_about_means(offsets, r, shape)
    assert_allclose(found_offsets, of_offsets, rtol=0, atol=eps * (scale + size.max()))
    assert_allclose(scatter, of_scatter, rtol=0, atol=eps * (scale + size_of_scatter.max()))


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
