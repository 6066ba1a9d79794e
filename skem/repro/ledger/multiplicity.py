"""Cells of a table that a faithful copy would miss by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from skem.repro.ledger.estimates import LEVEL
from skem.repro.ledger.summary import MEASUREMENT
from skem.repro.ledger.verdicts import NOT_COMPARABLE

CORRELATION = 0.3
"""Correlation of the cells of a table, which share folds or splits.

Over our runs, the mean over pairs of cells is .01 to .18 in the tables of Titsias and Likas (2001), and .19 to .46 in those of Hayashi and
Uchida (2021).
"""


def expected_misses(claims: pd.DataFrame, correlation: float = CORRELATION) -> tuple[float, float]:
    """Return the expected number of numbers that a faithful copy misses by chance, and the 95% bound of their count.

    Each number lies outside its 95% prediction interval in 5% of copies. Cells that share folds or splits are missed together, so their count
    varies more than a binomial one: errors of the cells are normal and equally correlated.

    Of the claims, measured numbers with an interval count, each once.
    """
    counted = (claims["kind"] == "number") & (claims["basis"] == MEASUREMENT) & (claims["repeats"] == "")
    counted &= (claims["verdict"] != NOT_COMPARABLE) & claims["low"].notna()
    n = int(counted.sum())
    common, weights = np.polynomial.hermite_e.hermegauss(100)
    shift, own = np.sqrt(correlation) * common, np.sqrt(1 - correlation)
    limit = scipy.stats.norm.ppf((1 + LEVEL) / 2)
    missed = scipy.stats.norm.cdf((-limit - shift) / own) + scipy.stats.norm.sf((limit - shift) / own)
    at_most = scipy.stats.binom.cdf(np.arange(n + 1)[:, None], n, missed) @ (weights / weights.sum())
    return (1 - LEVEL) * n, float(np.argmax(at_most >= LEVEL))
