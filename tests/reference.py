"""A slow, plain reference of shared-kernel EM in float64: one component at a time, nothing clever.

The tests compare the library with this file, so it repeats none of the library's tricks: each component is
whitened by a Cholesky factor, sums are taken over explicit responsibilities, and moments are centred before
they are squared. Equation numbers are those of Pulford 2022. Covariances may have any shape of the library:
(K, m, m), (m, m), (K, m), (K,). `scale` (m,) is the unit of the ridge: each feature's standard deviation if
standardised, else ones.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp


@dataclass
class Model:
    weights: np.ndarray  # (K, L), columns sum to one
    means: np.ndarray  # (K, m)
    covariances: np.ndarray


@contextmanager
def unchanged(estimator):
    """Assert that an estimator keeps its attributes."""
    before = dict(vars(estimator))
    yield
    assert vars(estimator).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(estimator).items())


def model_of(clf):
    """Parameters of a fitted classifier with one feature block."""
    return Model(clf.weights_, clf.means_, clf.covariances_)


def training_scale(X, sample_weight=None, standardize=True):
    """Weighted standard deviation (divided by n, not n - 1) of each feature; ones where not standardised."""
    if not standardize:
        return np.ones(X.shape[1])
    X = np.asarray(X, dtype=np.float64)
    centred = X - np.average(X, axis=0, weights=sample_weight)
    scale = np.sqrt(np.average(centred**2, axis=0, weights=sample_weight))
    return np.where(scale > 0, scale, 1.0)


def full_covariances(covariances, n_components, n_features):
    """Any shape of covariances as (K, m, m)."""
    covariances = np.asarray(covariances, dtype=np.float64)
    if covariances.ndim == 3:
        return covariances
    if covariances.ndim == 2 and n_components == n_features:
        raise ValueError("(m, m) and (K, m) look alike when K = m: give (K, m, m)")
    if covariances.shape == (n_features, n_features):
        return np.repeat(covariances[None], n_components, axis=0)
    if covariances.ndim == 2:
        return np.stack([np.diag(row) for row in covariances])
    return covariances[:, None, None] * np.eye(n_features)


def unit_covariances(covariance_type, K, m):
    """Identities in the shape of a covariance type."""
    shapes = {"full": np.tile(np.eye(m), (K, 1, 1)), "tied": np.eye(m), "diag": np.ones((K, m))}
    return shapes.get(covariance_type, np.ones(K))


def constrained(covariances, counts, covariance_type, scale=1.0):
    """Covariances (K, m, m) as a type allows: their mean by counts, without correlations, or balls in units of ``scale``."""
    if covariance_type == "full":
        return covariances
    if covariance_type == "tied":
        return np.repeat([np.average(covariances, axis=0, weights=counts)], len(counts), axis=0)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    if covariance_type == "spherical":
        variances = (variances / scale**2).mean(axis=1, keepdims=True) * scale**2
    return variances[:, None] * np.eye(covariances.shape[-1])


def log_normal(X, model):
    """log N(x_n; mu_k, P_k), shape (n, K)."""
    X = np.asarray(X, dtype=np.float64)
    K, m = model.means.shape
    result = np.empty((len(X), K))
    for k, P in enumerate(full_covariances(model.covariances, K, m)):
        factor = cholesky(P, lower=True)
        whitened = solve_triangular(factor, (X - model.means[k]).T, lower=True)
        log_root = 0.5 * m * np.log(2 * np.pi) + np.log(np.diag(factor)).sum()
        result[:, k] = -0.5 * (whitened**2).sum(axis=0) - log_root
    return result


def rounding(X, model):
    """Nats lost in a quadratic form in coordinates about the data's centre; the library goes another way from 1e-6 on."""
    extent = np.abs(X - X.mean(axis=0)).max(axis=0)
    matrices = full_covariances(model.covariances, *model.means.shape)
    return min(1e-6, max(1e-15 * extent @ np.abs(np.linalg.inv(P)) @ extent for P in matrices))


def penalty(model, reg_covar, scale):
    """r/2 tr(D^2 P_k^-1) for each component, D = diag(scale), shape (K,)."""
    K, m = model.means.shape
    factors = [cholesky(P, lower=True) for P in full_covariances(model.covariances, K, m)]
    return np.array(
        [reg_covar / 2 * (solve_triangular(f, np.diag(scale), lower=True) ** 2).sum() for f in factors]
    )


def log_weights(model):
    with np.errstate(divide="ignore"):
        return np.log(model.weights)


def class_log_density(X, model, minus=0.0):
    """log p(x|c), shape (n, L); `minus` (K,) is taken off each component's log density."""
    G = log_normal(X, model) - minus
    return logsumexp(G[:, :, None] + log_weights(model)[None], axis=1)


