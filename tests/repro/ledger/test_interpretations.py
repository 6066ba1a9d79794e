"""Ambiguities of a paper, and their effect on outcomes."""

import pytest

from skem.repro.ledger.decisions import Evaluation
from skem.repro.ledger.estimates import NotRun
from skem.repro.ledger.interpretations import Ambiguity, survey


def ambiguity(about, default, claims, **choices):
    labels = {name: {"label": label} for name, label in choices.items()}
    return Ambiguity(about=about, open="x", default=default, because="x", claims=claims, choices=labels)


AMBIGUITIES = {
    "ridge": ambiguity("the ridge", "some", ["*"], some="a ridge", none="no ridge"),
    "scale": ambiguity("the scale", "raw", ["a"], raw="as it is", unit="scaled"),
}


def affecting(claim):
    return {name: one for name, one in AMBIGUITIES.items() if one.affects(claim)}


def surveyed(details, claim="a"):
    """Survey a claim with a detail per interpretation, or none."""

    def evaluate(interpretation):
        detail = details.get(tuple(interpretation.choices.values()))
        if detail is None:
            raise NotRun("no such run")
        return Evaluation(detail, 1.0)

    return survey(affecting(claim), evaluate)


SOME_RAW, SOME_UNIT, NO_RAW, NO_UNIT = ("some", "raw"), ("some", "unit"), ("none", "raw"), ("none", "unit")


@pytest.mark.parametrize(
    ("details", "words"),
    [
        # One choice alone decides, or two, or the two together.
        ({SOME_RAW: "worse", SOME_UNIT: "holds", NO_RAW: "worse", NO_UNIT: "holds"}, "the scale"),
        ({SOME_RAW: "worse", NO_RAW: "better", SOME_UNIT: "holds"}, "the ridge and on the scale"),
        ({SOME_RAW: "worse", NO_RAW: "too few runs", NO_UNIT: "holds"}, "the ridge and on the scale"),
        # Open details contradict no other.
        ({SOME_RAW: "worse", NO_RAW: "undecided"}, ""),
    ],
)
def test_ambiguities_that_decide_an_outcome(details, words):
    found, depends_on = surveyed(details)
    assert (depends_on, len(found)) == (words, len(details))
    assert found[0].label == "a ridge, as it is"


def test_interpretations_that_were_not_run():
    found = surveyed({NO_RAW: "holds"})[0][0].evaluation
    assert found.note.startswith("evaluated with no ridge, as it is; the interpretation nearest the text")
    with pytest.raises(NotRun):
        surveyed({})
