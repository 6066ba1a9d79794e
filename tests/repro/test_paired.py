"""Differences between two classifiers on the same test samples."""

import numpy as np
import pytest
from scipy.stats import norm

from skem.metrics import mcnemar
from skem.repro.paired import mcnemar_over_runs, paired_test


def test_one_run_is_mcnemars_test():
    gain, p = paired_test([(30 - 10) / 1000], [40], 1000)
    assert gain == pytest.approx(0.02)
    assert p == pytest.approx(2 * norm.sf(20 / np.sqrt(40)))
    wrong = np.arange(1000)
    ours, other = (wrong < 10).astype(int), ((wrong >= 10) & (wrong < 40)).astype(int)
    assert p == pytest.approx(mcnemar(np.zeros(1000), ours, other)[2], rel=0.5)
    assert paired_test([0.0], [0], 1000) == (0.0, 1.0)


def test_runs_on_the_same_samples_are_no_more_samples():
    alone, often = paired_test([0.02], [40], 1000)[1], paired_test([0.02] * 9, [40] * 9, 1000)[1]
    assert often == pytest.approx(alone)
    assert paired_test([0.01, 0.03], [40, 40], 1000)[1] > alone
    # The number of samples that only one of them classifies correctly may be known of some runs only.
    assert paired_test([0.01, 0.03], [40, np.nan], 1000) == paired_test([0.01, 0.03], [40, 40], 1000)


def test_error_rate():
    """Of equally accurate methods, whose runs differ, one in twenty is declared better; the luckiest run is too often."""
    rng = np.random.default_rng(0)
    n_test, n_runs, n_studies, found, luckiest = 500, 5, 1000, 0, 0
    for _ in range(n_studies):
        difficulty = rng.beta(4, 0.7, size=n_test)  # one probability of a correct decision per sample
        other = rng.random(n_test) < difficulty
        quality = 0.03 * rng.standard_normal((n_runs, 1))
        ours = rng.random((n_runs, n_test)) < np.clip(difficulty + quality, 0, 1)
        gains, discordant = (ours.mean(axis=1) - other.mean()), (ours != other).sum(axis=1)
        found += paired_test(gains, discordant, n_test)[1] < 0.05
        best = int(gains.argmax())
        luckiest += paired_test(gains[best : best + 1], discordant[best : best + 1], n_test)[1] < 0.05
    assert 0.005 < found / n_studies < 0.06
    assert luckiest / n_studies > 0.1


def test_runs_are_paired_by_their_folds_or_share_the_test_set():
    y = {f"y-{run}-0": np.zeros(4, int) for run in (0, 1, 2)}
    ours = y | {f"part-{run}-0": np.array([0, 0, 0, run > 0]) for run in (0, 1, 2)}
    ours["all-0-0"] = np.ones(4, int)  # trained with the validation samples, and left out
    best = {"y-0-0": y["y-0-0"], "part-0-0": np.array([1, 0, 0, 0])}
    found = mcnemar_over_runs(ours, best, is_fixed=True)
    assert (found["mcnemar_ours_wrong"], found["mcnemar_best_wrong"]) == pytest.approx((2 / 3, 1))
    found = mcnemar_over_runs(ours, best, is_fixed=False)
    assert (found["mcnemar_ours_wrong"], found["mcnemar_best_wrong"]) == (0, 1)
    assert found["mcnemar_p"] == paired_test([1 / 4], [1], 4)[1]
