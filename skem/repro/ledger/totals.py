"""``summary.json``: totals of the claims by paper. Every page and every message that shows totals reads this file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy

from skem.repro.ledger.estimates import LEVEL
from skem.repro.ledger.outcomes import AGREES, DIFFERS, OUTCOMES, UNDECIDABLE, UNDECIDED, outcome
from skem.repro.ledger.summary import KINDS, MEASURABLE, kinds

ALL = "all"
"""Key of the totals over all papers."""

Totals = Mapping[str, Mapping[str, Any]]


def key(word: str) -> str:
    """Return the key of an outcome or a kind of claims."""
    return re.sub(r"\W", "_", word)


def totals(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Count the claims of each paper, and of all papers, those about time among them: by kind, and by outcome if they are measurable."""
    return {name: _of(table[table["paper"] == name]) for name in table["paper"].unique()} | {ALL: _of(table)}


def _of(table: pd.DataFrame) -> dict[str, Any]:
    kind = kinds(table)
    once = table[kind == MEASURABLE]
    spreads = [outcome([detail]) for detail in once.get("spread_detail", ()) if detail]
    targets = once["remark"].str.extract(r"add the target (\w+)")[0].dropna()
    return {
        "stated": len(table),
        **{key(word): int((kind == word).sum()) for word in KINDS},
        **{key(word): int((once["outcome"] == word).sum()) for word in OUTCOMES},
        "spreads": {key(word): spreads.count(word) for word in OUTCOMES if word in spreads},
        "tables": _tables(once),
        "commands": [f"snakemake {target} --cores all" for target in sorted(set(targets))],
    }


def _tables(once: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Count, in each table of the papers, the cells outside their intervals, under the default and every interpretation, and those expected in a faithful copy."""
    found: dict[str, dict[str, Any]] = {}
    is_cell = once["place"].str.fullmatch(r"Table \w+") & (once["kind"] == "number") & once["low"].notna()
    for place, cells in once[is_cell].groupby("place"):
        expected, most = expected_misses(len(cells))
        outside = sum(outcome([detail]) == DIFFERS for detail in cells["detail"])
        differs = int((cells["outcome"] == DIFFERS).sum())
        found[str(place)] = {"cells": len(cells), "outside": outside, "differs": differs}
        found[str(place)] |= {"by_chance": round(expected, 2), "at_most": int(most)}
    return found


CORRELATION = 0.3
"""Correlation of the cells of a table, which share folds or splits.

Over our runs, the mean over pairs of errors is .01 to .18 in the tables of Titsias and Likas (2001), and .1 at most in that of Hayashi and
Uchida (2021).
"""


def expected_misses(n: int, correlation: float = CORRELATION) -> tuple[float, float]:
    """Return the expected number of n numbers that a faithful copy misses by chance, and the 95% bound of their count.

    Each number lies outside its 95% prediction interval in 5% of copies. Cells that share folds or splits are missed together, so their count
    varies more than a binomial one: errors of the cells are normal and equally correlated.
    """
    common, weights = np.polynomial.hermite_e.hermegauss(100)
    shift, own = np.sqrt(correlation) * common, np.sqrt(1 - correlation)
    limit = scipy.stats.norm.ppf((1 + LEVEL) / 2)
    missed = scipy.stats.norm.cdf((-limit - shift) / own) + scipy.stats.norm.sf((limit - shift) / own)
    at_most = scipy.stats.binom.cdf(np.arange(n + 1)[:, None], n, missed) @ (weights / weights.sum())
    return (1 - LEVEL) * n, float(np.argmax(at_most >= LEVEL))


def by_outcome(found: Totals, titles: Mapping[str, str], total: bool = True) -> pd.DataFrame:
    """Return a row per paper: claims, measurable claims, and the number of each outcome."""
    return _table(found, titles, (MEASURABLE, *OUTCOMES), total)


def by_kind(found: Totals, titles: Mapping[str, str], total: bool = True) -> pd.DataFrame:
    """Return a row per paper: the number of claims of each kind, which together are all claims."""
    return _table(found, titles, KINDS, total)


def by_spread(found: Totals, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return a row per paper with outcomes to its printed standard deviations."""
    words = (AGREES, DIFFERS, UNDECIDED, UNDECIDABLE)
    rows = [
        {"printed standard deviations of": titles[name]}
        | {word: own["spreads"].get(key(word), 0) for word in words}
        for name, own in found.items()
        if name in titles and own["spreads"]
    ]
    return pd.DataFrame(rows)


def by_table(own: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row per table of a paper: cells outside their intervals, beside those that a faithful copy would miss."""
    return pd.DataFrame(
        [
            {"the paper's table": place, "cells measured": n["cells"], "outside the interval": n["outside"]}
            | {"under every interpretation": n["differs"]}
            | {"expected by chance": f"{n['by_chance']:.1f}, at most {n['at_most']}"}
            for place, n in own["tables"].items()
        ]
    )


def _table(found: Totals, titles: Mapping[str, str], words: Iterable[str], total: bool) -> pd.DataFrame:
    names = {name: title for name, title in titles.items() if name in found}
    columns = {"claims": "stated"} | {word: key(word) for word in words}
    return pd.DataFrame(
        {"paper": title} | {word: found[name][own] for word, own in columns.items()}
        for name, title in (names | ({ALL: "all papers"} if total else {})).items()
    )
