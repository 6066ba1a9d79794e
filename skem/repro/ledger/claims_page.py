"""``claims.md``: totals of the papers' claims, and each claim that differs or depends, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from skem.repro.ledger import totals
from skem.repro.ledger.outcomes import (
    AGREES,
    DIFFERS,
    NOT_RUN,
    ONE_INTERPRETATION,
    UNDECIDABLE,
    UNDECIDED,
    outcome,
)
from skem.repro.ledger.sentences import Words, sentence
from skem.repro.ledger.summary import MEASURABLE, kinds
from skem.repro.render.format import document, measured

ORDER = (DIFFERS, ONE_INTERPRETATION, AGREES, UNDECIDED, UNDECIDABLE, NOT_RUN)
"""Order of the outcomes in tables of claims."""

GUIDE = f"""\
- **{AGREES}**: the paper's number lies in our 95% prediction interval of a result like the paper's; a statement holds at 95%.
- **{ONE_INTERPRETATION}**: the paper leaves a choice open, and some interpretations agree, others do not.
- **{DIFFERS}**: the paper's number lies outside the interval; the opposite of a statement holds at 95%.
- **{UNDECIDED}**: our interval is too wide to decide; more runs would be needed.
- **{UNDECIDABLE}**: the paper's own uncertainty is so large that no number of our runs would decide.
- **{NOT_RUN}**: the data are not available, or the experiment was not part of this run."""

NOTES = """\
Brackets hold 95% intervals: for a number, of a result like the paper's; for a statement, of the difference that decides it. Unless the
reason says otherwise, a difference above zero is as the paper says. A statement about several comparisons has the difference of one:
the least certain comparison if all must hold, the most certain one if any is enough. The *standardised difference* is ours minus the
paper's, in standard deviations of the prediction: beyond about ±2 they differ. A measurement that a paper states several times counts
once."""

LISTED = (
    "The tables below list the claims that differ or depend, with the reasons. All claims are in `claims.csv` and in the report, "
    "which filters them."
)

REMARK = 160
"""Characters of a remark that tables of claims show."""

DECIDING = re.compile("decided by: (.+)")
COUNTED = re.compile(r"\d+ of \d+ comparisons hold at .+")

DIRECTIONS = {detail: f"ours is {detail}" for detail in ("better", "worse", "higher", "lower")}
WITHOUT_REMARK = {"fails": "our difference is below zero", "undecided": "the interval contains zero"}
SIGMAS = {"": "", "1sigma": "", "3sigma": " (3 standard deviations)"}

Row = Mapping[str, Any]


def shortened(remark: str) -> list[str]:
    """Return the statements of a remark that end within `REMARK` characters, the first in any case; then the comparison that decides."""
    parts = [part for part in remark.split("; ") if part]
    deciding = [f"deciding comparison: {found[1]}" for part in parts if (found := DECIDING.fullmatch(part))]
    counted = [part for part in parts if COUNTED.fullmatch(part)]
    said, *others = [part for part in parts if not DECIDING.fullmatch(part) and part not in counted] or [""]
    for part in others:
        if len(said) + len(part) >= REMARK:
            break
        said += f"; {part}"
    return [*said.split("; "), *deciding, *counted]


def interpretation(row: Row) -> str:
    """Return the interpretation that an outcome depends on, and the one that agrees with the paper."""
    if not row["agrees_with"]:
        return ""
    return (
        f"depends on {row['depends_on']}: " if row["depends_on"] else ""
    ) + f"agrees with “{row['agrees_with']}”"


def sentences(parts: Iterable[str]) -> str:
    """Join statements as sentences."""
    return " ".join(f"{capital(part).rstrip('.')}." for part in parts if part)


def capital(text: str) -> str:
    """Begin a text with a capital, unless its first word is a name in code or a symbol."""
    return text if "_" in text.split(" ", 1)[0] or not text[:1].isascii() else text[:1].upper() + text[1:]


def reason(row: Row, words: Words) -> str:
    """Return the reason of an outcome: interpretation, direction, and the beginning of the remark."""
    direction, depends = DIRECTIONS.get(row["detail"], ""), interpretation(row)
    parts = [
        depends,
        f"otherwise {direction}" if depends and direction else direction,
        *shortened(row["remark"]),
    ]
    return words.named(sentences(parts)) or sentences([WITHOUT_REMARK.get(row["detail"], "")])


def shown(row: Row, words: Words) -> dict[str, str]:
    """Format a row of the claims table: its statement, the paper's number, ours, their distance, and the reason of the outcome."""
    is_number = row["kind"] == "number"
    unit = words.quantity(row)[1] if is_number else ""
    paper = f"{row['value']} ± {row['spread']}" if row["spread"] else row["value"]
    z, low, high = (row[key] for key in ("standardised_difference", "low", "high"))
    if is_number and pd.isna(z) and "bound" not in row["setting"]:
        low = high = float("nan")  # only the rounding of the paper's number
    beside = [0.0, *([1.0, 100.0, float(row["value"])] if is_number else [])]
    ours = measured(row["measured"], low, high, beside, "" if is_number else "+")
    if not (is_number or low < high):
        ours = ""  # a count, which the remark explains
    if ours:
        ours = f"{ours} {unit if is_number else words.difference_unit(row)}".strip()
    detail, spread = row.get("spread_detail"), ""
    if detail:
        spread = f"; ± {float(row['spread_measured']):.2g} ({outcome([detail])})"
    return {
        "statement": sentence(row, words),
        "paper": f"{paper} {unit}".strip() + SIGMAS[row["spread_kind"]],
        "ours": ours + spread,
        "standardised difference": "" if pd.isna(z) else "0" if abs(z) < 0.05 else f"{z:+.1f}",
        "why": reason(row, words),
        "place": row["place"],
    }


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Sort claims by `ORDER`: statements first, then numbers by their distance from the paper's."""
    keys = table.assign(
        by_outcome=table["outcome"].map({word: i for i, word in enumerate(ORDER)}),
        is_number=table["kind"] == "number",
        nearness=-table["standardised_difference"].abs(),
    )
    order = keys.sort_values(["by_outcome", "is_number", "nearness"], kind="stable").index
    return table.loc[order]


