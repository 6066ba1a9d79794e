"""The evaluator of claims, on rows and results of a toy paper; the bytes of the committed claims hold what rows of the papers use."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from claims import PAPERS, ROOT
from scipy import stats

from skem.repro.ledger import cells, rows, summary
from skem.repro.ledger.cells import Evidence
from skem.repro.ledger.decisions import NOT_COMPARABLE
from skem.repro.ledger.estimates import Estimate, NotRun, Unknown
from skem.repro.ledger.evaluator import Evaluator

ROW = {"paper": "toy2000", "kind": "number", "quantity": "accuracy_pct", "setting": "", "expression": ""}
ROW |= {"external": "no", "dataset": "rice", "method": "a", "trials": "", "spread": "", "spread_kind": ""}
ACCURACY = {("rice", "a"): 90.0, ("rice", "b"): 80.0}
VALUES = pd.DataFrame(
    {"dataset": d, "method": m, "run": run, "accuracy": mean + 0.1 * (run - 4.5)}
    for (d, m), mean in ACCURACY.items()
    for run in range(10)
)
METRICS = "metrics: {accuracy: {table: values}}\nnames: {both: {a: method A, b: method B}}\n"


def claim(id="toy.x", **changes):
    return ROW | {"id": id, "value": "90.0"} | changes


def evaluator(row, claims=(), tables=None, **functions):
    """An evaluator with one row, or the rows of several ids."""
    document = yaml.safe_load(METRICS)
    document["claims"] = (
        row if all(isinstance(own, dict) for own in row.values()) and "x" in row else {"x": row}
    )
    own = rows.Rows(rows.ClaimsFile.model_validate(document))
    functions = {**cells.FUNCTIONS, **functions}
    evidence = Evidence({"values": VALUES} if tables is None else tables, own.metrics, functions, None, None)
    return Evaluator(own, evidence, {one["id"]: one for one in claims}, own.file.names)


def evaluate(row, own=None, **more):
    own = own or claim(kind="statement", value="")
    return evaluator(row, [own], **more).evaluate(own)


CELL = {"metric": "accuracy", "dataset": "rice", "method": "a"}
ABOVE = {"left": CELL, "right": {"method": "b"}}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (
            {"left": CELL | {"metric": "acuracy"}, "right": 0},
            "metric 'acuracy' is unknown; did you mean accuracy?",
        ),
        ({"for": {"m": "bot"}, **ABOVE}, "name 'bot' is unknown; did you mean both?"),
        ({"function": "hal"}, "function 'hal' is unknown"),
        ({"says": "So."}, "no row measures it"),
    ],
)
def test_an_unknown_word_ends_the_evaluation_with_its_place(row, fault):
    with pytest.raises(Unknown, match=r"claims\.\S*x: " + re.escape(fault)):
        evaluate(row)


@pytest.mark.parametrize(
    ("relation", "left", "right", "slack", "detail"),
    [
        (">", 2, 1, 0, "holds"),
        (">", 1, 2, 0, "fails"),
        (">", 1, 1, 0, "fails"),
        (">=", 1, 1, 0, "holds"),
        (">", 1, 2, 1.5, "holds"),
        ("not above", 2, 1, 1.5, "holds"),
        ("not above", 3, 1, 1.5, "fails"),
        ("not above", -9, 1, 1.5, "holds"),
        ("within", 2, 1, 1.5, "holds"),
        ("within", -9, 1, 1.5, "fails"),
    ],
)
def test_relations(relation, left, right, slack, detail):
    found = evaluate({"left": left, "relation": relation, "right": right, "slack": slack})
    assert found.detail == detail
    if slack:
        assert found.measured == left - right  # not the distance from the slack


@pytest.mark.parametrize(
    ("need", "detail"),
    [("all", "fails"), ("any", "holds"), ("most", "holds"), (0.6, "holds"), (0.7, "fails")],
)
def test_how_many_comparisons_must_hold(need, detail):
    row = {"for": {"k": [1, 2, 3]}, "left": 2.5, "right": "$k", "need": need, "what": "at {k}"}
    found = evaluate(row)
    assert found.detail == detail
    assert found.note.startswith("decided by: at ")
    assert "2 of 3 comparisons hold at 95%" in found.note


def test_values_without_results_are_left_out_if_the_row_says_so():
    listed = {"for": {"d": ["rice", "wine"]}, **CELL, "dataset": "$d"}
    row = {
        "if_run": True,
        "terms": {"of": listed},
        "for": {"d": ["rice", "wine"]},
        "left": CELL | {"dataset": "$d"},
    }
    row |= {"right": 0, "note": "{of:.0f}, without {of.missing}"}
    assert evaluate(row).note == "rice 90, without wine"
    for changes in ({"if_run": False}, {"for": {"d": ["wine"]}}):
        with pytest.raises(NotRun, match="accuracy of a on wine was not part of this run"):
            evaluate(row | changes)


def test_a_claim_is_not_comparable_with_and_without_results():
    row = {"number": CELL, "not_comparable": "another machine"}
    measured = evaluate(row, claim())
    assert (measured.detail, measured.measured) == (NOT_COMPARABLE, pytest.approx(90))
    missing = evaluate(row, claim(), tables={})
    assert missing.note == "another machine; accuracy of a on rice was not part of this run"


@pytest.mark.parametrize(
    ("expression", "detail"),
    [
        ("[toy.x] > [toy.y]", "holds"),
        ("[toy.x] < [toy.y]", "fails"),
        ("[toy.x] >= [toy.x] and [toy.y] <= [toy.x]", "holds"),
        ("[toy.x] > [toy.cited] and [toy.y] > [toy.cited]", "fails"),  # quoted numbers count as printed
    ],
)
def test_a_formal_expression_compares_measured_numbers(expression, detail):
    numbers = [claim(), claim("toy.y"), claim("toy.cited", value="85.0", external="yes")]
    found = evaluator({"x": {"number": CELL}, "y": {"number": CELL | {"method": "b"}}}, numbers)
    assert found.evaluate(claim("toy.z", kind="ordering", expression=expression)).detail == detail


def test_a_resolution_refuses_wide_intervals():
    wide = {"noisy": lambda evidence: Estimate(90.0, 1.0, 9)}
    assert (
        evaluate({"number": {"metric": "noisy"}, "resolution": 4.5}, claim(), **wide).detail == "too few runs"
    )
    beside = [claim(), claim("toy.y", value="80.0"), claim("toy.z", value="200.0")]
    found = evaluator({"number": {"metric": "noisy"}, "resolution": ["x", "y"]}, beside, **wide)
    assert found.evaluate(claim()).detail == "reproduced"  # 10 is their range


def test_a_printed_spread_is_that_of_the_papers_trials():
    """Where the paper's trials are folds, the spread over repetitions says nothing about it."""
    own = claim(spread="2.0", spread_kind="1sigma", trials="5")
    over_repetitions = Estimate(90.0, 0.3, 25)
    over_folds = replace(over_repetitions, spread=Estimate(1.8, dof=100))

    def spread(estimate, **keys):
        return evaluate({"number": {"metric": "made"}} | keys, own, made=lambda evidence: estimate).spread

    assert spread(over_repetitions).detail == "lower"
    assert spread(over_repetitions, trials=1) is None
    found = spread(over_folds, trials=1)
    assert (found.detail, found.measured) == ("reproduced", 1.8)
    low, high = 1.8 * np.sqrt(stats.f.ppf([0.025, 0.975], 4, 100))
    assert (found.low, found.high) == pytest.approx((low - 0.05, high + 0.05))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "accuracy of a on rice was not read: .*No such file"),
        ("dataset,method,run,accuracy\nrice,a,0,9", "values.csv is damaged"),
        ("dataset,method,run\nrice,a,0\n", "accuracy of a on rice has no number"),
        (
            "dataset,run,accuracy\nrice,0,90\n",
            "accuracy of a on rice was not measured: values has no column method",
        ),
        ("", "values.csv is damaged"),
    ],
)
def test_a_file_of_values_that_is_missing_or_truncated_leaves_its_claims_not_run(content, reason, tmp_path):
    path = tmp_path / "values.csv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    tables, missing = cells.read({"values": path})
    found = evaluator({"number": CELL}, tables=tables)
    found = replace(found, evidence=replace(found.evidence, missing=missing))
    with pytest.raises(NotRun, match=reason):
        found.evaluate(claim())
    table, _ = summary.ledger(pd.DataFrame([claim()]), found.evaluate)
    assert table["detail"].tolist() == ["not run"]


@pytest.mark.parametrize("name", PAPERS)
def test_the_tests_that_verify_claims_exist(name):
    for id, row in rows.read(ROOT / "config")[name].file.claims.items():
        for place in (part for part in row.get("verified", "").split("; ") if "::" in part):
            path, test = place.split()[-1].split("::")
            assert f"def {test.split(',')[0]}(" in (ROOT / path).read_text(encoding="utf-8"), id
