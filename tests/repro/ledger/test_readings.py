"""What a paper leaves open, and what it does to a verdict."""

import pytest
from claims import ROOT, STATED

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.ledger.estimates import NotRun
from skem.repro.ledger.readings import Question, Reading, read, survey
from skem.repro.ledger.verdicts import Judgement

RIDGE = Question("ridge", "the ridge", "some", ("p.*",), {"some": "a ridge", "none": "no ridge"}, {})
SCALE = Question(
    "scale",
    "the scale",
    "raw",
    ("p.a",),
    {"raw": "as it is", "unit": "scaled"},
    {"unit": {"rice/skem": "rice_unit"}},
)
CLAIM = {"id": "p.a"}


def surveyed(verdicts, claim=CLAIM):
    """Of a verdict per reading, or none."""

    def judge(reading):
        found = verdicts.get(tuple(reading.options.values()))
        if found is None:
            raise NotRun("no such run")
        return Judgement(found, 1.0)

    return survey(claim, [RIDGE, SCALE], judge)


def test_a_verdict_depends_on_what_alone_turns_it():
    found = surveyed(
        {
            ("some", "raw"): "worse",
            ("some", "unit"): "reproduced",
            ("none", "raw"): "worse",
            ("none", "unit"): "reproduced",
        }
    )
    assert (found.words, found.agree, len(found.found)) == ("the scale", 2, 4)
    assert found.found[0].label == "a ridge, as it is"
    both = surveyed({("some", "raw"): "worse", ("none", "raw"): "better", ("some", "unit"): "reproduced"})
    assert both.words == "the ridge and on the scale"


def test_where_no_option_alone_turns_a_verdict_the_fewest_together_do():
    """Scaling alone was not run, and the ridge alone says nothing; yet the paper is reproduced with both."""
    found = surveyed(
        {("some", "raw"): "worse", ("none", "raw"): "too few runs", ("none", "unit"): "reproduced"}
    )
    assert (found.words, found.agree, len(found.found)) == ("the ridge and on the scale", 1, 3)
    same = surveyed({("some", "raw"): "worse", ("none", "raw"): "too few runs", ("none", "unit"): "worse"})
    assert same.words == ""


def test_what_is_open_turns_nothing_and_what_was_not_run_is_no_reading():
    found = surveyed({("some", "raw"): "worse", ("none", "raw"): "undecided"})
    assert (found.words, found.agree, len(found.found)) == ("", 1, 2)
    other = surveyed({("none", "raw"): "holds"})
    assert other.found[0].judgement.note.startswith(
        "judged by no ridge, as it is; by the reading nearest the text"
    )
    with pytest.raises(NotRun):
        surveyed({})


def test_an_option_that_changes_no_number_is_no_other_reading():
    def judge(reading):
        shift = reading.options["scale"] == "unit"
        return Judgement("worse", 1.0 + shift, 0.0 + shift, 2.0 + shift)

    assert [f.label for f in survey(CLAIM, [RIDGE, SCALE], judge).found] == [
        "a ridge, as it is",
        "a ridge, scaled",
    ]


def test_a_question_that_does_not_touch_a_claim_is_not_asked():
    found = surveyed({("some",): "holds", ("none",): "fails"}, {"id": "p.b"})
    assert (found.words, len(found.found)) == ("the ridge", 2)
    assert len(surveyed({(): "holds"}, {"id": "q.b"}).found) == 1


def test_what_is_looked_up_instead():
    reading = Reading(
        {}, ({"rice/skem": "rice/skem-ridge", "iris/*": "nothing"}, {"rice/skem*": "rice_unit"})
    )
    assert reading.where("rice", "skem") == ("rice_unit", "skem-ridge")
    assert reading.where("rice", "lda") == ("rice", "lda")
    with pytest.raises(NotRun):
        reading.where("iris", "lda")


def test_all_that_is_wrong_with_readings_is_told_at_once():
    entry = {"about": "x", "open": "x", "default": "c", "because": "x", "claims": ["p.*", "q.*"]}
    entry["options"] = {
        "a": {"label": "a"},
        "b": {"label": "b", "instead": {"rice/skem": "rice/nobody", "wheat/skem": "nothing"}},
    }
    with pytest.raises(ConfigurationError) as caught:
        read("p", {"readings": {"x": entry}}, {"p.a"}, {"rice/skem"}, {"x": ("z",)})
    message = str(caught.value)
    for words in (
        "config/p.yaml: readings.x: default is 'c'; its options are a, b",
        "readings.x.claims names 'q.*', which is no claim",
        "readings.x.options.a: nothing is trained instead, and no judge knows it; known: z",
        "readings.x.options.b.instead: 'rice/nobody' is in no experiment",
        "readings.x.options.b.instead: 'wheat/skem' is in no experiment",
    ):
        assert words in message
    assert message.count("\n") == 4


@pytest.mark.parametrize("name", ["pulford2022", "titsias2001"])
def test_the_readings_of_the_papers_are_sound(name):
    config = ROOT / "config"
    questions = papers.questions(name, STATED, papers.settings(name, config), config)
    assert questions
    for question in questions:
        assert any(question.touches(id) for id in STATED["id"])