def to_markdown(title: str, table: pd.DataFrame, words: Words, titles: Mapping[str, str]) -> str:
    """Format the totals of some papers, with titles by paper, and each claim that differs or depends, with the reason."""
    found = totals.totals(table)
    several = len(titles) > 1
    blocks: list[Any] = [
        GUIDE,
        LISTED,
        totals.by_outcome(found, titles, several),
        totals.by_spread(found, titles),
        NOTES,
    ]
    for paper, name in titles.items():
        own = table[table["paper"] == paper]
        if not len(own):
            continue
        blocks += [f"## {name}"] if several else []
        blocks += [totals.by_table(found[paper])]
        once = in_order(own[kinds(own) == MEASURABLE])
        heading = "###" if several else "##"
        for word in (DIFFERS, ONE_INTERPRETATION):
            if rows := once[once["outcome"] == word].to_dict("records"):
                blocks += [f"{heading} {capital(word)}: {len(rows)}"]
                blocks += [pd.DataFrame([shown(row, words) for row in rows])]
    return document(title, *blocks, padded=False)


def times_to_markdown(title: str, table: pd.DataFrame, words: Words, titles: Mapping[str, str]) -> str:
    """Format the measured claims about time, which have no outcome."""
    blocks: list[Any] = [
        "Times depend on the machine and differ in each run, so they have no outcome. Claims that were not measured are in "
        "`claims_timing.csv`."
    ]
    for paper, name in titles.items():
        own = [shown(row, words) for row in table[table["paper"] == paper].to_dict("records")]
        if rows := [row for row in own if row["ours"]]:
            columns = ["statement", "paper", "ours", "why", "place"]
            blocks += [f"## {name}", pd.DataFrame(rows)[columns]]
    return document(title, *blocks, padded=False)
