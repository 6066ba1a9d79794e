"""Checks of the file of claims."""

import pytest
from claims import PAPERS, STATED, WORDS

from skem.repro.config.documents import ConfigurationError
from skem.repro.ledger import stated_claims


def refusal(path):
    with pytest.raises(ConfigurationError) as caught:
        stated_claims.read(path, WORDS, PAPERS)
    return str(caught.value)


def test_all_faults_of_a_file_are_reported_together(tmp_path):
    broken = STATED.head(9).copy()
    broken.loc[0, "id"] = ""
    broken.loc[2, "id"] = broken.loc[1, "id"]
    broken.loc[3, "protocol"] = "the-best-of-all"
    broken.loc[4, ["kind", "value"]] = ["number", "ten"]
    broken.loc[5, "kind"] = "rumour"
    broken.loc[6, "trials"] = "some"
    broken.loc[7, ["spread", "spread_kind"]] = ["0.4", "2 sigma"]
    broken.loc[8, "paper"] = "pulford"
    path = tmp_path / "claims.csv"
    broken.to_csv(path, index=False)
    message = refusal(path)
    for words in (
        *("row 2 (): has no id", "row 4 (pulford.abstract.exact_if_independent): id occurs twice"),
        *("'the-best-of-all'", "'ten'", "'rumour'", "'some'", "'2 sigma'"),
        "paper is 'pulford'; allowed: hayashi2021, pulford2022",
    ):
        assert words in message
    assert message.count("\n") == 8  # a doubled id in both rows


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "not a CSV file in UTF-8"),
        ("id\xff", "not a CSV file in UTF-8"),
        ("id,paper\n", "columns are id, paper; needed: id, paper, place"),
        (",".join((*stated_claims.COLUMNS, "id")) + "\n", "needed: id"),
        (",".join(stated_claims.COLUMNS) + '\n"a,b\n', "not a CSV file"),
        (",".join(stated_claims.COLUMNS) + "\na,b\n", "row 2 (a): external is ''; allowed: yes, no"),
        (",".join(stated_claims.COLUMNS) + "\n" + 17 * "c," + "\n", "columns are"),
    ],
)
def test_a_file_that_is_no_table_of_claims(content, words, tmp_path):
    path = tmp_path / "claims.csv"
    path.write_bytes(content.encode("latin-1"))
    assert words in refusal(path)
    assert "nowhere.csv" in refusal(tmp_path / "nowhere.csv")
