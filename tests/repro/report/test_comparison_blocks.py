"""Blocks of pages on the test tables of the comparison, before and after the comparison is run."""

import shutil

import pandas as pd
import pytest
from checkouts import ROOT

from skem.repro.comparison import summary
from skem.repro.files import write_table
from skem.repro.report import comparison_blocks
from skem.repro.report.reference import Reference


@pytest.fixture
def reference(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "config").mkdir()
    shutil.copy(ROOT / "config/comparison.yaml", tmp_path / "config")
    return Reference(tmp_path, tmp_path / "config")


def test_without_results_pages_say_that_the_comparison_has_not_been_run(reference):
    for block in (comparison_blocks.test_summary, comparison_blocks.test_ranks, comparison_blocks.left_out):
        assert block(reference).endswith("has not been run.")
    empty = summary.tables("test", {"test": pd.DataFrame()})["test_ranks"]
    write_table(reference.folder / "tables/comparison_test_ranks.csv", empty)
    assert comparison_blocks.test_summary(reference) == comparison_blocks.NOT_RUN
