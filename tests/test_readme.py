"""The README shows what the last reference run measured."""

import re
from pathlib import Path

from skem import claims
from skem.files import read_table

ROOT = Path(__file__).parents[1]


def test_the_table_is_that_of_the_reference_run():
    heading, table = (ROOT / "results/reference/tables/table1.md").read_text(encoding="utf-8").split("\n", 1)
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("<!-- table1 -->")[1]
    assert heading == "## Table 1 of Pulford (2022)"
    assert shown.split("<!-- /table1 -->")[0].strip() == table.strip()


def test_the_verdicts_are_those_of_the_reference_run():
    table = read_table(ROOT / "results/reference/claims.csv")
    expected = claims.counts(table[table["paper"] == "pulford2022"]).drop(columns="paper")
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("<!-- verdicts -->")[1]
    assert shown.split("<!-- /verdicts -->")[0].strip() == expected.to_markdown(index=False)


def test_every_file_that_the_readme_shows_is_there():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in re.findall(r"\]\((results/[^)]+)\)", text):
        assert (ROOT / path).exists(), path
