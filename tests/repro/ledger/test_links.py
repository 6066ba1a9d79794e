"""Which claims are measurements, each counted once."""

import numpy as np
import pandas as pd
import pytest
from claims import ROOT, STATED

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.files import write_table
from skem.repro.ledger import links, stated_claims, summary
from skem.repro.ledger.verdicts import Judgement

LINKS = papers.links(STATED, ROOT / "config")


def test_what_the_papers_say_again_is_found():
    assert LINKS.repeats["pulford.table1.mnist.pskem_accuracy"] == "pulford.sec3-1.mnist.pskem_accuracy"
    stated = STATED.set_index("id")
    for id, first in LINKS.repeats.items():
        assert first not in LINKS.repeats
        # A conclusion need not say again of which data it is.
        same = stated.loc[id, "dataset"] in (stated.loc[first, "dataset"], "any")
        assert same or id.startswith("pulford.sec4.low_dim")
        if stated.loc[id, "kind"] == "number":  # 46.0 is 46.02
            assert round(float(stated.loc[first, "value"]), 1) == round(float(stated.loc[id, "value"]), 1)
    assert LINKS.resolution["rice", "accuracy_pct"] == pytest.approx(2)
    assert (
        LINKS.resolution["mnist", "peak_pass"] == LINKS.resolution["mnist", "peak_pass_min"] == 15
    )  # from 10 to 25


def test_how_far_the_cells_beside_a_claim_are_apart():
    claims = STATED.set_index("id", drop=False)
    for name, expected in {
        "hayashi.table1.ripley.gp_error": 0.2,
        "hayashi.table1.mean.gp_error": 0.03,
        "hayashi.table2.mnist_d10.sdgm": 0.86,
        "sanderson.table1.birch3.mlpack_log_likelihood": 1e4,
    }.items():
        assert links.apart(STATED, claims.loc[name].to_dict()) == pytest.approx(expected)


def test_how_wide_an_interval_may_be():
    claims = STATED.set_index("id", drop=False)
    wide = {
        name: LINKS.width(claims.loc[f"pulford.{name}"].to_dict())
        for name in (
            "sec3-2.rice.lda_accuracy",
            "sec3-2.ionosphere.margin",
            "sec3-3.std.k40.1x36",
            "sec3-1.mnist.n_train",
        )
    }
    # Between the paper's accuracies; a margin of four from none; between its spreads; of a fact nothing is asked.
    assert list(wide.values()) == [pytest.approx(2), 8, pytest.approx(2.4), None]


def test_a_measurement_is_counted_once_and_a_fact_not_at_all():
    def judge(claim, reading):
        return Judgement("cited" if claim["external"] == "yes" else "reproduced", 1.0, 0.9, 1.1)

    own = STATED[STATED["id"].str.contains("rice|skem_cost|table1.mnist.best_accuracy")]
    table, _ = summary.ledger(own[own["paper"] == "pulford2022"], judge, LINKS)
    once = summary.distinct(table).set_index("id")
    assert once.loc["pulford.sec3-2.rice.skem_accuracy", "told"] == 3
    assert not once.index.str.contains("table1.rice.skem|table1.rice.best|n_samples|skem_cost").any()
    counted = summary.counts(table).iloc[0]
    assert counted["measured"] == len(once) == counted["reproduced"]
    # Samples, features, classes; operations; 99.48 and what is in line with another paper.
    assert (counted["fact"], counted["definition"], counted["cited"]) == (3, 1, 2)
    assert counted[["measured", "told again", "fact", "definition", "cited"]].sum() == len(table)
    assert (table["half_width"] - 0.1).abs().max() < 1e-12
    text = summary.measured_to_markdown(table, ["pulford2022"])
    assert text.count("\n| sec3-2.rice.skem_accuracy") == 1
    assert "table1.rice.skem" not in text


def test_the_terminal_counts_as_the_claims_table_does(tmp_path):
    shared = {"paper": "one", "external": "no", "basis": "measurement", "repeats": "", "depends_on": ""}
    changes = (
        {"verdict": "reproduced"},
        {"verdict": "holds", "depends_on": "the split"},
        {"verdict": "worse"},
        {"verdict": "not run"},
        {"verdict": "reproduced", "repeats": "c0"},
        {"verdict": "cited", "external": "yes", "basis": ""},
    )
    rows = [
        dict.fromkeys(stated_claims.COLUMNS, "")
        | dict.fromkeys(("measured", "low", "high"), np.nan)
        | {"id": f"c{i}"}
        | shared
        | change
        for i, change in enumerate(changes)
    ]
    write_table(tmp_path / "claims.csv", rows)
    assert summary.overview(tmp_path / "claims.csv").to_dict("records") == [
        {"paper": "one", "measured": 4, "repeated claims": 1, "quoted result": 1}
        | {"agrees": 2, "differs": 1, "not run": 1, "depends on interpretation": 1}
    ]


def test_all_that_is_wrong_with_links_is_told_at_once():
    stated = pd.DataFrame(
        {
            "id": [*list("abcd"), "x.y"],
            "paper": 4 * ["one"] + ["two"],
            "dataset": "",
            "quantity": "",
            "value": "1",
        }
    )
    stated.loc[3, "value"] = ""
    entry = {
        "definitions": ["e"],
        "repeats": {"a": "b", "b": "c", "c": "a", "d": "x.y"},
        "resolution": {"rice": ["a", "d"]},
    }
    with pytest.raises(ConfigurationError) as caught:
        links.read(stated, {"one": {"claims": entry}})
    message = str(caught.value)
    assert "config/one.yaml: claims.repeats goes in a circle: a -> b -> c -> a" in message
    assert "claims.definitions names 'e', which is no claim of one" in message
    assert "claims.repeats names 'x.y', which is no claim of one" in message
    assert "claims.resolution.rice: 'a' and 'd' are not both numbers" in message
    assert message.count("\n") == 3
    with pytest.raises(ConfigurationError, match="circle: a -> a"):
        links.read(stated, {"one": {"claims": {"repeats": {"a": "a"}}}})
