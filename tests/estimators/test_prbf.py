"""lambda-PRBF of Titsias and Likas (2001)."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import overlapping_classes
from scipy.stats import multivariate_normal

from skem import GaussianMixture, PRBFClassifier, SKEMClassifier
from skem.engine.covariances import COVARIANCE_TYPES

TYPES = list(COVARIANCE_TYPES)
PLAIN = {"reg_covar": 0.0, "variance_floor": 0.0, "standardize": False, "tol": 0.0, "priors": "uniform"}
every_type = pytest.mark.parametrize("covariance_type", TYPES)


def initial_parameters(K, L, m, covariance_type, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, size=(K, L))
    of_type = COVARIANCE_TYPES[covariance_type]
    kept = of_type.compress(np.stack([4 * of_type.identity(m)] * K))
    return weights / weights.sum(axis=0), rng.normal(1.0, 1.5, size=(K, m)), kept


@every_type
def test_lambda_one_is_skem(covariance_type):
    X, y = overlapping_classes()
    init = initial_parameters(7, 3, 3, covariance_type)
    ours = PRBFClassifier(
        sharing=1.0, covariance_type=covariance_type, init_params=init, max_iter=20, **PLAIN
    )
    skem = SKEMClassifier(
        covariance_type=covariance_type, init_params=init, max_iter=20, reg_covar=0.0, standardize=False
    )
    ours.fit(X, y), skem.fit(X, y)
    assert_allclose(ours.weights_, skem.weights_, rtol=1e-8, atol=1e-12)
    assert_allclose(ours.means_, skem.means_, rtol=1e-8, atol=1e-12)
    assert_allclose(ours.covariances_, skem.covariances_, rtol=1e-8, atol=1e-12)
    assert_allclose(ours.objective_, ours.log_likelihood_, rtol=1e-12)
    assert_allclose(ours.class_log_density(X), skem.class_log_density(X), rtol=1e-8)


@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
@pytest.mark.parametrize("numbers", [None, [3, 1, 3]])
def test_lambda_zero_is_a_mixture_per_class(covariance_type, numbers):
    """Not for "tied": a common covariance couples the classes."""
    X, y = overlapping_classes()
    weights, means, covariances = initial_parameters(7, 3, 3, covariance_type)
    ours = PRBFClassifier(
        numbers,
        sharing=0.0,
        covariance_type=covariance_type,
        init_params=(weights, means, covariances),
        max_iter=20,
        **PLAIN,
    ).fit(X, y)
    for c, group in enumerate(ours.groups_):
        init = weights[group, c] / weights[group, c].sum(), means[group], covariances[group]
        mixture = GaussianMixture(
            len(group), covariance_type=covariance_type, init_params=init, max_iter=20, tol=0.0, reg_covar=0.0
        ).fit(X[y == c])
        assert_allclose(ours.weights_[group, c], mixture.weights_, rtol=1e-8)
        assert_allclose(ours.means_[group], mixture.means_, rtol=1e-8, atol=1e-9)
        assert_allclose(ours.covariances_[group], mixture.covariances_, rtol=1e-8, atol=1e-10)
        assert_allclose(ours.class_log_density(X)[:, c], mixture.score_samples(X), rtol=1e-8)
        outside = np.setdiff1d(np.arange(7), group)
        assert_array_equal(ours.weights_[outside, c], 0.0)
        weights[outside, c] = 0.0
    # Section II: all this is full sharing with weights of zero (Fig. 2).
    init = weights / weights.sum(axis=0), means, covariances
    options = {"covariance_type": covariance_type, "reg_covar": 0.0, "standardize": False}
    skem = SKEMClassifier(init_params=init, max_iter=20, **options).fit(X, y)
    assert_allclose(skem.weights_, ours.weights_, rtol=1e-8)
    assert_allclose(skem.covariances_, ours.covariances_, rtol=1e-8, atol=1e-10)


def densities(X, means, covariances):
    """Return p(x|j), shape (n, K)."""
    return np.stack(
        [multivariate_normal(mu, P).pdf(X) for mu, P in zip(means, covariances, strict=True)], axis=1
    )


def one_iteration(X, y, weights, means, covariances, lambdas, covariance_type):
    """Evaluate eqs. 29 and 35-37 as written, for lambda of each component in each class."""
    K, L = weights.shape
    posterior = np.zeros((len(X), K))
    p = densities(X, means, covariances)
    for n, k in enumerate(y):
        penalised = lambdas[:, k] * weights[:, k] * p[n]
        posterior[n] = penalised / penalised.sum()
    counts = posterior.sum(axis=0)
    new_means = posterior.T @ X / counts[:, None]
    w = X[:, None] - new_means
    new_covariances = np.einsum("nj,nja,njb->jab", posterior, w, w) / counts[:, None, None]
    new_weights = np.stack([posterior[y == k].mean(axis=0) for k in range(L)], axis=1)
    return new_weights, new_means, reference.constrained(new_covariances, counts, covariance_type)


MATRIX = np.array([[1.0, 0.3, 0.0], [0.7, 1.0, 0.2], [1.0, 0.05, 1.0]])


@pytest.mark.parametrize("covariance_type", ["full", "spherical"])
@pytest.mark.parametrize("sharing", [0.0, 0.25, 0.9, 1.0, MATRIX])
def test_passes_are_the_equations_of_the_paper(sharing, covariance_type):
    """With lambda = 1 they are eqs. 19-21."""
    X, y = overlapping_classes()
    weights, means, covariances = initial_parameters(6, 3, 3, covariance_type)
    matrix = MATRIX if np.ndim(sharing) else np.where(np.eye(3, dtype=bool), 1.0, sharing)
    lambdas = np.repeat(matrix, 2, axis=0)
    model = PRBFClassifier(
        sharing=sharing,
        covariance_type=covariance_type,
        init_params=(weights, means, covariances),
        max_iter=4,
        **PLAIN,
    ).fit(X, y)
    closed = np.where(lambdas > 0, weights, 0)
    parameters = closed / closed.sum(axis=0), means, reference.full_covariances(covariances, 6, 3)
    for t in range(4):
        parameters = one_iteration(X, y, *parameters, lambdas, covariance_type)
        p_x = densities(X, *parameters[1:])
        penalised = np.log((p_x * (lambdas * parameters[0])[:, y].T).sum(axis=1)).mean()
        plain = np.log((p_x * parameters[0][:, y].T).sum(axis=1)).mean()
        assert_allclose(model.objective_[t], penalised, rtol=1e-10)
        assert_allclose(model.log_likelihood_[t], plain, rtol=1e-10)
    assert (np.diff(model.objective_) > 0).all()
    assert_allclose(model.weights_, parameters[0], rtol=1e-8, atol=1e-14)
    assert_allclose(model.means_, parameters[1], rtol=1e-8)
    assert_allclose(
        reference.full_covariances(model.covariances_, 6, 3), parameters[2], rtol=1e-8, atol=1e-12
    )


def test_the_class_prior_is_that_of_the_data():
    """Eq. 10 maximises the first term of eq. 9."""
    X, y = overlapping_classes()
    model, counts = PRBFClassifier(6, random_state=0).fit(X, y), np.bincount(y)
    assert_allclose(model.priors_, counts / len(y))
    others = np.random.default_rng(0).dirichlet(np.ones(3), size=1000)
    assert (np.log(others) @ counts < np.log(model.priors_) @ counts).all()


def test_a_kernel_is_the_mean_of_what_the_classes_would_make_of_it():
    """Eqs. 22 and 26: w_j = sum_k P(C_k|j) w_jk, with the same P(C_k|j) for all x."""
    X, y = overlapping_classes()
    weights, means, covariances = initial_parameters(5, 3, 3, "full")
    options = PLAIN | {"init_params": (weights, means, covariances), "priors": "empirical"}
    model = PRBFClassifier(sharing=1.0, max_iter=1, **options).fit(X, y)
    posterior = weights[:, y].T * densities(X, means, covariances)
    posterior /= posterior.sum(axis=1, keepdims=True)
    prior = np.bincount(y) / len(y)
    of_class = model.weights_ * prior
    of_class /= of_class.sum(axis=1, keepdims=True)
    of_x = [
        model.predict_proba(X)[:, [k]] * model.responsibilities(X, np.full(len(X), k))[0] for k in range(3)
    ]
    assert_allclose(
        of_x / np.sum(of_x, axis=0), np.broadcast_to(of_class.T[:, None], np.shape(of_x)), rtol=1e-6
    )
    for j in range(5):
        by_class = [(posterior[y == k, j], X[y == k]) for k in range(3)]
        mu = [h @ x / h.sum() for h, x in by_class]
        assert_allclose(of_class[j] @ mu, model.means_[j], rtol=1e-8)
        centred = [(x - model.means_[j]) for _, x in by_class]
        sigma = [(h * d.T) @ d / h.sum() for (h, _), d in zip(by_class, centred, strict=True)]
        assert_allclose(np.einsum("k,kij->ij", of_class[j], sigma), model.covariances_[j], rtol=1e-8)


@pytest.mark.parametrize("sharing", [0.0, 0.3, 1.0])
def test_what_p_lambda_integrates_to(sharing):
    """Section III: the penalised density integrates to one only for lambda = 0 and 1; the class density (2) always does."""
    X, y = overlapping_classes(m=1)
    model = PRBFClassifier(6, sharing=sharing, max_iter=5, tol=0.0, random_state=0).fit(X, y)
    grid = np.linspace(-40, 40, 20001)[:, None]
    mass = np.exp(model.class_log_density(grid)).sum(axis=0) * (grid[1] - grid[0])
    assert_allclose(mass, 1.0, rtol=1e-6)
    lambdas = np.full((6, 3), sharing)
    for c, group in enumerate(model.groups_):
        lambdas[group, c] = 1.0
    penalised = (lambdas * model.weights_).sum(axis=0)
    if 0 < sharing < 1:
        assert (penalised < 1).all()
    else:
        assert_allclose(penalised, 1.0)


def penalised_likelihood(model, X, y, lambdas):
    """Compute eq. 31 directly: the mean of log sum_j lambda_jk pi_jk p(x|j)."""
    variances = np.broadcast_to(model.covariances_.reshape(len(model.means_), -1), model.means_.shape)
    squares = ((X[:, None] - model.means_) ** 2 / variances).sum(axis=2)
    p_x = np.exp(-squares / 2) / np.sqrt(np.prod(2 * np.pi * variances, axis=1))
    return np.log((p_x * (lambdas * model.weights_)[:, y].T).sum(axis=1)).mean()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_penalised_likelihood_never_falls(data):
    """Eq. 31 for spherical components, any lambda, any numbers of components, with and without a variance floor."""
    seed = data.draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    L, m = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 4))
    X, y = overlapping_classes(seed, rng.integers(8, 40, size=L), m)
    sizes = [data.draw(st.integers(1, 4)) for _ in range(L)]
    if data.draw(st.booleans()):
        sharing = data.draw(st.floats(0, 1))
    else:
        sharing = np.where(
            np.eye(L, dtype=bool), 1.0, rng.uniform(size=(L, L)) * rng.integers(0, 2, size=(L, L))
        )
    model = PRBFClassifier(
        sizes,
        sharing=sharing,
        covariance_type="spherical",
        standardize=data.draw(st.booleans()),
        reg_covar=0.0,
        variance_floor=data.draw(st.sampled_from([0.0, 0.01, 0.3])),
        max_iter=25,
        tol=0.0,
        random_state=seed % 1000,
    )
    lambdas = np.repeat(np.where(np.eye(L) == 1, 1.0, sharing), sizes, axis=0)
    # Without a floor a component may collapse onto two samples. The engine's expanded squares then lose digits of the
    # reported objective, though not of the parameters.
    exact = np.array([penalised_likelihood(each, X, y, lambdas) for each in model.fit_iterations(X, y)])
    assert (np.diff(exact) >= -1e-9 * (1 + np.abs(exact[1:]))).all()
    objective = model.objective_
    lost = np.finfo(float).eps * np.square(X).sum(axis=1).max() / model.covariances_.min()
    assert_allclose(objective, exact, rtol=1e-9, atol=1e-9 + lost)
    # Section III: the penalised density is at most the density.
    assert (objective <= model.log_likelihood_ + 1e-9).all()
    assert_allclose(model.weights_.sum(axis=0), 1.0)
    if np.ndim(sharing) == 0 and sharing == 0:
        for c, group in enumerate(model.groups_):
            assert not np.delete(model.weights_[:, c], group).any()
