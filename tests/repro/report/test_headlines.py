"""Headlines and conclusions of a paper."""

import pandas as pd
import pytest
from checkouts import ROOT

from skem.repro.ledger import sentences, stated_claims
from skem.repro.report import headlines

WORDS = sentences.read(ROOT / "config")
BASE = dict.fromkeys([*stated_claims.COLUMNS, "repeats", "depends_on", "agrees_with", "remark", "detail"], "")
BASE |= {"paper": "toy", "basis": "measurement"}
BASE |= dict.fromkeys(("standardised_difference", "low", "high"), float("nan"))


def number(id, value, measured, outcome, **how):
    own = {"id": id, "kind": "number", "quantity": "accuracy_pct", "dataset": "rice", "method": "skem"}
    return BASE | own | {"value": value, "measured": measured, "outcome": outcome} | how


def statement(id, outcome, **how):
    own = {"id": id, "kind": "statement", "expression": f"{id} is so", "measured": 1.0, "outcome": outcome}
    return BASE | own | how


WORSE = {"low": 92.5, "high": 94.3, "detail": "worse", "standardised_difference": -3.4}
CLAIMS = pd.DataFrame(
    [
        number("toy.rice", "95.0", 93.4204, "differs", **WORSE),
        number("toy.margin", "2", 1.793, "agrees"),
        statement("toy.first", "agrees"),
        statement("toy.second", "depends", agrees_with="the other folds"),
        statement("toy.third", "differs", remark="decided by: banana"),
        statement("toy.fourth", "open"),
        statement("toy.quoted", "quoted result", basis=""),
    ]
)
HEADLINE = {
    "claim": "toy.rice",
    "says": "SKEM reaches 95.0% on rice.",
    "why": "Ours leads by {toy.margin} points only.",
}


def test_a_headline_has_the_answer_both_numbers_and_the_reason():
    text = headlines.to_markdown([HEADLINE], CLAIMS, WORDS)
    assert text.startswith("1. **SKEM reaches 95.0% on rice.** *Differs.* Paper: 95.0%. Ours: 93.4")
    assert text.endswith("Ours leads by 1.8 points only.")
    assert "[92.5" in text


def test_conclusions_are_listed_by_outcome_and_numbers_are_not():
    assert headlines.conclusions("toy", CLAIMS, WORDS) == (
        "**Conclusions that hold: 1**\n\n- toy.first is so\n\n"
        "**Conclusions that depend on the interpretation of the paper: 1**\n\n"
        "- toy.second is so Agrees with “the other folds”.\n\n"
        "**Conclusions that do not hold: 1**\n\n- toy.third is so Deciding comparison: banana.\n\n"
        "Beside these, 1 open."
    )


@pytest.mark.parametrize(
    ("value", "measured", "shown"),
    [
        ("97.48", 97.322, "97.32"),
        ("2", 1.793, "1.8"),
        ("-15.85e3", -15654.24, "-15654"),
        ("", 0.0123, "0.012"),
        ("", 83.4, "83"),
        ("", float("nan"), "not measured"),
    ],
)
def test_a_measurement_has_the_decimals_of_the_printed_number_and_two_digits(value, measured, shown):
    assert headlines.ours({"value": value, "measured": measured}) == shown
