"""What a file of claims may hold."""

import pandas as pd
import pytest
from claims import ROOT, STATED, TITLES, WORDS

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.ledger import stated_claims


def test_the_committed_ledger_has_all_claims():
    assert STATED["paper"].value_counts().to_dict() == {
        "titsias2001": 236,
        "hayashi2021": 182,
        "pulford2022": 170,
        "sanderson2017": 103,
    }


def test_all_faults_of_a_file_are_told_at_once(tmp_path):
    broken = STATED.head(9).copy()
    broken.loc[0, "id"] = ""
    broken.loc[2, "id"] = broken.loc[1, "id"]
    broken.loc[3, "protocol"] = "the-best-of-all"
    broken.loc[4, ["kind", "value"]] = ["number", "ten"]
    broken.loc[5, "kind"] = "rumour"
    broken.loc[6, "trials"] = "some"
    broken.loc[7, "expression"] = "[pulford.nobody] > 3"
    broken.loc[8, ["spread", "spread_kind"]] = ["0.4", "2 sigma"]
    path = tmp_path / "claims.csv"
    broken.to_csv(path, index=False)
    with pytest.raises(ConfigurationError) as caught:
        stated_claims.read(path, WORDS, TITLES)
    message = str(caught.value)
    for words in (
        "no id",
        "2 times",
        "'the-best-of-all'",
        "'ten'",
        "'rumour'",
        "'some'",
        "'pulford.nobody'",
        "'2 sigma'",
    ):
        assert words in message
    assert message.count("\n") == 8  # a doubled id is told for both rows


def test_a_missing_column(tmp_path):
    path = tmp_path / "claims.csv"
    STATED.drop(columns="trials").to_csv(path, index=False)
    with pytest.raises(ConfigurationError, match="no column 'trials'"):
        stated_claims.read(path, WORDS, TITLES)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["claims.csv: empty", "columns id, paper"]),
        ("id,paper\n", ["there is no column 'place'", "there is no column 'note'"]),
        (",".join(stated_claims.COLUMNS) + ",id\n", ["column 'id' is there twice"]),
        (",".join(stated_claims.COLUMNS) + '\n"a,b\n', ["not valid CSV"]),
        (
            ",".join(stated_claims.COLUMNS) + "\na,b\n" + 17 * "c," + "\n",
            ["row 2 (a): 2 fields", "row 3 (c): 18", "16"],
        ),
        ("id\xff", ["UTF-8"]),
    ],
)
def test_what_is_no_table_of_claims(content, words, tmp_path):
    path = tmp_path / "claims.csv"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigurationError) as caught:
        stated_claims.read(path, WORDS, TITLES)
    for word in words:
        assert word in str(caught.value)
    with pytest.raises(ConfigurationError, match="there is no such file"):
        stated_claims.read(tmp_path / "nowhere.csv", WORDS, TITLES)


def test_a_torn_row_hides_no_other_fault(tmp_path):
    lines = (ROOT / "config" / "claims.csv").read_text(encoding="utf-8").splitlines()
    lines[3] += ",more"
    lines[5] = lines[5].replace("pulford2022", "pulford2202")
    (tmp_path / "claims.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        stated_claims.read(tmp_path / "claims.csv", WORDS, TITLES)
    torn, paper = str(caught.value).split("\n")
    assert "row 4 (pulford.abstract.better_and_cheaper): 17 fields, the first line has 16" in torn
    assert "row 6 " in paper
    assert "'pulford2202'" in paper


def test_the_cells_are_as_pandas_reads_them():
    table = pd.read_csv(ROOT / "config" / "claims.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(STATED, table)


def with_row(tmp_path, **changes):
    """The committed file and a number of Pulford (2022) with another id, changed."""
    row = STATED.set_index("id", drop=False).loc["pulford.table1.rice.skem_accuracy"].to_dict()
    table = pd.concat([STATED, pd.DataFrame([row | {"id": "pulford.new"} | changes])])
    table.to_csv(tmp_path / "claims.csv", index=False)
    return tmp_path / "claims.csv"


def test_a_paper_that_is_not_one_of_the_four(tmp_path):
    path = with_row(tmp_path, paper="pulford")
    with pytest.raises(
        ConfigurationError,
        match=r"row 693 .pulford\.new.: paper is 'pulford'; allowed: hayashi2021, pulford2022",
    ):
        stated_claims.read(path, WORDS, TITLES)


@pytest.mark.parametrize(
    ("changes", "judged"),
    [
        ({}, False),
        ({"external": "yes"}, True),
        ({"kind": "ordering", "expression": "skem is better than SVM"}, False),
        ({"kind": "ordering", "expression": "[pulford.table1.rice.skem_accuracy] > 90"}, True),
        ({"kind": "ordering", "expression": "[pulford.table1.rice.skem_accuracy]"}, False),
        # It exists, but is no number.
        ({"kind": "ordering", "expression": "[pulford.table1.rice.best_method] > 90"}, False),
        ({"kind": "ordering", "expression": "mean([titsias.table3.pima.rbf.*]) < 9 + [somewhere]"}, False),
        ({"kind": "ordering", "expression": "mean([titsias.table3.pima.rbf.*]) < min(90, 80)"}, True),
        ({"id": "titsias.new", "paper": "titsias2001", "kind": "statement"}, False),
        ({"id": "hayashi.new", "paper": "hayashi2021"}, True),  # not built: it needs no judge
    ],
)
def test_a_claim_that_nothing_could_judge_is_refused(changes, judged, tmp_path):
    path = with_row(tmp_path, **changes)
    stated_claims.read(path, WORDS, TITLES)
    if judged:
        stated_claims.read(path, WORDS, TITLES, papers.judges())
        return
    with pytest.raises(
        ConfigurationError, match=r"row 693 \(.*new\): no judge of .* knows this id"
    ) as caught:
        stated_claims.read(path, WORDS, TITLES, papers.judges())
    assert "\n" not in str(caught.value)  # all others can be judged
