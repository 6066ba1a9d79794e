"""Sufficient numbers of iterations: the error rate of their intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skem.repro.ledger.estimates import Estimate
from skem.repro.papers.sanderson2017.measures import Enough, enough, typical

NUMBERS = [1, 2, 5, 10, 20, 50]


def curve(rng, gains, n_runs=30, common=0.5):
    """Results of runs with standard deviation one, of which a share is common to all numbers."""
    shared = np.sqrt(common) * rng.normal(size=n_runs)
    return {
        n: Estimate.of(pd.Series(mean + shared + np.sqrt(1 - common) * rng.normal(size=n_runs)))
        for n, mean in zip(NUMBERS, gains, strict=True)
    }


@pytest.mark.parametrize(
    ("gains", "right", "common"),
    [
        ([0, 0, 0, 0, 0, 0.7], 1, 0.9),  # less than a standard deviation
        ([0, 0, 2, 4, 4, 4], 10, 0.9),
        ([0, 0, 0, 0, 0, 2], 50, 0.0),
    ],
)
def test_the_interval_holds_the_right_number(gains, right, common):
    rng = np.random.default_rng(0)
    found = [enough(curve(rng, gains, common=common)) for _ in range(100)]
    wrong = np.mean([not one.low <= right <= one.high for one in found])
    assert wrong <= 0.11  # 5%, and three standard errors of 100 simulations


def test_noise_leaves_the_number_open():
    """With three runs per number, as with any spread that hides gains, nothing is decided."""
    rng = np.random.default_rng(0)
    found = [enough(curve(rng, [0, 0, 0, 0, 0, 0], n_runs=3, common=0.0)) for _ in range(100)]
    assert np.mean([one.low == 1 and one.high == 50 for one in found]) > 0.7


def test_larger_numbers_share_the_level():
    z = stats.zscore(np.arange(10.0), ddof=1)
    margin, critical = np.sqrt(2 / 3), stats.t.ppf(1 - 0.025 / 2, 9)
    for beyond, low in ((-0.01, 1), (0.01, 2)):
        gain = margin + (critical + beyond) / np.sqrt(10)
        runs = {1: np.zeros(10), 2: z + gain, 5: z}
        assert enough({n: Estimate.of(pd.Series(values)) for n, values in runs.items()}).low == low


def test_several_data_sets():
    found = [Enough(1, 1, 2), Enough(5, 2, 10), Enough(20, 10, 20), Enough(50, 50, 50)]
    assert typical(found) == (12.5, 2, 20)  # more than half: three of four
    assert typical(found[:3]) == (5, 2, 10)
    assert [str(one) for one in found[-2:]] == ["20 (10 to 20)", "50"]
