"""Numbers that a faithful copy misses by chance."""

import numpy as np
import pytest
from scipy import stats

from skem.repro.ledger.totals import expected_misses


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
def test_misses_of_a_faithful_copy(correlation):
    """Of 35 correlated cells, 5% are missed on average, and more than the bound in 5% of the copies at most."""
    rng, n, trials = np.random.default_rng(0), 35, 20_000
    common, own = rng.normal(size=(trials, 1)), rng.normal(size=(trials, n))
    z = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    missed = (np.abs(z) > stats.norm.ppf(0.975)).sum(axis=1)
    expected, bound = expected_misses(n, correlation)
    assert missed.mean() == pytest.approx(expected, abs=5 * missed.std() / np.sqrt(trials))
    error = 4 * np.sqrt(0.05 * 0.95 / trials)
    assert np.mean(missed > bound) <= 0.05 + error
    assert np.mean(missed > bound - 1) > 0.05 - error
