"""``summary.json``: totals of the claims by paper. Every page and every message that shows totals reads this file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from skem.repro.ledger.multiplicity import expected_misses
from skem.repro.ledger.outcomes import AGREES, DIFFERS, OUTCOMES, UNDECIDED, outcome
from skem.repro.ledger.summary import KINDS, MEASURABLE, kinds

ALL = "all"
"""Key of the totals over all papers."""

Totals = Mapping[str, Mapping[str, Any]]


def key(word: str) -> str:
    """Return the key of an outcome or a kind of claims."""
    return re.sub(r"\W", "_", word)


def totals(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Count the claims of each paper, and of all papers.

    Parameters
    ----------
    table : DataFrame
        The claims table, with the claims about time.

    Returns
    -------
    dict
        By paper: "stated", the number of claims; the number of each of `KINDS`, and of each outcome among those of kind "measurable", by
        `key`; "spreads", outcomes of printed standard deviations; "tables" (see `_tables`); "commands", which measure claims
        that were not run.
    """
    return {name: _of(table[table["paper"] == name]) for name in table["paper"].unique()} | {ALL: _of(table)}


def _of(table: pd.DataFrame) -> dict[str, Any]:
    kind = kinds(table)
    once = table[kind == MEASURABLE]
    spreads = once.get("spread_verdict", pd.Series(dtype=str)).replace("", pd.NA).dropna()
    targets = once["remark"].str.extract(r"add the target (\w+)")[0].dropna()
    return {
        "stated": len(table),
        **{key(word): int((kind == word).sum()) for word in KINDS},
        **{key(word): int((once["outcome"] == word).sum()) for word in OUTCOMES},
        "spreads": _counted(outcome([verdict]) for verdict in spreads),
        "tables": _tables(once),
        "commands": [f"snakemake {target} --cores all" for target in sorted(set(targets))],
    }


def _tables(once: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Count, in each table of the papers, the cells outside their intervals, and those that a faithful copy would miss.

    Returns
    -------
    dict
        By place: "cells" (measured numbers), "outside" (under the default interpretation), "differs" (under every
        interpretation), "by_chance" (expected in a faithful copy), "at_most" (with a probability of 95%).
    """
    found: dict[str, dict[str, Any]] = {}
    is_cell = once["place"].str.fullmatch(r"Table \w+") & (once["kind"] == "number") & once["low"].notna()
    for place, cells in once[is_cell].groupby("place"):
        expected, most = expected_misses(cells)
        outside = [outcome([verdict]) == DIFFERS for verdict in cells["verdict"]]
        found[str(place)] = {
            "cells": len(cells),
            "outside": sum(outside),
            "differs": int((cells["outcome"] == DIFFERS).sum()),
        }
        found[str(place)] |= {"by_chance": round(expected, 2), "at_most": int(most)}
    return found


def _counted(outcomes: Iterable[str]) -> dict[str, int]:
    found = list(outcomes)
    return {key(word): found.count(word) for word in OUTCOMES if word in found}


def by_outcome(found: Totals, titles: Mapping[str, str], total: bool = True) -> pd.DataFrame:
    """Return a row per paper: claims, measurable claims, and the number of each outcome."""
    return _table(
        found,
        titles,
        {"claims": "stated"} | {word: key(word) for word in (MEASURABLE, *OUTCOMES)},
        total,
    )


def by_kind(found: Totals, titles: Mapping[str, str], total: bool = True) -> pd.DataFrame:
    """Return a row per paper: the number of claims of each kind, which together are all claims."""
    return _table(
        found,
        titles,
        {"claims": "stated"} | {word: key(word) for word in KINDS},
        total,
    )


def by_spread(found: Totals, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return a row per paper with outcomes to its printed standard deviations."""
    words = (AGREES, DIFFERS, UNDECIDED)
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


def _table(found: Totals, titles: Mapping[str, str], columns: Mapping[str, str], total: bool) -> pd.DataFrame:
    papers = [name for name in titles if name in found] + ([ALL] if total else [])
    names = dict(titles) | {ALL: "all papers"}
    return pd.DataFrame(
        [
            {"paper": names[name]} | {word: found[name][own] for word, own in columns.items()}
            for name in papers
        ]
    )
