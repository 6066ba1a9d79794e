"""A mixture per class inside one softmax: derivatives, EM, and what sparse Bayesian learning makes of it."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from skem.sdgm import softmax_mixture
from skem.sdgm.designs import Designs
from skem.sdgm.precision import BlockPrecision, DensePrecision
from skem.sdgm.quadratic import kernel_scales, quadratic_features
from skem.sdgm.softmax_mixture import (
    LabelledRows,
    Newton,
    evaluate_mixture,
    expected_objective,
    log_joint,
    maximise_expectation,
    posterior_mode,
)
from skem.sdgm.sparse_bayes import Basis, iterations


def problem(seed, n=40, n_columns=3, classes=(0, 0, 1, 1)):
    """Random rows and designs; the last component is the reference."""
    rng = np.random.default_rng(seed)
    classes = np.array(classes)
    codes = np.arange(n) % (classes.max() + 1)
    features = rng.normal(size=(n, n_columns)) + codes[:, None]
    designs = Designs([*[features * scale for scale in range(1, len(classes))], np.empty((n, 0))])
    rows = LabelledRows(codes, rng.uniform(0.5, 2.0, n), classes)
    coef = rng.normal(size=designs.columns.shape[1])
    shares = rng.uniform(size=len(classes))
    log_pi = np.log(shares / np.bincount(classes, weights=shares)[classes])
    responsibilities = rng.uniform(size=(n, len(classes))) * rows.own
    responsibilities /= responsibilities.sum(axis=1, keepdims=True)
    return rows, designs, coef, log_pi, responsibilities


@pytest.mark.parametrize("classes", [(0, 0, 1, 1), (0, 1, 1, 2, 2)])
def test_gradient_and_hessian_by_finite_differences(classes):
    rows, designs, coef, log_pi, responsibilities = problem(0, classes=classes)

    def gradient(coef):
        residuals = rows.weights[:, None] * (responsibilities - np.exp(log_joint(designs, coef, log_pi)))
        return designs.gradient(residuals) - coef

    def value(coef):
        return expected_objective(rows, responsibilities, log_joint(designs, coef, log_pi), coef)

    assert_allclose(gradient(coef), approx_fprime(coef, value, 1e-7), rtol=1e-5, atol=1e-4)
    curvature = designs.curvature(np.exp(log_joint(designs, coef, log_pi)), rows.weights)
    hessian = approx_fprime(coef, gradient, 1e-7)
    assert_allclose(-curvature - np.eye(len(coef)), hessian, rtol=1e-5, atol=1e-4)


@given(st.integers(0, 10**6), st.sampled_from([(0, 1), (0, 0, 1, 1), (0, 1, 1, 2, 2, 2)]), st.booleans())
@settings(max_examples=20, deadline=None)
def test_inner_objective_rises_to_a_mode(seed, classes, given_start):
    rows, designs, coef, log_pi, responsibilities = problem(seed, classes=classes)
    start = responsibilities if given_start else None
    mode = posterior_mode(rows, designs, coef, log_pi, responsibilities=start, em_iter=300)
    # From responsibilities of one's own making the first M-step may lose.
    gains = np.diff(mode.objective[1 if given_start else 0 :])
    assert (gains >= -1e-9 * (1 + np.abs(mode.objective[-1]))).all()
    if len(mode.objective) <= 300:

        def value(coef):
            return evaluate_mixture(rows, coef, log_joint(designs, coef, log_pi)).value

        slopes = approx_fprime(mode.coef, value, 1e-6)
        assert_allclose(slopes, 0, atol=0.2)
        assert_allclose(
            mode.responsibilities,
            evaluate_mixture(rows, mode.coef, log_joint(designs, mode.coef, log_pi)).responsibilities,
        )


@pytest.mark.parametrize("many", [0, 100])
def test_m_step_ends_at_the_optimum(monkeypatch, many):
    """Exactly enough for the precision of a small weight, which is one over its square; by conjugate gradients, too."""
    monkeypatch.setattr(softmax_mixture, "MANY", many)
    for seed in range(8):
        rows, designs, coef, log_pi, responsibilities = problem(seed)
        newton = Newton(rows, designs)
        coef = maximise_expectation(newton, responsibilities, coef, log_pi)
        probabilities = np.exp(log_joint(designs, coef, log_pi))
        gradient = designs.gradient(rows.weights[:, None] * (responsibilities - probabilities)) - coef
        precision = designs.curvature(probabilities, rows.weights) + np.eye(len(coef))
        assert 0.5 * gradient @ np.linalg.solve(precision, gradient) <= softmax_mixture.DECREMENT


@pytest.mark.parametrize("classes", [(0, 0, 1, 1), (0, 1, 1, 2, 2)])
def test_precision_by_blocks(classes):
    """Woodbury's identity has the same solutions and shares as one factor of all coefficients."""
    rows, designs, coef, log_pi, _ = problem(2, classes=classes)
    probabilities = np.exp(log_joint(designs, coef, log_pi))
    dense, blocks = (kind(designs, probabilities, rows.weights) for kind in (DensePrecision, BlockPrecision))
    assert_allclose(blocks.solve(coef), dense.solve(coef), rtol=1e-9)
    for s in range(len(classes)):
        assert_allclose(blocks.shares(s), dense.shares(s), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_accelerated_mode_is_that_of_em(seed):
    rows, designs, coef, log_pi, responsibilities = problem(seed)
    options = {"responsibilities": responsibilities, "em_iter": 2000}
    slow = posterior_mode(rows, designs, coef, log_pi, **options)
    mode = posterior_mode(rows, designs, coef, log_pi, accelerated=True, **options)
    assert len(mode.objective) < len(slow.objective)
    assert (np.diff(mode.objective[1:]) >= -1e-9).all()
    assert mode.objective[-1] == pytest.approx(slow.objective[-1], rel=1e-5)


@pytest.mark.parametrize("classes", [(0, 0, 1, 1), (0, 1, 1, 2, 2)])
def test_precisions_of_the_laplace_approximation(classes):
    """Eqs. 16 to 18: Lambda is minus the inverse Hessian at the mode, and alpha makes the derivative of the evidence zero."""
    rows, _, _, _, responsibilities = problem(1, n=60, classes=classes)
    basis = np.random.default_rng(1).normal(size=(60, 2)) + rows.codes[:, None]
    options = {"max_iter": 3, "em_iter": 500, "tol": 0.0, "max_precision": np.inf}
    *_, before, state = iterations(rows, Basis(basis), responsibilities, **options)
    # The last component is the reference.
    w, alpha = state.weights[:-1].ravel(), before.precisions[:-1].ravel()
    kept = len(w) // 2
    log_p = np.log(before.pi) + basis @ state.weights.T
    all_p = np.exp(log_p - logsumexp(log_p, axis=1, keepdims=True))
    p = all_p[:, :kept]
    spread = p[:, :, None] * np.eye(kept) - p[:, :, None] * p[:, None, :]
    curvature = np.einsum("n,nst,nh,ni->shti", rows.weights, spread, basis, basis).reshape(len(w), len(w))

    def evidence(log_alpha):
        alpha = np.exp(log_alpha)
        return (log_alpha.sum() - w @ (alpha * w) - np.linalg.slogdet(curvature + np.diag(alpha))[1]) / 2

    lambdas = np.linalg.inv(curvature + np.diag(alpha)).diagonal()
    assert_allclose(state.precisions[:-1].ravel(), (1 - alpha * lambdas) / w**2, rtol=1e-4)
    slope = approx_fprime(np.log(alpha), evidence, 1e-6)
    # Zero where alpha = (1 - alpha lambda) / w^2.
    assert_allclose(slope, (1 - alpha * lambdas - alpha * w**2) / 2, atol=1e-5)
    own = all_p * rows.own
    shares = rows.weights @ (own / own.sum(axis=1, keepdims=True))
    assert_allclose(state.pi, shares / (rows.weights @ rows.own), rtol=1e-4)
    # They do not maximise J: its slopes, by weights of components of one class, differ.
    slopes = (shares - rows.weights @ softmax(np.log(state.pi) + basis @ state.weights.T, axis=1)) / state.pi
    assert np.ptp(slopes[-2:]) > 0.1


@pytest.mark.parametrize(("n_classes", "precision"), [(2, 0.7), (3, 1e-6)])
def test_one_component_per_class_with_linear_features_is_logistic_regression(n_classes, precision):
    """Without a penalty for three classes, of which ours has a reference."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % n_classes
    X = rng.normal(size=(60, 3)) + codes[:, None]
    features = np.column_stack([np.ones(60), X])
    # scikit-learn does not penalise the intercept: here it has next to no precision.
    deviations = np.array([1e3, *[precision**-0.5] * 3])
    designs = Designs([*[features * deviations] * (n_classes - 1), np.empty((60, 0))])
    rows = LabelledRows(codes, rng.uniform(0.5, 2.0, 60), np.arange(n_classes))
    mode = posterior_mode(rows, designs, np.zeros(4 * (n_classes - 1)), np.zeros(n_classes))
    baseline = LogisticRegression(C=1 / precision, tol=1e-10, max_iter=1000).fit(X, codes, rows.weights)
    expected = baseline.predict_log_proba(X)
    assert_allclose(log_joint(designs, mode.coef, np.zeros(n_classes)), expected, rtol=1e-3, atol=1e-4)


def test_gaussians_of_one_covariance_are_a_linear_softmax():
    """Appendix A, from the softmax to the Gaussians: w_c = Sigma^-1 mu_c, and the constant has log P(c) - mu_c' Sigma^-1 mu_c / 2."""
    X, y = load_iris(return_X_y=True)
    model, covariance = LogisticRegression(max_iter=1000).fit(X, y), np.cov(X.T)
    means = model.coef_ @ covariance
    log_prior = model.intercept_ + (means * model.coef_).sum(axis=1) / 2
    joint = np.stack([multivariate_normal(mean, covariance).logpdf(X) for mean in means], axis=1) + log_prior
    assert_allclose(log_softmax(joint, axis=1), model.predict_log_proba(X), rtol=1e-9)


@pytest.mark.parametrize("D", [1, 3, 6])
def test_weights_of_a_gaussian(D):
    """Equation 6 with the features of equation 2 is the logarithm of the density."""
    rng = np.random.default_rng(0)
    mean, root = rng.normal(size=D), rng.normal(size=(D, D))
    covariance = root @ root.T + np.eye(D)
    precision = np.linalg.inv(covariance)
    constant = -0.5 * (D * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + mean @ precision @ mean)
    products = [-(0.5 if i == j else 1.0) * precision[i, j] for i in range(D) for j in range(i, D)]
    weights = np.concatenate([[constant], precision @ mean, products])
    phi = quadratic_features(X := rng.normal(size=(5, D)))
    assert phi.shape[1] == 1 + D * (D + 3) / 2
    assert_allclose(phi @ weights, multivariate_normal(mean, covariance).logpdf(X))


def test_the_kernel_is_an_inner_product_of_features():
    X, Y = np.random.default_rng(0).normal(size=(2, 6, 4))
    scales = kernel_scales(4)
    product = (quadratic_features(X) * scales) @ (quadratic_features(Y) * scales).T
    assert_allclose(product, (X @ Y.T + 1) ** 2, rtol=1e-12)


def test_low_rank_and_direct_give_the_same():
    rng = np.random.default_rng(3)
    codes = np.arange(50) % 2
    X = rng.normal(size=(50, 2)) / 2 + codes[:, None] * [0.5, -0.3]
    features = quadratic_features(X) * kernel_scales(2)
    right = np.concatenate([np.eye(1, 6), features]).T
    rows = LabelledRows(codes, np.ones(50), np.array([0, 0, 1, 1]))
    responsibilities = (rows.own * np.where(X[:, :1] > 0, [1, 0, 1, 0], [0, 1, 0, 1])).astype(float)
    options = {"max_iter": 12, "em_iter": 20, "tol": 1e-5, "max_precision": 1e5}
    *_, direct = iterations(rows, Basis(features @ right), responsibilities, **options)
    *_, reduced = iterations(rows, Basis(features @ right, (features, right)), responsibilities, **options)
    assert (reduced.weights != 0).sum() == (direct.weights != 0).sum() > 0
    assert_allclose(reduced.weights, direct.weights, rtol=1e-6, atol=1e-6)
    assert_allclose(1 / reduced.precisions, 1 / direct.precisions, rtol=1e-6, atol=1e-9)
    assert_allclose(reduced.pi, direct.pi, rtol=1e-6)
    assert reduced.objective == pytest.approx(direct.objective, rel=1e-8)
