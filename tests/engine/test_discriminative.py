"""Discriminative training: its objective and gradient, its steps, and valid mixtures after every iteration."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import class_log_density, full_covariances
from scipy.special import log_softmax

from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.discriminative import Objective
from skem.engine.extended_baum_welch import line_search
from skem.engine.parameters import Mixture
from skem.engine.rows import sort_by_class
from skem.engine.threads import Workers

every_type = pytest.mark.parametrize("name", COVARIANCE_TYPES)
COLUMNS = [np.array([0, 1]), np.array([1, 2, 3])]


def draw_mixture(rng, m, name, K=4, L=3):
    """One component is all classes', the others are of some."""
    weights = rng.random((K, L)) * (rng.random((K, L)) < 0.6)
    weights[0] = 0.3
    roots = rng.normal(size=(K, m, m))
    matrices = roots @ np.swapaxes(roots, 1, 2) + 0.3 * np.eye(m)
    if COVARIANCE_TYPES[name].diagonal:
        matrices = np.einsum("kii->ki", matrices)
    covariances = COVARIANCE_TYPES[name].compress(matrices)
    return Mixture(weights / weights.sum(axis=0), rng.normal(size=(K, m)), covariances)


def problem(seed, name, *, strength=0.0, smoothing=0.0, background=0.0, n=60, n_jobs=1):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + 0.7 * codes[:, None]
    weights = rng.uniform(0.2, 1.8, size=n)
    rows = sort_by_class(X, codes, weights / weights.mean(), np.zeros(4), np.ones(4))
    mixtures = [draw_mixture(rng, len(columns), name) for columns in COLUMNS]
    objective = Objective(
        rows=rows,
        columns=COLUMNS,
        start=mixtures,
        covariance_type=COVARIANCE_TYPES[name],
        dtype=np.dtype(np.float64),
        beta=0.6,
        smoothing=smoothing,
        background=background,
        strength=strength,
        log_prior=np.log([0.5, 0.3, 0.2]),
        workers=Workers(n_jobs),
    )
    return objective, mixtures


def criterion(objective, mixtures):
    """The objective, sample by sample and component by component."""
    rows = objective.rows
    X = rows.X[rows.order]
    logits = np.tile(objective.log_prior, (len(X), 1))
    divergence = 0.0
    for columns, mixture, start in zip(objective.columns, mixtures, objective.start, strict=True):
        K, m = mixture.means.shape
        logits += objective.beta * class_log_density(X[:, columns], mixture)
        new, old = (full_covariances(each.covariances, K, m) for each in (mixture, start))
        for k, c in np.argwhere(start.weights > 0):
            d = mixture.means[k] - start.means[k]
            ratio = np.linalg.solve(new[k], old[k])
            kl = 0.5 * (np.trace(ratio) - m - np.linalg.slogdet(ratio)[1] + d @ np.linalg.solve(new[k], d))
            kl += np.log(start.weights[k, c] / mixture.weights[k, c])
            divergence += objective.class_shares[c] * start.weights[k, c] * kl
    log_proba = log_softmax(logits, axis=1)
    targets = np.full(log_proba.shape, objective.smoothing / 3)
    targets[np.arange(len(X)), rows.codes] += 1 - objective.smoothing
    with np.errstate(divide="ignore"):
        bounded = np.logaddexp(
            np.log1p(-objective.background) + log_proba, np.log(objective.background) + objective.log_prior
        )
    mean = rows.weights @ (targets * bounded).sum(axis=1) / rows.total_weight
    return mean - objective.strength * objective.beta * divergence


@every_type
def test_gradients_agree_with_finite_differences(name):
    objective, mixtures = problem(1, name, strength=0.2, smoothing=0.1, background=0.05)
    _, moved = problem(2, name)  # away from the initialisation, where the divergence has a gradient too
    moved = [replace(new, weights=old.weights) for new, old in zip(moved, mixtures, strict=True)]
    _, _, sums = objective.mean(objective.blocks(moved), np.arange(60))
    rng = np.random.default_rng(3)
    for r, (mixture, start) in enumerate(zip(moved, mixtures, strict=True)):
        gradient = sums[r] + objective.expected_sums(start, objective.strength, mixture.means)
        (K, m), W = mixture.means.shape, mixture.weights
        for _ in range(5):
            direction, used = rng.normal(size=mixture.means.shape), W > 0
            roots = rng.normal(size=(K, m, m))
            growth = roots + np.swapaxes(roots, 1, 2)
            if COVARIANCE_TYPES[name].diagonal:
                growth = np.einsum("kii->ki", growth)
            growth = COVARIANCE_TYPES[name].compress(growth)
            of_weights = np.where(used, rng.normal(size=W.shape), 0.0)

            def at(t, mixture=mixture, r=r, of_weights=of_weights, direction=direction, growth=growth):
                weights = mixture.weights * np.exp(t * of_weights)
                covariances = mixture.covariances + t * growth
                near = Mixture(weights / weights.sum(axis=0), mixture.means + t * direction, covariances)
                return criterion(objective, [*moved[:r], near, *moved[r + 1 :]])

            P = full_covariances(mixture.covariances, K, m)
            dP = full_covariances(growth, K, m)
            inverse = np.linalg.inv(P)
            of_P = inverse @ dP @ inverse
            n_k = gradient.counts.sum(axis=1)
            expected = np.einsum("ki,kij,kj->", direction, inverse, gradient.offsets)
            expected += (gradient.counts * (of_weights - (W * of_weights).sum(axis=0))).sum()
            expected -= 0.5 * n_k @ np.einsum("kij,kji->k", inverse, dP)
            scatter = gradient.scatter
            if scatter.ndim == 2:
                scatter = scatter[:, :, None] * np.eye(m)
            expected += 0.5 * (of_P[: len(scatter)] * scatter).sum()
            step = 1e-5
            assert_allclose(expected, (at(step) - at(-step)) / (2 * step), rtol=1e-5, atol=1e-7)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(list(COVARIANCE_TYPES)),
    strength=st.sampled_from([0.0, 0.01, 1.0, 100.0]),
    smoothing=st.sampled_from([0.0, 0.2]),
    background=st.sampled_from([0.0, 0.01]),
)
def test_closed_form_steps_never_lower_the_criterion(seed, name, strength, smoothing, background):
    objective, mixtures = problem(seed, name, strength=strength, smoothing=smoothing, background=background)
    worth = [criterion(objective, mixtures)]
    for state in line_search(objective, mixtures, 5):
        for mixture in state.mixtures:
            assert (mixture.weights >= 0).all()
            assert_allclose(mixture.weights.sum(axis=0), 1.0)
            np.linalg.cholesky(full_covariances(mixture.covariances, *mixture.means.shape))
        worth.append(criterion(objective, state.mixtures))
    assert np.diff(worth).min() > -1e-9
    assert worth[-1] > worth[0] or strength == 100.0
