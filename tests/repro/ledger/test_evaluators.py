"""The registry of evaluators: its dispatch, and the registries of the papers."""

from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pytest
from claims import BY_ID, ROOT
from scipy import stats

from skem.repro import papers
from skem.repro.ledger.estimates import Estimate, NotRun
from skem.repro.ledger.evaluators import Evaluators
from skem.repro.ledger.verdicts import NOT_COMPARABLE, QUOTED, VERIFIED, Evaluation

ROW = {"kind": "number", "quantity": "accuracy_pct", "setting": "", "expression": "", "external": "no"}
ROW |= {"trials": "", "spread": "", "spread_kind": ""}
CLAIMS = {
    f"toy.{name}": ROW | {"id": f"toy.{name}", "value": value}
    for name, value in {"a": "90.0", "b": "80.0", "cited": "85.0", "far": "10.0"}.items()
}


def ordering(expression):
    return ROW | {"id": "toy.ordering", "kind": "ordering", "expression": expression, "value": ""}


@pytest.fixture
def toy():
    toy = Evaluators("toy", verified={"sec1.sum": "tests/test_toy.py::test_sum"})

    @toy.measures("a", "b", "far", resolution=lambda evidence, claim: 5.0)
    def measure(evidence, claim):
        return Estimate(evidence[claim["id"]])

    @toy.evaluates("sec2.*")
    def stated(evidence):
        return Evaluation("holds")

    @toy.remarks("a")
    def remark(evidence):
        return evidence["remark"]

    return toy


EVIDENCE = {"toy.a": 90.0, "toy.b": 80.0, "toy.far": 20.0, "remark": "by hand"}


def test_a_claim_is_not_comparable_with_and_without_results(toy):
    toy.not_comparable("another machine", "a", "time")

    @toy.measures("time")
    def time(evidence):
        raise NotRun("the times were not part of this run")

    measured = toy.evaluate(EVIDENCE, CLAIMS["toy.a"], CLAIMS)
    assert (measured.verdict, measured.measured) == (NOT_COMPARABLE, 90.0)
    missing = toy.evaluate(EVIDENCE, CLAIMS["toy.b"] | {"id": "toy.time"}, CLAIMS)
    assert (missing.verdict, missing.note) == (
        NOT_COMPARABLE,
        "another machine; the times were not part of this run",
    )


def test_each_kind_of_claim_is_dispatched(toy):
    def verdict(claim):
        return toy.evaluate(EVIDENCE, claim, CLAIMS).verdict

    assert verdict(CLAIMS["toy.a"] | {"external": "yes"}) == QUOTED
    assert verdict(ROW | {"id": "toy.sec1.sum"}) == VERIFIED
    assert verdict(ROW | {"id": "toy.sec2.anything"}) == "holds"
    assert [verdict(CLAIMS[f"toy.{name}"]) for name in ("a", "far")] == ["reproduced", "better"]
    assert toy.evaluate(EVIDENCE, CLAIMS["toy.a"], CLAIMS).note == "by hand"


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("[toy.a] > [toy.b]", "holds"),
        ("[toy.a] < [toy.b]", "fails"),
        ("[toy.a] >= [toy.a] and [toy.b] <= [toy.a]", "holds"),
        ("[toy.a] > [toy.cited] and [toy.b] > [toy.cited]", "fails"),  # quoted numbers count as printed
    ],
)
def test_a_formal_expression_compares_measured_numbers(toy, expression, verdict):
    claim = ordering(expression)
    assert toy.supports(claim, CLAIMS)
    assert toy.evaluate(EVIDENCE, claim, CLAIMS).verdict == verdict


@pytest.mark.parametrize("expression", ["", "a is better than b", "[toy.a] > [toy.ordering]", "[toy.a] > 3"])
def test_a_claim_without_evaluator_is_unsupported(toy, expression):
    assert not toy.supports(ordering(expression), CLAIMS | {"toy.ordering": ordering("")})


def test_a_resolution_refuses_wide_intervals():
    toy = Evaluators("toy")
    toy.measures("a", resolution=lambda evidence, claim: 4.5)(lambda evidence: Estimate(90.0, 1.0, 9))
    found = toy.evaluate(None, CLAIMS["toy.a"], CLAIMS)
    assert found.verdict == "too few runs"


def test_a_printed_spread_is_that_of_the_papers_trials():
    """Where the paper's trials are folds, the spread over repetitions says nothing about it."""
    claim = CLAIMS["toy.a"] | {"spread": "2.0", "spread_kind": "1sigma", "trials": "5"}
    over_repetitions = Estimate(90.0, 0.3, 25)
    over_folds = replace(over_repetitions, spread=Estimate(1.8, dof=100))

    def spread(estimate, **cells):
        toy = Evaluators("toy")
        toy.measures("a", **cells)(lambda evidence: estimate)
        return toy.evaluate(None, claim, CLAIMS).spread

    assert spread(over_repetitions).verdict == "lower"
    assert spread(over_repetitions, trials="1") is None
    found = spread(over_folds, trials="1")
    assert (found.verdict, found.measured) == ("reproduced", 1.8)
    low, high = 1.8 * np.sqrt(stats.f.ppf([0.025, 0.975], 4, 100))
    assert (found.low, found.high) == pytest.approx((low - 0.05, high + 0.05))


def test_a_remark_without_results_is_left_out(toy):
    @toy.remarks("b")
    def missing(evidence):
        raise NotRun("no such run")

    assert toy.evaluate(EVIDENCE, CLAIMS["toy.b"], CLAIMS).note == ""


@pytest.mark.parametrize("name", papers.names())
def test_every_claim_of_a_paper_has_an_evaluator_and_every_evaluator_a_claim(name):
    own = [claim for claim in BY_ID.values() if claim["paper"] == name]
    evaluators = papers.load(name).EVALUATORS
    assert not [claim["id"] for claim in own if not evaluators.supports(claim, BY_ID)]
    assert not [id for id in evaluators.ids if not any(fnmatchcase(claim["id"], id) for claim in own)]


@pytest.mark.parametrize("name", papers.names())
def test_the_tests_that_verify_claims_exist(name):
    for id, note in papers.load(name).EVALUATORS.verified.items():
        for place in (part for part in note.split("; ") if "::" in part):
            path, test = place.split()[-1].split("::")
            assert f"def {test.split(',')[0]}(" in (ROOT / path).read_text(encoding="utf-8"), id
