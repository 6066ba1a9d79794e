"""The claims tables of all papers."""

import re
import shutil

import pandas as pd
import pytest
from claims import BY_ID, PAPERS, ROOT, evaluator, reference_values

from skem.repro import papers
from skem.repro.files import read_table
from skem.repro.ledger import rows, summary
from skem.repro.papers import ledgers


def test_the_claims_follow_from_the_committed_values(tmp_path, monkeypatch):
    """To the byte; a file with another byte is named."""
    monkeypatch.chdir(ROOT)
    committed, reference = ROOT / "results/reference", tmp_path / "reference"
    reference.mkdir()
    (reference / "values").symlink_to(committed / "values")
    for name in ledgers.FILES.values():
        shutil.copy(committed / name, reference)
    with (reference / "claims.md").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert ledgers.recompute(reference, tmp_path / "found") == ["claims.md"]


def without_runs(path):
    columns, _, _ = path.read_text().partition("\n")
    return columns + "\n"


def broken_off(path):
    return path.read_text()[:1000]


def one_run(path):
    """Cut off behind a line."""
    return "".join(path.read_text().splitlines(keepends=True)[:2])


def without_numbers(path):
    """All columns but those that number runs, and those that functions use."""
    metrics = [metric for own in rows.read(ROOT / "config").values() for metric in own.metrics.values()]
    lost = {column for metric in metrics for column in (metric.by, *metric.also)}
    return read_table(path).drop(columns=lost, errors="ignore").to_csv(index=False)


@pytest.mark.parametrize("damage", [without_runs, broken_off, one_run, without_numbers])
@pytest.mark.parametrize("paper", PAPERS)
def test_claims_without_their_values_are_not_run(paper, damage, tmp_path, monkeypatch):
    """A missing, empty or truncated file, or a missing column, leaves its claims "not run" with the reason."""
    monkeypatch.chdir(ROOT)
    files = {}
    for path in sorted((ROOT / "results/reference/values").glob(f"{paper}_*.csv")):
        name = path.stem.removeprefix(f"{paper}_")
        files[name] = tmp_path / path.name
        files[name].write_text(damage(path))
    table, _ = ledgers.evaluate([paper], {paper: files}, {paper: papers.settings(paper)})
    missing = table[table["detail"] == "not run"]
    assert len(missing) > 10
    assert missing["remark"].str.len().min() > 0
    if damage is not one_run:
        assert not table["measured_by"].isin(["final_iteration", "test_selected_iteration"]).any()


@pytest.mark.parametrize(
    ("id", "table", "lost", "detail", "remark"),
    [
        # A comparison of several data sets needs all of them, if its row does not say otherwise.
        ("pulford.sec4.low_dim_wins", "values", "dataset == 'rice'", "not run", "on rice"),
        ("sanderson.sec4.spread_seeding_quality", "seeds", "dataset == 'ozone'", "fails", "ten iterations"),
        (
            *("pulford.table1.rice.skem_accuracy", "values", "dataset == 'rice' and method == 'in_order'"),
            *("worse", "the interpretation nearest the text was not part of this run"),
        ),
    ],
)
def test_claims_of_partial_results(id, table, lost, detail, remark):
    paper = BY_ID[id]["paper"]
    tables = reference_values(paper)
    found = evaluator(paper, tables | {table: tables[table].query(f"not ({lost})")})
    claims, _ = summary.ledger(pd.DataFrame([BY_ID[id]]), found.evaluate, found.rows)
    assert claims["detail"].item() == detail
    assert remark in claims["remark"].item()


@pytest.mark.parametrize("name", PAPERS)
def test_the_tests_that_claims_name_exist(name):
    for id, row in rows.read(ROOT / "config")[name].file.claims.items():
        for path, test in re.findall(r"(tests/\S+)::(\w+)", str(row)):
            assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), id
