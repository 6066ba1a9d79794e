"""The claims table: every claim beside our measurement, and its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from skem.repro.ledger import stated_claims
from skem.repro.ledger.decisions import NOT_COMPARABLE, QUOTED, TIMED, VERIFIED, Evaluation, joined
from skem.repro.ledger.estimates import Claim, NotRun
from skem.repro.ledger.interpretations import Found, Interpretation, survey
from skem.repro.ledger.outcomes import AGREES, DIFFERS, ONE_INTERPRETATION, UNDECIDABLE, UNDECIDED, outcome
from skem.repro.ledger.rows import Rows

DIGITS = 10
"""Significant digits of the numbers, fewer than processors and versions of libraries change."""


NUMBERS = ("measured", "low", "high", "standardised_difference")
EVALUATED = ("id", "paper_value", "interpretation", "default", "measured", "low", "high", "n_runs", "detail")


def ledger(
    claims: pd.DataFrame, evaluate: Callable[[Claim, Interpretation], Evaluation], rows: Rows
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Evaluate the claims of a paper with these rows, under every interpretation.

    The first table has a row per claim, with the columns of the claims: the measurement under the default interpretation, by
    ``measured_by`` (a protocol; "preset": a baseline with the paper's settings, else its toolbox's; "data": counted in the file), the
    interval that decided, and ``outcome``, `standardised` difference, `basis` and ``repeats`` (the first claim of the same measurement).
    The second one has a row per claim and interpretation, for claims with more than one, with a column per ambiguity.
    """
    lines, other = [], []
    for claim in claims.to_dict("records"):
        row, _ = rows.row(claim)
        try:
            surveyed, depends_on = survey(rows.ambiguities(claim), partial(evaluate, claim))
        except NotRun as error:
            surveyed, depends_on = [Found({}, "", Evaluation("not run", note=str(error.args[0])))], ""
        found, agree = surveyed[0].evaluation, [one.evaluation.detail for one in surveyed]
        value = float(claim["value"]) if claim["kind"] == "number" else float("nan")
        spread, agreeing = found.spread or Evaluation(""), ""
        if outcome(agree) == ONE_INTERPRETATION:
            agreeing = surveyed[[outcome([detail]) for detail in agree].index(AGREES)].label
        lines.append(
            claim
            | {"measured": found.measured, "low": found.low, "high": found.high}
            | {"difference": found.measured - value, "standardised_difference": standardised(claim, found)}
            | {"n_runs": found.n, "measured_by": found.protocol}
            | {
                "detail": found.detail,
                "outcome": outcome(agree),
                "remark": joined(_divided(surveyed), found.note),
            }
            | {"half_width": (found.high - found.low) / 2}
            | {"spread_measured": spread.measured, "spread_low": spread.low, "spread_high": spread.high}
            | {"spread_detail": spread.detail}
            | {"basis": basis(claim, found.detail, row.get("definition", False))}
            | {"repeats": f"{claim['id'].partition('.')[0]}.{row['repeats']}" if "repeats" in row else ""}
            | {"interpretations": len(surveyed), "agree": agree.count(found.detail)}
            | {"depends_on": depends_on, "agrees_with": agreeing}
        )
        if len(surveyed) > 1:
            other += [
                {"id": claim["id"], "paper_value": value, "interpretation": one.label, "default": i == 0}
                | dict(one.choices)
                | {"measured": one.evaluation.measured, "low": one.evaluation.low}
                | {"high": one.evaluation.high, "n_runs": one.evaluation.n}
                | {"detail": one.evaluation.detail}
                for i, one in enumerate(surveyed)
            ]
    # Without interpretations, its columns are those that every paper has.
    return _rounded(pd.DataFrame(lines)), _rounded(pd.DataFrame(other, columns=None if other else EVALUATED))


PROPERTY, DEFINITION, MEASUREMENT = "data-set property", "definition", "measurement"


def basis(claim: Claim, detail: str, definition: bool) -> str:
    """Return the basis of an outcome; empty for quoted results."""
    if detail == VERIFIED or claim["external"] == "yes":
        return VERIFIED if detail == VERIFIED else ""
    if definition:
        return DEFINITION
    return PROPERTY if claim["method"] == "data" and claim["kind"] == "number" else MEASUREMENT


def standardised(claim: Claim, found: Evaluation) -> float:
    """Return the difference to the paper's number, beyond its rounding, in standard deviations of the prediction.

    The end of the interval on the paper's side is 1.96 of them away, so the number is outside where more than 1.96 lie
    between. NaN for claims without an interval that a number may lie outside, for measurements without spread, and if the two are
    not comparable.
    """
    if found.detail == NOT_COMPARABLE:
        return float("nan")
    value = float(claim["value"]) if claim["kind"] == "number" else float("nan")
    side = int(value > found.measured)
    end, with_rounding = found.unrounded[side], (found.low, found.high)[side]
    reach = abs(end - found.measured)
    if not reach > 1e-9 * abs(value):
        return float("nan")
    beyond = max(abs(found.measured - value) - abs(with_rounding - end), 0.0)
    return float(np.copysign(1.96 * beyond / reach, found.measured - value))


def _divided(surveyed: Sequence[Found]) -> str:
    """Name an interpretation that differs and one that decides nothing, of a claim with both and none that agrees."""
    labels = {outcome([one.evaluation.detail]): one.label for one in reversed(surveyed)}
    if DIFFERS not in labels or AGREES in labels or len(labels) == 1:
        return ""
    word = next(word for word in (UNDECIDED, UNDECIDABLE) if word in labels)
    return f"differs with “{labels[DIFFERS]}”, {word} with “{labels[word]}”"


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    numbers = table.select_dtypes(np.floating).columns
    return table.assign(**{c: table[c].map(lambda value: float(f"{value:.{DIGITS}g}")) for c in numbers})


def read(path: str | Path) -> pd.DataFrame:
    """Read a claims table: values as printed, measurements as numbers; `ValueError` if another version wrote it."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    needed = (*stated_claims.COLUMNS, *NUMBERS, "detail", "outcome", "basis", "agrees_with")
    if missing := [column for column in needed if column not in table]:
        raise ValueError(
            f"{path} has no column {missing[0]!r}: another version wrote it; `snakemake --cores all` writes it again"
        )
    return table.assign(**{column: pd.to_numeric(table[column]) for column in NUMBERS})


MEASURABLE, REPEATED, TIME = "measurable", "repeated claim", "about time"
KINDS = (MEASURABLE, NOT_COMPARABLE, TIME, REPEATED, QUOTED, DEFINITION, PROPERTY, VERIFIED)
"""Kinds of claims. Those that are measurable have one of `outcomes.OUTCOMES`, all others stand in an appendix."""


def kinds(table: pd.DataFrame) -> pd.Series:
    """Return the kind of each claim, one of `KINDS`."""
    kind = table["basis"].replace({MEASUREMENT: MEASURABLE, "": QUOTED})
    for word, own in (
        (NOT_COMPARABLE, table["detail"] == NOT_COMPARABLE),
        (REPEATED, table["repeats"] != ""),
        (TIME, table["quantity"].isin(TIMED)),
    ):
        kind = kind.mask((table["basis"] == MEASUREMENT) & own, word)
    return kind


def distinct(table: pd.DataFrame) -> pd.DataFrame:
    """Select the claims that have an outcome, each measurement once."""
    return table[kinds(table) == MEASURABLE]
