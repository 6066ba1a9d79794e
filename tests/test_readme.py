"""The README shows what the last reference run measured."""

from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_table_is_that_of_the_reference_run():
    heading, table = (ROOT / "results/reference/tables/table1.md").read_text(encoding="utf-8").split("\n", 1)
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("<!-- table1 -->")[1]
    assert heading == "## Table 1 of Pulford (2022)"
    assert shown.split("<!-- /table1 -->")[0].strip() == table.strip()
