"""The claims table: relations between claims, and counts."""

import numpy as np
import pandas as pd
import pytest
from claims import BY_ID, ROOT

from skem.repro.ledger import rows, summary
from skem.repro.ledger.decisions import Evaluation
from skem.repro.ledger.estimates import half_a_digit

ROWS = rows.read(ROOT / "config")["pulford2022"]


def test_numbers_differ_exactly_beyond_two_standard_deviations():
    def found(value, half=1.96, detail="worse"):
        digit = half_a_digit(value)
        ends = {"low": 90 - half - digit, "high": 90 + half + digit, "unrounded": (90 - half, 90 + half)}
        return summary.standardised({"kind": "number", "value": value}, Evaluation(detail, 90.0, **ends))

    assert found("90") == found("90.0") == 0.0  # within the rounding
    assert found("92.0") == pytest.approx(-1.95)
    assert found("92.1") == pytest.approx(-2.05)
    assert found("87.0") == pytest.approx(2.95)
    assert np.isnan(found("91", half=0.0))
    assert np.isnan(found("99", detail="not comparable"))
    assert np.isnan(
        summary.standardised({"kind": "ordering", "value": ""}, Evaluation("holds", 1.0, 0.5, 1.5))
    )


@pytest.mark.parametrize(
    ("other", "word"), [("undecided", "open"), ("too few runs", "open"), ("not testable", "undecidable")]
)
def test_a_claim_differs_only_if_it_does_under_every_interpretation(other, word):
    def evaluate(claim, interpretation):
        is_default = "each-its-own" in interpretation.choices.values()
        return Evaluation("worse" if is_default else other, 92.5 + is_default, 92.0, 94.0)

    claim = pd.DataFrame([BY_ID["pulford.sec3-2.rice.lda_accuracy"]])
    table, _ = summary.ledger(claim, evaluate, ROWS)
    assert table["outcome"].tolist() == [word]
    assert table["remark"].str.match(f"differs with “.+”, {word} with “.+”").all()
