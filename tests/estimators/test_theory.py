"""Derivations of Pulford (2022), checked by brute force on problems small enough to enumerate."""

from itertools import product

import numpy as np
import pytest
from reference import overlapping_classes
from scipy.linalg import block_diag
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_iris

from skem import GaussianMixture, MDAClassifier, PSKEMClassifier, SKEMClassifier

K, L, M, N = 3, 3, 2, 5


def model(seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(K), size=L).T
    roots = rng.normal(size=(K, M, M))
    return weights, rng.normal(size=(K, M)), roots @ roots.swapaxes(1, 2) + 0.5 * np.eye(M)


def log_joint(X, y, weights, means, covariances):
    """log pi_ky + log N(x_n; mu_k, P_k), shape (N, K)."""
    density = [
        np.atleast_1d(multivariate_normal(m, P).logpdf(X)) for m, P in zip(means, covariances, strict=True)
    ]
    with np.errstate(divide="ignore"):  # EM leaves weights of zero
        return np.log(weights[:, y].T) + np.stack(density, axis=1)


def expectation(X, y, theta, before):
    """Eq. 29: sum_n sum_k w_nk log(pi_ky N_k), with w from the parameters before."""
    old = log_joint(X, y, *before)
    w = np.exp(old - logsumexp(old, axis=1, keepdims=True))
    return np.multiply(w, log_joint(X, y, *theta), where=w > 0, out=np.zeros_like(w)).sum()


@pytest.mark.parametrize("y", [[0, 0, 1, 2, 2], [0] * N], ids=["classes", "one class"])
def test_the_expectation_over_all_assignments(y):
    """Eqs. 11 and 25: K^N = K^l(1) ... K^l(L) terms; of all 2^(KN) binary indicators K^N assign each row once.

    With one class it is the sum of appendix A. With a pool of components per class (Streit and Luginbuhl 1994) the sum collapses, too.
    """
    X, y, each = np.random.default_rng(5).normal(size=(N, M)), np.array(y), np.arange(N)
    before, theta = model(1), model(2)
    old = log_joint(X, y, *before)
    w = np.exp(old - logsumexp(old, axis=1, keepdims=True))
    assignments = list(product(range(K), repeat=N))
    assert len(assignments) == K**N == np.prod(K ** np.bincount(y))
    log_p = np.array([old[each, z].sum() for z in assignments])
    p = np.exp(log_p - logsumexp(log_p))
    for pools in ([theta] * L, [model(seed) for seed in (2, 3, 4)]):
        new = np.concatenate([log_joint(X[[n]], y[[n]], *pools[y[n]]) for n in each])
        total = sum(weight * new[each, z].sum() for weight, z in zip(p, assignments, strict=True))
        assert total == pytest.approx((w * new).sum(), rel=1e-12)
        if pools[0] is pools[1]:
            assert total == pytest.approx(expectation(X, y, theta, before), rel=1e-12)

    few = 2  # 2^(K N) grows fast
    binary = np.array(list(product((0, 1), repeat=K * few))).reshape(-1, few, K)
    assert (binary.sum(axis=2) == 1).all(axis=1).sum() == K**few


def fitted(Classifier, passes=1, data=None, **params):
    X, y = data or load_iris(return_X_y=True)
    start = {
        "n_components": K,
        "init_params": "uniform",
        "standardize": False,
        "reg_covar": 0.0,
        "random_state": 1,
    }
    return Classifier(**start | params, max_iter=passes).fit(X, y), X, y


@pytest.mark.parametrize("classes", [3, 1])
def test_the_m_step_is_a_stationary_point(classes):
    """Eqs. 16-18: the gradient of Q, with sum_k pi_ki = 1 kept by multipliers l(i), is zero, and Q has a maximum.

    With one class the equations are 7-9, and 4-7 of Sanderson and Curtin (2017), which their appendix A derives.
    """
    X, y = overlapping_classes(n=(30, 25, 35), m=2)
    y %= classes

    def parameters(passes):
        if classes > 1:
            model, _, _ = fitted(SKEMClassifier, passes, (X, y))
        else:
            model = GaussianMixture(K, reg_covar=0.0, max_iter=passes, tol=0.0, random_state=1).fit(X)
        return model.weights_.reshape(K, classes), model.means_, model.covariances_

    old, (weights, means, covariances) = parameters(3), parameters(4)

    def by_means(flat):
        return expectation(X, y, (weights, flat.reshape(means.shape), covariances), old)

    lower = np.tril_indices(X.shape[1])

    def by_covariances(flat):
        P = np.zeros_like(covariances)
        for k in range(K):
            P[k][lower] = flat.reshape(K, -1)[k]
            P[k] += np.tril(P[k], -1).T
        return expectation(X, y, (weights, means, P), old)

    gradients = [
        approx_fprime(means.ravel(), by_means, 1e-6),
        approx_fprime(np.concatenate([P[lower] for P in covariances]), by_covariances, 1e-7),
    ]
    for gradient in gradients:
        assert np.abs(gradient).max() < 1e-3
    # Elsewhere the gradient is not zero.
    assert np.abs(approx_fprime(old[1].ravel(), by_means, 1e-6)).max() > 0.1

    joint = log_joint(X, y, *old)
    w = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    for i in range(classes):  # dQ/dpi_ki = n_ki / pi_ki is l(i) for every k
        multipliers = w[y == i].sum(axis=0) / weights[:, i]
        np.testing.assert_allclose(multipliers, (y == i).sum(), rtol=1e-9)

    best, rng = expectation(X, y, (weights, means, covariances), old), np.random.default_rng(0)
    for scale in (0.01, 0.1, 1.0):
        of_weights, of_means, of_covariances = (
            scale * rng.normal(size=each.shape) for each in (weights, means, covariances)
        )
        moved, A = weights * np.exp(of_weights), np.eye(2) + of_covariances
        other = moved / moved.sum(axis=0), means + of_means, A @ covariances @ A.swapaxes(1, 2)
        assert expectation(X, y, other, old) < best


