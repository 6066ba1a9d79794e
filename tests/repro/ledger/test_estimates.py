"""Error rates of intervals over dependent folds, and of choices made after the runs."""

import numpy as np
import pandas as pd
import pytest

from skem.repro.ledger.estimates import Estimate, below_best


def off(estimate: Estimate, truth: float = 0.0) -> bool:
    low, high = estimate.interval()
    return not low <= truth <= high


def allowed(trials: int) -> float:
    """Return four standard errors of a share of 5%."""
    return 4 * np.sqrt(0.05 * 0.95 / trials)


def test_folds_of_one_cross_validation_are_dependent():
    """Folds correlate by n_test / (n_test + n_train), as they share training samples: intervals are off in 5% of cases, not in 14%."""
    rng, k, trials = np.random.default_rng(0), 5, 1000
    draws = np.sqrt(1 - 1 / k) * rng.normal(size=(trials, k)) + np.sqrt(1 / k) * rng.normal(size=(trials, 1))
    dependent, independent = (
        np.mean([off(estimate(pd.Series(row))) for row in draws])
        for estimate in (Estimate.of_folds, Estimate.of)
    )
    assert dependent == pytest.approx(0.05, abs=allowed(trials))
    assert independent > 0.1


@pytest.mark.parametrize("common", [0.0, 1.0])
def test_none_of_equals_is_below_the_best(common):
    """Eight equal configurations, in runs of their own or common ones: some is below the observed best in 5% of cases at most."""
    rng, n, trials = np.random.default_rng(2), 10, 100
    found = []
    for _ in range(trials):
        runs = rng.normal(size=(8, n)) + common * rng.normal(size=n)
        found.append(below_best({i: Estimate.of(pd.Series(row)) for i, row in enumerate(runs)}))
    assert np.mean([bool(names) for names in found]) <= 0.05 + allowed(trials)
