"""The claims table: relations between claims, and counts."""

import numpy as np
import pandas as pd
import pytest
from claims import BY_ID, ROOT, STATED

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.files import write_table
from skem.repro.ledger import links, stated_claims, summary
from skem.repro.ledger.verdicts import QUOTED, Evaluation
from skem.repro.papers import measured

LINKS = papers.links(STATED, ROOT / "config")


def test_repeated_claims_lead_to_the_first_of_the_same_measurement():
    assert LINKS.repeats["pulford.table1.mnist.pskem_accuracy"] == "pulford.sec3-1.mnist.pskem_accuracy"
    for id, first in LINKS.repeats.items():
        assert first not in LINKS.repeats
        if BY_ID[id]["kind"] == "number":  # 46.0 is 46.02
            assert round(float(BY_ID[first]["value"]), 1) == round(float(BY_ID[id]["value"]), 1)


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("sec3-2.rice.lda_accuracy", 2),  # between the paper's accuracies
        ("sec3-2.ionosphere.margin", 8),  # a margin of four, from none
        ("sec3-3.std.k40.1x36", 2.4),
        ("sec3-1.mnist.n_train", None),
    ],
)
def test_widest_interval_that_decides(name, width):
    assert LINKS.width(BY_ID[f"pulford.{name}"]) == pytest.approx(width)


@pytest.mark.parametrize(
    ("name", "expected"), [("hayashi.table1.ripley.gp_error", 0.2), ("hayashi.table2.mnist_d10.sdgm", 0.86)]
)
def test_range_of_the_cells_beside_a_claim(name, expected):
    assert measured.resolution(measured.Evidence({}, None, STATED), BY_ID[name]) == pytest.approx(expected)


def test_faults_of_relations_are_reported_together():
    stated = pd.DataFrame({"id": [*list("abcd"), "x.y"], "paper": [*4 * ["one"], "two"], "value": "1"})
    stated = stated.assign(dataset="", quantity="").replace({"value": {"1": "1"}})
    stated.loc[3, "value"] = ""
    entry = {"definitions": ["e"], "repeats": {"a": "b", "b": "c", "c": "a", "d": "x.y"}}
    with pytest.raises(ConfigurationError) as caught:
        links.read(stated, {"one": entry | {"resolution": {"rice": ["a", "d"]}}})
    message = str(caught.value)
    for words in (
        "config/one.yaml: claims.repeats leads to 'b', which repeats a claim itself",
        "claims.definitions names 'e', which is no claim of one",
        "claims.repeats names 'x.y', which is no claim of one",
        "claims.resolution.rice: 'a' and 'd' are not both numbers",
    ):
        assert words in message


def test_a_measurement_is_counted_once():
    def evaluate(claim, interpretation):
        return Evaluation(QUOTED if claim["external"] == "yes" else "reproduced", 1.0, 0.9, 1.1)

    own = STATED[STATED["id"].str.contains("pulford.*rice|skem_cost|table1.mnist.best_accuracy")]
    table, _ = summary.ledger(own, evaluate, LINKS)
    once = summary.distinct(table).set_index("id")
    assert once.loc["pulford.sec3-2.rice.skem_accuracy", "stated"] == 3
    counted = summary.counts(table).iloc[0]
    assert counted["measured"] == len(once) == counted["reproduced"]
    # Samples, features, classes; operations; 99.48 and the agreement with another paper.
    kinds = ["data-set property", "definition", "quoted result"]
    assert counted[kinds].tolist() == [3, 1, 2]
    assert counted[["measured", "repeated claim", *kinds]].sum() == len(table)
    text = summary.measured_to_markdown(table, ["pulford2022"])
    assert text.count("\n| sec3-2.rice.skem_accuracy") == 1
    assert "table1.rice.skem" not in text


def test_the_terminal_counts_as_the_claims_table_does(tmp_path):
    shared = dict.fromkeys(stated_claims.COLUMNS, "") | dict.fromkeys(("measured", "low", "high"), np.nan)
    shared |= {"paper": "one", "external": "no", "basis": "measurement", "repeats": "", "depends_on": ""}
    changes = (
        {"verdict": "reproduced"},
        {"verdict": "holds", "depends_on": "the split"},
        {"verdict": "worse"},
        {"verdict": "not run"},
        {"verdict": "reproduced", "repeats": "c0"},
        {"verdict": QUOTED, "external": "yes", "basis": ""},
    )
    rows = [shared | {"id": f"c{i}", "interpretations": 1} | change for i, change in enumerate(changes)]
    write_table(tmp_path / "claims.csv", rows)
    assert summary.overview(tmp_path / "claims.csv").to_dict("records") == [
        {"paper": "one", "measured": 4, "repeated claims": 1, "quoted result": 1}
        | {"agrees": 2, "differs": 1, "not run": 1, "depends on interpretation": 1}
    ]
