"""Tables and figures of the papers are those of the reference, to the byte, if they are made from its values."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from claims import ROOT, STATED, page, reference_values

from skem.repro import papers
from skem.repro.config.documents import read_mapping
from skem.repro.files import read_table, write_table
from skem.repro.papers.hayashi2021 import tables as hayashi
from skem.repro.papers.sanderson2017 import tables as sanderson

REFERENCE = ROOT / "results/reference"
SIZES = read_mapping(ROOT / "config/paper.yaml")["papers"]
TABLES = {
    "advantage": ["tables/arrangements", "tables/starts", "tables/starts40"],
    "figure5": ["tables/arrangements"],
    "figures2to4": ["tables/arrangements"],
    "hayashi_components": ["values/hayashi2021_components_raw"],
    "sanderson_figure2_timing": ["tables/sanderson_timing"],
    "specifications": ["interpretations"],
}
"""Tables of figures. All others have their rows alone, as the reference does not keep the results of their jobs."""


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
        committed = REFERENCE / "tables" / name
        assert page(name, made) == committed.with_suffix(".md").read_text(encoding="utf-8")
        write_table(tmp_path / f"{name}.csv", made[csv])
        assert (tmp_path / f"{name}.csv").read_bytes() == committed.with_suffix(".csv").read_bytes()


FIGURES = [(paper, name) for paper in papers.names() for name in papers.figures(paper)]


@pytest.mark.parametrize(("paper", "name"), [one for one in FIGURES if one[1] != "figure1_timing"])
def test_figures(paper, name, tmp_path):
    """Their rows, and the size of their drawing."""
    figure = papers.figures(paper)[name]
    paths = [REFERENCE / f"{table}.csv" for table in TABLES.get(name, [f"figures/{name}"])]
    tables = {"boundaries" if "hayashi_figure" in name else path.stem: read_table(path) for path in paths}
    rows, axes = figure.drawn(tables, papers.settings(paper, ROOT / "config", SIZES.get(paper)))
    write_table(tmp_path / "rows.csv", rows)
    committed = REFERENCE / "figures" / name
    assert (tmp_path / "rows.csv").read_bytes() == committed.with_suffix(".csv").read_bytes()
    drawing = np.atleast_1d(axes).flat[0].figure
    size = re.search(r'width="([0-9.]+)pt" height="([0-9.]+)pt"', committed.with_suffix(".svg").read_text())
    assert np.array(size.groups(), float) / 72 == pytest.approx(drawing.get_size_inches(), abs=0.01)
    plt.close(drawing)