def responsibilities(X, model, labels, minus=0.0):
    """w_nk of eq. 15, each row using the weights of its own class, shape (n, K)."""
    G = log_normal(X, model) - minus + log_weights(model).T[labels]
    return np.exp(G - logsumexp(G, axis=1, keepdims=True))


def log_likelihood(X, labels, model, sample_weight=None, minus=0.0):
    """Weighted mean per row of log p(x|c)."""
    own = class_log_density(X, model, minus)[np.arange(len(labels)), labels]
    return np.average(own, weights=sample_weight)


def objective(X, labels, model, reg_covar, scale, sample_weight=None):
    """The penalised log-likelihood, which training increases."""
    return log_likelihood(X, labels, model, sample_weight, penalty(model, reg_covar, scale))


def em_pass(X, labels, model, *, covariance_type, reg_covar=0.0, scale=None, sample_weight=None):
    """One pass of eqs. 15-18; for "tied", eq. 32 in place of eq. 18. Without data a component stays."""
    X = np.asarray(X, dtype=np.float64)
    (n, m), K, L = X.shape, len(model.means), model.weights.shape[1]
    scale = np.ones(m) if scale is None else scale
    sample_weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    w = sample_weight[:, None] * responsibilities(X, model, labels, penalty(model, reg_covar, scale))

    weights = np.stack(
        [w[labels == c].sum(axis=0) / sample_weight[labels == c].sum() for c in range(L)], axis=1
    )
    counts = w.sum(axis=0)
    used = counts > 0
    shares = np.where(used, counts, 1.0)[:, None]
    means = np.where(used[:, None], w.T @ X / shares, model.means)
    scatters = [(w[:, k, None] * (X - means[k])).T @ (X - means[k]) for k in range(K)]
    covariances = constrained(np.stack(scatters) / shares[:, None], counts, covariance_type, scale)
    covariances = covariances + reg_covar * np.diag(scale**2)
    kept = ~used[:, None, None] & (covariance_type != "tied")
    return Model(weights, means, np.where(kept, full_covariances(model.covariances, K, m), covariances))


def em(X, labels, model, n_passes, **options):
    for _ in range(n_passes):
        model = em_pass(X, labels, model, **options)
    return model


def shared_clusters(seed=0, n=300, m=4, L=3, K=5, width=1.0, condition=None):
    """Rows (n, m), labels, and a start: clusters that every class visits, each with its own preference."""
    rng = np.random.default_rng(seed)
    preference = rng.dirichlet(np.full(K, 2.0), size=L).T
    y = rng.choice(L, size=n, p=np.arange(L, 0, -1) * 2 / (L * (L + 1)))
    cluster = np.array([rng.choice(K, p=preference[:, c]) for c in y])
    centres = rng.normal(size=(K, m)) * 3
    axes = np.stack([np.linalg.qr(rng.normal(size=(m, m)))[0] for _ in range(K)])
    spread = width * (
        rng.uniform(0.7, 1.5, (K, m)) if condition is None else np.geomspace(1, condition**-0.5, m)
    )
    shapes = axes * np.broadcast_to(spread, (K, m))[:, None, :]
    X = centres[cluster] + np.einsum("nij,nj->ni", shapes[cluster], rng.normal(size=(n, m)))
    covariances = shapes @ shapes.transpose(0, 2, 1)
    if condition is None:
        covariances = covariances + 0.5 * width**2 * np.eye(m)
    means = centres + 0.3 * np.einsum("kij,kj->ki", shapes, rng.normal(size=(K, m)))
    weights = 0.5 * preference + 0.5 / K
    return X, y, (weights / weights.sum(axis=0), means, covariances)


def overlapping_classes(seed=0, n=(60, 45, 50), m=3):
    """Rows (sum of n, m) of classes of unequal size that overlap, and their labels."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(k, m)) * (1 + c / 2) + c for c, k in enumerate(n)])
    y = np.repeat(np.arange(len(n)), n)
    order = rng.permutation(len(y))
    return X[order], y[order]


def blobs(n, m=6, K=12, spread=2, seed=0):
    """Samples (n, m) of round clusters of equal size, whose centres have a standard deviation of ``spread``."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) + spread * rng.normal(size=(K, m))[rng.integers(0, K, n)]


def equal_classes(n=60, m=4, L=2, seed=0):
    """Rows (n, m) of classes of equal size, one apart, in turn, and their labels."""
    y = np.arange(n) % L
    return np.random.default_rng(seed).normal(size=(n, m)) + y[:, None], y