@pytest.mark.parametrize("Classifier", [SKEMClassifier, PSKEMClassifier, MDAClassifier])
def test_weights_and_responsibilities_sum_to_one(Classifier):
    for passes in (1, 2, 7):
        estimator, X, y = fitted(Classifier, passes, reg_covar=0.01)
        for block in estimator.blocks_:
            np.testing.assert_allclose(block.weights.sum(axis=0), 1, rtol=1e-12)
        w = estimator.responsibilities(X, y)
        np.testing.assert_allclose(w.sum(axis=2), 1, rtol=1e-12)


def test_the_covariance_of_mda_is_the_weighted_mean():
    """Eq. 32: of the covariances that SKEM's M-step gives from the same start, weights sum_n w_nk / N."""
    skem, _, y = fitted(SKEMClassifier, data=overlapping_classes(n=(30, 25, 35), m=2))
    mda, _, _ = fitted(MDAClassifier, data=overlapping_classes(n=(30, 25, 35), m=2))
    counts = skem.weights_ @ np.bincount(y)
    mean = np.tensordot(counts / counts.sum(), skem.covariances_, axes=1)
    np.testing.assert_allclose(mda.covariances_, mean, rtol=1e-9)
    np.testing.assert_allclose(mda.means_, skem.means_, rtol=1e-9)


def test_a_product_of_mixtures_is_a_mixture():
    """Appendix B: of K^R Gaussians with block-diagonal covariances and the products of the weights."""
    blocks = [0], [1, 2, 3]
    estimator, X, _ = fitted(PSKEMClassifier, 3, n_blocks=2, arrangement=blocks)
    pairs = list(product(*(zip(b.means, b.covariances, b.weights, strict=True) for b in estimator.blocks_)))
    assert len(pairs) == K**2
    means = np.array([np.concatenate([a[0], b[0]]) for a, b in pairs])
    covariances = np.array([block_diag(a[1], b[1]) for a, b in pairs])
    weights = np.array([a[2] * b[2] for a, b in pairs])
    each = np.stack(
        [multivariate_normal(m, P).pdf(X) for m, P in zip(means, covariances, strict=True)], axis=1
    )
    np.testing.assert_allclose(np.exp(estimator.class_log_density(X)), each @ weights, rtol=1e-9)

    # With these weights blocks are independent, and the product of the marginals is the joint density (eq. 35). With others it is not.
    def differences(weights):
        joint = GaussianMixture.from_parameters(weights, means, covariances)
        marginals = sum(joint.marginal(block).score_samples(X[:, block]) for block in blocks)
        return np.abs(marginals - np.log(each @ weights))

    for of_class in weights.T:
        assert differences(of_class).max() < 1e-9
    assert differences(np.eye(K).ravel() / K).max() > 1.0


@pytest.mark.parametrize(("unit", "direct"), [(1.0, 0.0), (1e-3, np.inf)])
def test_densities_of_many_features_underflow_or_overflow(unit, direct):
    """The product of 1000 densities is no float64; models add logarithms (eqs. 15 to 18 of Sanderson and Curtin 2017)."""
    X = unit * np.random.default_rng(0).normal(size=(60, 1000))
    mixture = GaussianMixture(2, covariance_type="spherical", reg_covar=0.0).fit(X)
    each = norm(mixture.means_[:, None], np.sqrt(mixture.covariances_[:, None, None]))
    with np.errstate(over="ignore"):
        assert (each.pdf(X).prod(axis=2) == direct).all()
    log_joint = each.logpdf(X).sum(axis=2) + np.log(mixture.weights_)[:, None]
    np.testing.assert_allclose(mixture.score_samples(X), logsumexp(log_joint, axis=0), rtol=1e-10)
