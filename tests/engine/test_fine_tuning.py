"""Fine-tuning for p(c|x): its gradient, its two ways up, and what stays a mixture meanwhile."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import log_softmax, logsumexp
from scipy.stats import multivariate_normal

from skem.engine import adam, extended_baum_welch
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.fine_tuning import FineTuning
from skem.engine.free_parameters import FreeParameters
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
    covariances = COVARIANCE_TYPES[name].compress(matrices)
    return Mixture(weights / weights.sum(axis=0), rng.normal(size=(K, m)), covariances)


def problem(seed, name, *, strength=0.0, smoothing=0.0, background=0.0, n=60, n_jobs=1):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + 0.7 * codes[:, None]
    weights = rng.uniform(0.2, 1.8, size=n)
    rows = sort_by_class(X, codes, weights / weights.mean(), np.zeros(4), np.ones(4))
    mixtures = [draw_mixture(rng, len(columns), name) for columns in COLUMNS]
    tuning = FineTuning(
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
    return tuning, mixtures


def normal(x, mixture, k, name):
    dense = COVARIANCE_TYPES[name].dense(mixture.covariances, *mixture.means.shape)
    return multivariate_normal(mixture.means[k], dense[k])


def criterion(tuning, mixtures, name):
    """What is maximised, row by row and component by component."""
    rows = tuning.rows
    X = rows.features.X[rows.features.order]
    logits = np.tile(tuning.log_prior, (len(X), 1))
    divergence = 0.0
    for columns, mixture, start in zip(tuning.columns, mixtures, tuning.start, strict=True):
        K, m = mixture.means.shape
        densities = np.stack([normal(X, mixture, k, name).logpdf(X[:, columns]) for k in range(K)])
        with np.errstate(divide="ignore"):
            log_weights = np.log(mixture.weights)
        logits += tuning.beta * logsumexp(densities[:, :, None] + log_weights[:, None], axis=0)
        new, old = (COVARIANCE_TYPES[name].dense(each.covariances, K, m) for each in (mixture, start))
        for k, c in np.argwhere(start.weights > 0):
            d = mixture.means[k] - start.means[k]
            ratio = np.linalg.solve(new[k], old[k])
            kl = 0.5 * (np.trace(ratio) - m - np.linalg.slogdet(ratio)[1] + d @ np.linalg.solve(new[k], d))
            kl += np.log(start.weights[k, c] / mixture.weights[k, c])
            divergence += tuning.class_shares[c] * start.weights[k, c] * kl
    log_proba = log_softmax(logits, axis=1)
    targets = np.full(log_proba.shape, tuning.smoothing / 3)
    targets[np.arange(len(X)), rows.codes] += 1 - tuning.smoothing
    with np.errstate(divide="ignore"):
        bounded = np.logaddexp(
            np.log1p(-tuning.background) + log_proba, np.log(tuning.background) + tuning.log_prior
        )
    mean = rows.weights @ (targets * bounded).sum(axis=1) / rows.total_weight
    return mean - tuning.strength * tuning.beta * divergence


@every_type
def test_free_parameters_are_those_of_the_mixture(name):
    mixture = draw_mixture(np.random.default_rng(0), 3, name)
    free = FreeParameters.of(mixture, COVARIANCE_TYPES[name])
    back = free.mixture(free.theta(mixture))
    for attribute in ("weights", "means", "covariances"):
        assert_allclose(getattr(back, attribute), getattr(mixture, attribute), rtol=1e-12, atol=1e-14)
    w, _, means = free.natural(free.theta(mixture))
    assert_allclose(w, COVARIANCE_TYPES[name].natural(mixture.means, mixture.covariances)[0], atol=1e-12)
    assert_allclose(means, mixture.means, atol=1e-12)


@every_type
def test_gradients_agree_with_finite_differences(name):
    tuning, mixtures = problem(1, name, strength=0.2, smoothing=0.1, background=0.05)
    rng = np.random.default_rng(2)
    free = [FreeParameters.of(mixture, tuning.covariance_type) for mixture in mixtures]
    # Away from the start, where the divergence has a gradient too.
    thetas = [
        each.theta(mixture) + rng.normal(scale=0.1, size=each.theta(mixture).shape)
        for each, mixture in zip(free, mixtures, strict=True)
    ]
    moved = [each.mixture(theta) for each, theta in zip(free, thetas, strict=True)]
    model = tuning.model(moved)
    _, _, signed = model.criterion(tuning.rows, np.arange(60))
    for r, (sums, pull) in enumerate(zip(signed, tuning.pulls(model), strict=True)):
        total = [one / tuning.rows.total_weight + other for one, other in zip(sums, pull, strict=True)]
        gradient = free[r].gradient(thetas[r], free[r].natural(thetas[r])[2], *total)
        step = 1e-5
        for i in range(len(gradient)):
            ends = []
            for sign in (-1, 1):
                theta = thetas[r].copy()
                theta[i] += sign * step
                ends.append(criterion(tuning, [*moved[:r], free[r].mixture(theta), *moved[r + 1 :]], name))
            assert abs(gradient[i] - (ends[1] - ends[0]) / (2 * step)) < 1e-6


def assert_valid(mixture, name):
    assert (mixture.weights >= 0).all()
    assert_allclose(mixture.weights.sum(axis=0), 1.0)
    np.linalg.cholesky(COVARIANCE_TYPES[name].dense(mixture.covariances, *mixture.means.shape))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(list(COVARIANCE_TYPES)),
    strength=st.sampled_from([0.0, 0.01, 1.0, 100.0]),
    smoothing=st.sampled_from([0.0, 0.2]),
    background=st.sampled_from([0.0, 0.01]),
)
def test_the_criterion_never_falls_in_closed_form(seed, name, strength, smoothing, background):
    tuning, mixtures = problem(seed, name, strength=strength, smoothing=smoothing, background=background)
    worth = [criterion(tuning, mixtures, name)]
    for state in extended_baum_welch.passes(tuning, mixtures, 5):
        for mixture in state.mixtures:
            assert_valid(mixture, name)
        worth.append(criterion(tuning, state.mixtures, name))
    assert np.diff(worth).min() > -1e-9
    assert worth[-1] > worth[0] or strength == 100.0


@every_type
def test_stochastic_steps_raise_the_criterion_and_leave_mixtures(name):
    tuning, mixtures = problem(3, name, strength=0.01)
    schedule = adam.Schedule(10, 7, 0.02, 0.0, np.random.RandomState(0))
    for state in adam.passes(tuning, mixtures, schedule):
        for mixture in state.mixtures:
            assert_valid(mixture, name)
    assert criterion(tuning, state.mixtures, name) > criterion(tuning, mixtures, name) + 0.02


def test_a_stronger_pull_holds_the_mixtures_nearer_to_the_start():
    distances = []
    for strength in (0.1, 10.0, 1000.0):
        tuning, mixtures = problem(4, "full", strength=strength)
        *_, state = extended_baum_welch.passes(tuning, mixtures, 30)
        moves = zip(state.mixtures, mixtures, strict=True)
        distances.append(max(abs(mixture.means - start.means).max() for mixture, start in moves))
    assert distances[0] > 10 * distances[1] > 100 * distances[2] > 0


def test_what_overflows_ends_with_the_pass_before():
    tuning, mixtures = problem(5, "full")
    schedule = adam.Schedule(3, 20, 1e3, 0.0, np.random.RandomState(0))
    states = list(adam.passes(tuning, mixtures, schedule))
    assert len(states) < 3
    assert states[-1].overflown
    assert states[-1].finished
    for mixture in states[-1].mixtures:
        assert_valid(mixture, "full")


def test_chunks_of_rows_add_up(monkeypatch):
    tuning, mixtures = problem(6, "full", smoothing=0.1)
    model = tuning.model(mixtures)
    whole = model.criterion(tuning.rows, np.arange(60))
    monkeypatch.setattr("skem.engine.conditional.CHUNK_ROWS", 13)
    parts = model.criterion(tuning.rows, np.arange(60))
    assert_allclose(parts[:2], whole[:2])
    for one, other in zip(parts[2], whole[2], strict=True):
        assert_allclose(one.sums, other.sums, atol=1e-12)
        assert_allclose(one.counts, other.counts, atol=1e-12)
