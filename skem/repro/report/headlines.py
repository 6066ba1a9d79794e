"""The statements of a paper that matter most, and its conclusions by outcome, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

import pandas as pd

from skem.repro.ledger import claims_page, summary
from skem.repro.ledger.outcomes import AGREES, DIFFERS, NOT_RUN, ONE_INTERPRETATION, UNDECIDABLE, UNDECIDED
from skem.repro.ledger.sentences import Words
from skem.repro.render.format import number

PLACEHOLDER = re.compile(r"\{([\w.-]+)\}")


def ours(row: Mapping[str, Any]) -> str:
    """Format our measurement of a claim, with as many decimals as the paper's number and at least two significant digits."""
    measured = row["measured"]
    digits, _, power = row["value"].partition("e")
    printed = len(digits.partition(".")[2]) - int(power or 0)
    two_digits = 1 - floor(log10(abs(measured))) if measured and pd.notna(measured) else 0
    return number(measured, max(printed, two_digits, 0), missing="not measured")


def to_markdown(headlines: Sequence[Mapping[str, str]], claims: pd.DataFrame, words: Words) -> str:
    """Format the headlines of a paper: what it ``says``, the outcome, its number, ours, and ``why``.

    A headline names the ``claim`` that decides; in braces, its reason names claims whose measurements it quotes.
    """
    by_id = claims.set_index("id", drop=False)
    lines = []
    for headline in headlines:
        row = by_id.loc[headline["claim"]].to_dict()
        found = claims_page.shown(row, words)
        numbers = [f"{of}: {found[key]}." for of, key in (("Paper", "paper"), ("Ours", "ours")) if found[key]]
        numbers = [text.replace(" %", "%") for text in numbers]
        if row["kind"] != "number" and found["ours"]:
            numbers = [f"Our difference: {found['ours']}."]
        why = PLACEHOLDER.sub(lambda name: ours(by_id.loc[name[1]]), headline["why"])
        says = headline["says"].rstrip(".")
        lines.append(" ".join([f"1. **{says}.** *{claims_page.capital(row['outcome'])}.*", *numbers, why]))
    return "\n".join(lines)


CONCLUSIONS = {
    AGREES: "Conclusions that hold",
    ONE_INTERPRETATION: "Conclusions that depend on the interpretation of the paper",
    DIFFERS: "Conclusions that do not hold",
}
"""Titles of lists of conclusions, by outcome."""


N_CONCLUSIONS = 5
"""Conclusions that a list shows."""


def conclusions(paper: str, claims: pd.DataFrame, words: Words) -> str:
    """List the first orderings and statements of a paper by outcome.

    Those about single columns of a table are counted, and listed only if they do not hold.
    """
    own = summary.distinct(claims[claims["paper"] == paper])
    own = own[own["kind"] != "number"]
    of_text = ~own["place"].str.startswith("Table")
    blocks = []
    for outcome, title in CONCLUSIONS.items():
        answered = own["outcome"] == outcome
        rows = own[answered & (of_text | (outcome == DIFFERS))].head(N_CONCLUSIONS).to_dict("records")
        lines = [_conclusion(row, words) for row in rows]
        if more := answered.sum() - len(rows):
            lines.append(f"- {more} more in `claims.csv`.")
        blocks += [f"**{title}: {answered.sum()}**", "\n".join(lines)] if lines else []
    rest = [
        f"{n} {word}" for word in (UNDECIDED, UNDECIDABLE, NOT_RUN) if (n := (own["outcome"] == word).sum())
    ]
    blocks += [f"Beside these, {' and '.join(rest)}."] if rest else []
    return "\n\n".join(blocks) or "No conclusion was measured."


def _conclusion(row: Mapping[str, Any], words: Words) -> str:
    found = claims_page.shown(row, words)
    reasons = {
        AGREES: "",
        ONE_INTERPRETATION: claims_page.sentences([claims_page.interpretation(row)]),
        DIFFERS: " ".join(
            filter(None, [found["ours"] and f"Our difference: {found['ours']}.", found["why"]])
        ),
    }
    return f"- {found['statement']} {reasons[row['outcome']]}".rstrip()
