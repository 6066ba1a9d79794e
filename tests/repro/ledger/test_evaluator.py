"""The evaluator of claims, on rows and results of a toy paper."""

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
from skem.repro.ledger.decisions import NOT_COMPARABLE, QUOTED, VERIFIED, Evaluation
from skem.repro.ledger.estimates import Estimate, NotRun, Unknown
from skem.repro.ledger.evaluator import Evaluator
from skem.repro.ledger.interpretations import Interpretation, Replacement

ROW = {"paper": "toy2000", "kind": "number", "quantity": "accuracy_pct", "setting": "", "expression": ""}
ROW |= {"external": "no", "dataset": "rice", "method": "a", "trials": "", "spread": "", "spread_kind": ""}
ACCURACY = {("rice", "a"): 90.0, ("rice", "b"): 80.0, ("iris", "a"): 70.0, ("iris", "b"): 75.0}
VALUES = pd.DataFrame(
    {"dataset": d, "method": m, "run": run, "accuracy": mean + 0.1 * (run - 4.5)}
    for (d, m), mean in ACCURACY.items()
    for run in range(10)
)
METRICS = (
    "metrics: {accuracy: {table: values}}\nnames: {both: {a: method A, b: method B}, sets: {rice: [a, b]}}\n"
)


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


def test_each_kind_of_row():
    assert evaluate({"verified": "tests/test_toy.py::test_sum"}).detail == VERIFIED
    assert evaluate({"settled": "fails", "note": "not as printed"}).note == "not as printed"
    with pytest.raises(NotRun, match="is gone"):
        evaluate({"settled": "not run", "note": "the server is gone"})
    assert evaluate({"number": CELL}, claim()).detail == "reproduced"
    assert evaluate(ABOVE).detail == "holds"
    called = {"function": "half", "with": {"of": "$both"}}
    half = evaluate(called, half=lambda evidence, claim, of: Evaluation("holds", note="".join(of)))
    assert (half.detail, half.note) == ("holds", "ab")
    assert evaluate({"number": CELL}, claim(external="yes")).detail == QUOTED


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


def test_loops_name_values_and_neighbours():
    row = {"for": {"d": ["rice", "iris"], "m": "both"}, "left": 100}
    row |= {"right": CELL | {"dataset": "$d", "method": "$m"}, "what": "{m} on {d}"}
    assert "decided by: method A on rice; 4 of 4" in evaluate(row).note
    pairs = {"for": {"m": {"pairs": "both"}}, "left": CELL | {"method": "$m"}, "right": {"method": "$m_next"}}
    assert evaluate(pairs | {"what": "{m} over {m_next}"}).measured == pytest.approx(10)
    looked_up = {"for": {"d": ["rice"], "m": "sets[d]"}, "left": CELL | {"method": "$m"}, "right": 0}
    assert "2 of 2" in evaluate(looked_up).note


def test_columns_with_several_values_are_averaged_run_by_run():
    both = evaluate({"left": CELL | {"method": ["a", "b"]}, "right": 0})
    assert (both.measured, both.n) == (pytest.approx(85), 10)
    assert evaluate({"left": CELL | {"dataset": "all"}, "right": 0}).measured == pytest.approx(80)


def test_terms_of_rows():
    terms = {"best": {"for": {"m": "both"}, "highest": True, **CELL, "dataset": "iris", "method": "$m"}}
    terms["gain"] = CELL | {"minus": {"method": "b"}}
    terms["printed"] = {"claim": "toy.x", "minus": 0.5}
    texts = "best {best:.1f}, gain {gain:.1f} [{gain.low:.1f}, {gain.high:.1f}], printed {printed:.1f}"
    found = evaluate({"terms": terms, "left": "best", "right": "gain", "note": texts}, claim())
    assert found.measured == pytest.approx(65)
    assert found.note == "best 75.0, gain 10.0 [10.0, 10.0], printed 89.5"


def test_texts_list_terms():
    listed = {"for": {"m": "both"}, **CELL, "method": "$m"}
    nested = listed | {"for": {"d": ["rice", "iris"], "m": "both"}, "dataset": "$d"}
    row = {"terms": {"one": listed, "two": nested, "flat": nested | {"as": "{m} on {d}"}}}
    row |= {"settled": "holds", "note": "{one:.0f}; {one::.1f%}; {one}; {two:.0f| and |; }; {flat:.0f}"}
    assert evaluate(row).note == (
        "method A 90, method B 80; method A: 90.0%, method B: 80.0%; method A, method B; "
        "rice 90 and 80; iris 70 and 75; method A on rice 90, method B on rice 80, method A on iris 70, method B on iris 75"
    )


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


def test_patterns_have_wildcards_and_exact_ids_precede_them():
    several = {
        "x": {"remark": "exact"},
        "table.*": {"remark": "by hand"},
        "table.{dataset}.{method}": {"number": CELL | {"dataset": "$dataset", "method": "$method"}},
        "table.*.best": {"settled": "holds"},
        "table.iris.a": {"number": 1},
    }
    found = evaluator(several)
    b, best, exact = (claim(f"toy.table.{name}", value="80.0") for name in ("rice.b", "rice.best", "iris.a"))
    assert found.evaluate(b).detail == "reproduced"
    assert found.evaluate(b).note == "by hand"
    with pytest.raises(NotRun):  # the first of two patterns
        found.evaluate(best)
    assert found.evaluate(exact).measured == 1.0


def test_a_repeated_claim_is_measured_as_the_first():
    found = evaluator({"x": {"number": CELL}, "y": {"repeats": "x"}})
    again = claim("toy.y")
    assert found.evaluate(again).measured == pytest.approx(90)
    table, _ = summary.ledger(pd.DataFrame([again]), found.evaluate, {"toy2000": found.rows})
    assert table["repeats"].tolist() == ["toy.x"]


def test_a_choice_replaces_keys_of_a_row_and_cells():
    row = {"function": "never", "under": {"mean": {"paired": ABOVE}}}
    found, own = evaluator(row, never=None), claim(kind="statement")
    assert found.evaluate(own, Interpretation({"mean": "paired"})).detail == "holds"
    found = evaluator({"number": CELL})
    other = Replacement.model_validate({"where": {"table": "values", "method": "a"}, "with": {"method": "b"}})
    assert found.evaluate(claim(), Interpretation({}, ([other],))).measured == pytest.approx(80)
    gone = Replacement.model_validate({"where": {"dataset": ["iris", "rice"]}, "untrained": True})
    with pytest.raises(NotRun, match="a on rice is not trained under this interpretation"):
        found.evaluate(claim(), Interpretation({}, ([gone],)))


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
