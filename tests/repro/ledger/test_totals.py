"""Totals of the claims, and numbers that a faithful copy misses by chance."""

import numpy as np
import pandas as pd
import pytest
from checkouts import ROOT
from scipy import stats

from skem.repro.ledger import bars, summary, totals
from skem.repro.ledger.decisions import TIMED
from skem.repro.ledger.outcomes import OUTCOMES

REFERENCE = ROOT / "results/reference"


def test_totals_do_not_depend_on_times():
    claims = pd.concat([summary.read(REFERENCE / name) for name in ("claims.csv", "claims_timing.csv")])
    changed = claims.assign(detail=claims["detail"].mask(claims["quantity"].isin(TIMED), "holds"))
    assert totals.totals(changed) == totals.totals(claims)


def test_bars_have_the_numbers_of_their_parts():
    found = {"one": dict.fromkeys(map(totals.key, OUTCOMES), 0) | {"agrees": 12, "differs": 30, "open": 1}}
    ax = bars.draw(bars.rows(found, {"one": "One (2000)"}))
    assert [text.get_text() for text in ax.texts] == ["12", "30", "1", "One (2000): 43 measurable claims"]


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
def test_misses_of_a_faithful_copy(correlation):
    """Of 35 correlated cells, 5% are missed on average, and more than the bound in 5% of the copies at most."""
    rng, n, trials = np.random.default_rng(0), 35, 20_000
    common, own = rng.normal(size=(trials, 1)), rng.normal(size=(trials, n))
    z = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    missed = (np.abs(z) > stats.norm.ppf(0.975)).sum(axis=1)
    expected, bound = totals.expected_misses(n, correlation)
    assert missed.mean() == pytest.approx(expected, abs=5 * missed.std() / np.sqrt(trials))
    error = 4 * np.sqrt(0.05 * 0.95 / trials)
    assert np.mean(missed > bound) <= 0.05 + error
    assert np.mean(missed > bound - 1) > 0.05 - error
