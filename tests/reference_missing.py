"""A slow, plain reference of EM on rows with missing values: one row and one component at a time, on dense matrices."""

import numpy as np
from reference import constrained, full_covariances
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def holes(X, share=0.3, seed=0):
    """The rows with values missing at random, one at least left in each."""
    rng = np.random.default_rng(seed)
    missing = rng.random(X.shape) < share
    missing[np.arange(len(X)), rng.integers(0, X.shape[1], len(X))] = False
    return np.where(missing, np.nan, X).astype(X.dtype)


def log_normal(X, means, P):
    """log N(x_o; mu_o, P_oo) of rows (N, m) under each component, (N, K); zero for a row without any value."""
    result = np.zeros((len(X), len(means)))
    for n, x in enumerate(X):
        o = ~np.isnan(x)
        for k in range(len(means)) if o.any() else ():
            result[n, k] = multivariate_normal(means[k][o], P[k][np.ix_(o, o)]).logpdf(x[o])
    return result


def regression(x, mean, P):
    """Of one row under one component: its mean, with what misses predicted, (m,), and the covariance of that, (m, m)."""
    o, h = ~np.isnan(x), np.isnan(x)
    gain = P[np.ix_(h, o)] @ np.linalg.inv(P[np.ix_(o, o)])
    filled, spread = np.where(o, x, 0.0), np.zeros(P.shape)
    filled[h] = mean[h] + gain @ (x[o] - mean[o])
    spread[np.ix_(h, h)] = P[np.ix_(h, h)] - gain @ P[np.ix_(o, h)]
    return filled, spread


def em(X, codes, weights, parameters, covariance_type, *, ridge, n_passes, log_sharing=0.0):
    """Weights (K, L), means and matrices after some passes on rows of classes ``codes``, and log-likelihoods after each."""
    pi, means, covariances = parameters
    (K, m), P = means.shape, full_covariances(covariances, *means.shape)
    log_sharing = np.broadcast_to(log_sharing, pi.shape)
    log_likelihoods = []
    for p in range(n_passes + 1):
        with np.errstate(divide="ignore"):
            plain = log_normal(X, means, P) + np.log(pi).T[codes]
        log_likelihoods.append(np.average(logsumexp(plain, axis=1), weights=weights))
        if p == n_passes:
            break
        penalties = 0.5 * ridge * np.trace(np.linalg.inv(P), axis1=1, axis2=2)
        joint = plain - penalties + log_sharing.T[codes]
        r = weights[:, None] * np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        moments = [[regression(x, means[k], P[k]) for k in range(K)] for x in X]
        mean = np.array([[moment[0] for moment in row] for row in moments])
        spread = np.array([[moment[1] for moment in row] for row in moments])
        n_kc = np.stack([r[codes == c].sum(axis=0) for c in range(pi.shape[1])], axis=1)
        counts = r.sum(axis=0)
        pi, means = n_kc / n_kc.sum(axis=0), np.einsum("nk,nkm->km", r, mean) / counts[:, None]
        deviations = mean - means
        S = np.einsum("nk,nki,nkj->kij", r, deviations, deviations) + np.einsum("nk,nkij->kij", r, spread)
        S /= counts[:, None, None]
        P = constrained(S, counts, covariance_type) + ridge * np.eye(m)
    return pi, means, P, log_likelihoods[1:]
