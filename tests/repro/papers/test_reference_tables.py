"""Tables of the papers are those of the reference, to the byte, if they are made from its values."""

import pytest
from claims import ROOT, STATED, page, reference_values

from skem.repro import papers
from skem.repro.config.documents import read_mapping
from skem.repro.files import write_table
from skem.repro.papers.hayashi2021 import tables as hayashi
from skem.repro.papers.sanderson2017 import tables as sanderson

SIZES = read_mapping(ROOT / "config/paper.yaml")["papers"]


@pytest.mark.parametrize(
    ("paper", "function", "files"),
    [
        ("sanderson2017", sanderson.tables, {"sanderson": "csv", "sanderson_timing": "timing_csv"}),
        ("hayashi2021", hayashi.table1, {"hayashi": "csv"}),
        ("hayashi2021", hayashi.table2, {"hayashi_images": "csv"}),
    ],
)
def test_tables(paper, function, files, tmp_path):
    settings = papers.settings(paper, ROOT / "config", SIZES[paper])
    made = function(reference_values(paper), STATED, settings)
    for name, csv in files.items():
        committed = ROOT / "results/reference/tables" / name
        assert page(name, made) == committed.with_suffix(".md").read_text(encoding="utf-8")
        write_table(tmp_path / f"{name}.csv", made[csv])
        assert (tmp_path / f"{name}.csv").read_bytes() == committed.with_suffix(".csv").read_bytes()
