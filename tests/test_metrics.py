import warnings

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import binom
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from skem.metrics import (
    LOG_TINY,
    expected_calibration_error,
    mcnemar,
    operation_count,
    scores,
    shared_proportion,
)


def posterior(rng, n=200, n_classes=4, scale=3.0):
    log_proba = log_softmax(scale * rng.standard_normal((n, n_classes)), axis=1)
    return rng.integers(n_classes, size=n), log_proba


def test_scores_agree_with_scikit_learn():
    y, log_proba = posterior(np.random.default_rng(0))
    got = scores(y, log_proba)
    proba, labels = np.exp(log_proba), np.arange(4)
    assert got["accuracy"] == accuracy_score(y, log_proba.argmax(axis=1))
    assert got["log_loss"] == pytest.approx(log_loss(y, proba, labels=labels), rel=1e-12)
    expected = brier_score_loss(y, proba, labels=labels, scale_by_half=False)
    assert got["brier"] == pytest.approx(expected, rel=1e-12)


def test_scores_are_finite_at_minus_infinity():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = scores([0, 1], [[-np.inf, 0.0], [-np.inf, 0.0]])
    assert got == {"accuracy": 0.5, "log_loss": -LOG_TINY / 2, "brier": 1.0}
    assert -745 < LOG_TINY < -744


@pytest.mark.parametrize("measure", [scores, expected_calibration_error])
@pytest.mark.parametrize(
    ("y", "log_proba", "words"),
    [
        ([0, 1], [[0.9, 0.1], [0.2, 0.8]], r"log_proba holds 0.9, .* at most 0: pass np.log\(p\)"),
        ([0, 1], [[3.0, -4.0], [-1.0, -2.0]], r"log_proba holds 3, .*: pass predict_log_proba\(X\)"),
        ([0, 1], np.log([[0.5, 0.5], [0.2, 0.6]]), "exp.log_proba. of row 1 sum to 0.8 instead of 1"),
        ([0, 1], np.log10([[0.5, 0.5], [0.2, 0.8]]), "row 0 sum to 1.48"),
        ([0, 1], np.full((2, 2), -np.inf), "row 0 sum to 0"),
        ([0, 1], np.ma.masked_less(np.log([[0.5, 0.5], [0.2, 0.8]]), -1), "log_proba has masked entries"),
        ([0], [[np.nan, 0.0]], "log_proba"),
        ([0], [0.0], "log_proba"),
        ([], np.zeros((0, 2)), "log_proba"),
        *((y, [[0.0, -np.inf]], "^y ") for y in ([2], [-1], [0.0], [0, 1])),
        (["cat"], np.log([[0.5, 0.5]]), r"from 0 to 1: give np.searchsorted\(model.classes_, y\)"),
    ],
)
def test_invalid_input(measure, y, log_proba, words):
    with pytest.raises(ValueError, match=words):
        measure(y, log_proba)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rounded_log_probabilities(dtype):
    y, log_proba = posterior(np.random.default_rng(0), n_classes=10, scale=1.0)
    rounded = np.log(np.exp(log_proba).astype(dtype))
    assert scores(y, rounded)["log_loss"] == pytest.approx(scores(y, log_proba)["log_loss"], rel=1e-3)


def test_a_sample_of_weight_two_counts_as_two():
    rng = np.random.default_rng(0)
    y, log_proba = posterior(rng)
    weights = rng.integers(0, 3, len(y))
    repeated = np.repeat(y, weights), np.repeat(log_proba, weights, axis=0)
    assert scores(y, log_proba, sample_weight=weights) == pytest.approx(scores(*repeated))
    error = expected_calibration_error(y, log_proba, sample_weight=7.5 * weights)
    assert error == pytest.approx(expected_calibration_error(*repeated))
    for bad in (-weights, 0 * weights, weights[1:], np.full(len(y), np.nan)):
        with pytest.raises(ValueError, match="sample_weight must be 200 finite non-negative numbers"):
            scores(y, log_proba, sample_weight=bad)


def test_calibration_by_hand():
    # Bins of width 1/2: .6 and .8 fall into the second, one of them right.
    log_proba = np.log([[0.6, 0.4], [0.2, 0.8]])
    assert expected_calibration_error([0, 0], log_proba, n_bins=2) == pytest.approx(abs(0.5 - 0.7))
    # Bins are closed above: .5 falls into the first, .6 into the second.
    halves = np.log([[0.5, 0.5], [0.4, 0.6]])
    assert expected_calibration_error([0, 0], halves, n_bins=2) == pytest.approx((0.5 + 0.6) / 2)
    # One bin each: the gaps no longer cancel.
    assert expected_calibration_error([0, 0], log_proba, n_bins=10) == pytest.approx((0.4 + 0.8) / 2)


def test_shared_proportion_by_hand():
    a = np.array([[0.5, 0.5, 0.0], [0.5, 0.009, 0.01], [0.0, 0.491, 0.0], [0.0, 0.0, 0.99]])
    # a_k = 2, 2, 1, 1
    assert shared_proportion(a) == 4 / 6
    # A threshold of .011 leaves the second component to the first class alone.
    assert shared_proportion(a, threshold=0.011) == 2 / 5
    b = np.eye(3)
    assert shared_proportion(b) == 0
    assert shared_proportion([a, b]) == 4 / 9
    assert shared_proportion(np.stack([a[:3], b])) == 4 / 8
    assert shared_proportion([a.tolist(), b.tolist()]) == 4 / 9


def test_shared_proportion_of_nothing():
    assert np.isnan(shared_proportion(np.full((200, 3), 0.005)))
    with pytest.raises(ValueError, match="shape"):
        shared_proportion([[np.eye(2)]])


def test_operation_count():
    assert operation_count(1, 1, 1, 3) == 2 + 3 + 9 + 27
    assert operation_count(30, 20, 30_000, [12] * 3) == 30 * 20 * 30_000 * 3 * (2 + 12 + 144 + 1728)
    assert operation_count(2, 3, 5, [1, 2]) == 30 * (5 + 16)
    # Past float64's integers.
    assert operation_count(40, 60, 60_001, np.int64(3073)) % 3073 == 40 * 60 * 60_001 * 2 % 3073
    # The ratios that follow from section 2.2 at M = 36, for equal passes.
    whole = operation_count(30, 40, 30_000, 36)
    ratios = [whole / operation_count(30, 40, 30_000, [36 // r] * r) for r in (2, 3, 6, 12)]
    assert ratios == pytest.approx([3.9, 8.5, 31, 98], rel=0.02)
    with pytest.raises(TypeError):
        operation_count(1, 1, 1, 2.5)


def test_mcnemar_by_hand():
    y = np.zeros(12, int)
    a = np.array([0] * 4 + [1] * 8)
    b = np.array([0] * 3 + [1] + [0] * 6 + [1] * 2)
    n01, n10, p = mcnemar(y, a, b)
    assert (n01, n10) == (6, 1)
    assert p == pytest.approx(2 * binom.cdf(1, 7, 0.5))
    assert mcnemar(y, b, a) == (1, 6, p)
    assert mcnemar(y, a, a) == (0, 0, 1.0)
