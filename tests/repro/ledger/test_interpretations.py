"""Interpretations: the ambiguities that decide an outcome."""

from itertools import product

import pytest

from skem.repro.ledger.decisions import Evaluation
from skem.repro.ledger.interpretations import Ambiguity, survey

AMBIGUITIES = {
    name: Ambiguity(
        about=f"the {name}",
        open="It is not stated.",
        default="a",
        because="Either will do.",
        claims=["*"],
        choices={choice: {"label": f"{name} {choice}"} for choice in "ab"},
    )
    for name in ("scale", "width")
}


@pytest.mark.parametrize(
    ("details", "decides"),
    [
        (["holds", "holds", "fails", "fails"], "the scale"),
        (["holds", "undecided", "fails", "undecided"], "the scale"),
        # Outcomes that decide nothing count if no others differ, and some agree.
        (["holds", "holds", "undecided", "undecided"], "the scale"),
        (["fails", "fails", "undecided", "undecided"], ""),
        (["holds", "undecided", "undecided", "undecided"], "the scale and on the width"),
    ],
)
def test_deciding_ambiguities(details, decides):
    of_choices = dict(zip(product("ab", "ab"), details, strict=True))

    def evaluate(interpretation):
        return Evaluation(of_choices[tuple(interpretation.choices.values())])

    assert survey(AMBIGUITIES, evaluate)[1] == decides
