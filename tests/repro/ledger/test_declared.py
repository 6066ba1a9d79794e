"""Rows of claims are checked before any job."""

import pytest
import yaml
from claims import PAPERS, ROOT, STATED

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.ledger import sentences

PAPER = papers.settings("titsias2001", ROOT / "config")
CELL = {"metric": "error", "dataset": "pima", "method": "rbf", "n_components": 6}
ID = "sec4.pima.rbf_better"


@pytest.mark.parametrize("name", PAPERS)
def test_the_rows_of_the_papers_are_sound(name):
    papers.check(name, STATED, papers.settings(name, ROOT / "config"), ROOT / "config")


def faults(config, row, id=ID):
    """The faults of the file of Titsias and Likas (2001) with a row replaced."""
    path = config / "claims/titsias2001.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    document = yaml.safe_load((ROOT / "config/claims/titsias2001.yaml").read_text(encoding="utf-8"))
    document["claims"][id] = row
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        papers.check("titsias2001", STATED, PAPER, config)
    return str(caught.value).replace(str(config), "config")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"left": CELL | {"datset": "pima"}}, "column of error 'datset' is unknown; did you mean dataset?"),
        ({"left": CELL | {"method": "lambda25"}}, "method 'lambda25' is unknown; did you mean lambda025?"),
        ({"left": CELL | {"metric": "eror"}}, "metric 'eror' is unknown; did you mean error?"),
        ({"left": CELL | {"n_components": 4}}, "no run has error of rbf on pima, n_components = 4"),
        ({"left": CELL | {"method": "$lambda"}}, "name 'lambda' is unknown; did you mean lambdas?"),
        ({"for": {"l": "lamdas"}}, "name 'lamdas' is unknown; did you mean lambdas?"),
        ({"left": "averge", "terms": {"average": CELL}}, "term 'averge' is unknown; did you mean average?"),
        (
            {"note": "{averge:.1f}", "terms": {"average": CELL}},
            "name 'averge' is unknown; did you mean average?",
        ),
        ({"right": {"claim": "titsias.table3.pima.rbf"}}, "number 'titsias.table3.pima.rbf' is unknown"),
        (
            {"left": {"metric": "selected", "amongst": ["rbf"]}},
            "argument of selected 'amongst' is unknown; did you mean among?",
        ),
        (
            {"left": {"metric": "selected", "among": ["rbf"]}},
            "selected needs dataset; it takes among, dataset",
        ),
        ({"under": {"pima": {"as-is": {"right": 0}}}}, "under.pima names 'as-is'; did you mean as-it-is?"),
        ({"number": CELL}, "has number and left; a claim is measured in one way"),
    ],
)
def test_a_row_with_an_unknown_word_is_one_line_with_the_nearest_known_one(changes, fault, tmp_path):
    message = faults(tmp_path, {"left": CELL, "right": {"method": "averaging"}} | changes)
    assert f"claims.{ID}" in message
    assert fault in message
    assert message.startswith("config/claims/titsias2001.yaml: claims.")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"lft": CELL, "right": 0}, f"unknown key claims.{ID}.lft; did you mean left?"),
        (
            {"left": CELL, "relation": "=", "right": 0},
            f"claims.{ID}.relation is '='; did you mean >=? allowed: >, >=, not above, within",
        ),
        ({"left": CELL, "relation": "notabove", "right": 0}, "did you mean not above?"),
        ({"settled": "hold"}, "did you mean holds?"),
    ],
)
def test_a_row_with_a_wrong_key_or_relation(row, fault, tmp_path):
    assert fault in faults(tmp_path, row)


def test_claims_without_a_row_and_rows_without_a_claim(tmp_path):
    message = faults(tmp_path, {"says": "So."})
    assert f"no row measures titsias.{ID}" in message
    message = faults(tmp_path, {"settled": "holds"}, "sec4.pima.rbf_beter")
    assert f"claims.sec4.pima.rbf_beter: there is no such claim; did you mean {ID}?" in message
    message = faults(tmp_path, {"repeats": "sec4.averaging"}, "sec4.averaging_best.clouds")
    assert "claims.sec4.averaging_best.clouds.repeats names 'sec4.averaging'; did you mean" in message
    assert "measures a number, and titsias.sec4.pima.rbf_better is of kind ordering" in faults(
        tmp_path, {"number": CELL}
    )
    assert f"claims.{ID}: right is missing" in faults(tmp_path, {"left": CELL})
    message = faults(tmp_path, {"function": "best_of_colum"})
    assert "function 'best_of_colum' is unknown; did you mean best_of_column?" in message


def test_a_wrong_file_of_words(tmp_path):
    path = tmp_path / "claims/toy2000.yaml"
    path.parent.mkdir()
    path.write_text("method: {toy: the toy}\nprotocols: {cv5: luck}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="unknown key method; did you mean methods") as caught:
        sentences.read(tmp_path)
    assert "protocols.cv5 is 'luck'; allowed: " in str(caught.value)
