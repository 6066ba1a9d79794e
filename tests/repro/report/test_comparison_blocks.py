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


def test_ranks_stand_with_their_critical_difference_and_wins(reference):
    methods = ("discriminative_pskem_cv", "svm_rbf_search", "lightgbm_search", "lda")
    rows = [
        {"dataset": d, "method": m, "n_train": 9, "n_features": 2, "accuracy": a, "log_loss": 1 - a / 100}
        for d, values in (("glass", (90, 80, 80, 10)), ("sonar", (70, 75, 60, 20)), ("heart", (9, 8, 7, 6)))
        for m, a in zip(methods, values, strict=True)
    ]
    means = pd.DataFrame(rows).assign(calibration_error=1.0)
    table = summary.tables("test", {"test": means})["test_ranks"]
    write_table(reference.folder / "tables/comparison_test_ranks.csv", table)
    best = comparison_blocks.test_summary(reference)
    assert "| DiscriminativePSKEMClassifierCV | 1.3 | 1.3 |" in best
    assert "| LightGBM, chosen | 2.8 | 2.8 |" in best  # the only boosting
    assert comparison_blocks.critical_difference(reference) == "2.7"
    assert comparison_blocks.test_tables(reference) == "3"
    lines = comparison_blocks.test_ranks(reference).splitlines()
    assert "| DiscriminativePSKEMClassifierCV | 1.3 | 2-0-1 | 3-0-0 | - |" in lines
    assert "| LightGBM, chosen | 2.8 | 0-1-2 | - | 0-0-3 |" in lines


def test_budgets_are_candidates_and_seconds_of_all_fits(reference):
    (reference.folder / "values").mkdir()
    rows = [("glass", "svm_rbf_search", 1.4), ("glass", "svm_rbf_search", 1.5), ("sonar", "lda", 2.0)]
    for part in ("test", "categories"):
        seconds = pd.DataFrame(rows, columns=["dataset", "method", "fit"])
        write_table(reference.folder / f"values/comparison_{part}_timing.csv", seconds)
    lines = comparison_blocks.budgets(reference).splitlines()
    assert lines[0] == "| method | candidates | seconds, 2 test tables | seconds, 2 tables with categories |"
    assert "| RBF SVM, C and width chosen | 24 | 3 | 3 |" in lines
    assert "| LDA | 1 | 2 | 2 |" in lines
