"""The papers' tables in their own layout."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from claims import ROOT, STATED
from matplotlib.colors import to_hex

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.drawing import captions
from skem.repro.files import write_table
from skem.repro.ledger import summary
from skem.repro.ledger.bars import STYLES
from skem.repro.tables import redrawn
from skem.repro.tables.pages import layouts

REFERENCE = ROOT / "results/reference"
CLAIMS = summary.read(REFERENCE / "claims.csv")


@pytest.mark.parametrize("paper", papers.names())
def test_cells_are_those_of_the_reference_and_every_figure_has_a_caption(paper, tmp_path):
    found = layouts(paper, ROOT / "config")
    for name, panels in found.items():
        write_table(tmp_path / "cells.csv", redrawn.cells(panels, CLAIMS, STATED))
        assert (tmp_path / "cells.csv").read_bytes() == (REFERENCE / f"figures/{name}.csv").read_bytes()
    assert set(found) <= set(captions(ROOT))


def test_a_cell_without_a_claim_is_refused():
    (panels,) = layouts("pulford2022", ROOT / "config").values()
    without = STATED[STATED["id"] != "pulford.table1.rice.skem_accuracy"]
    with pytest.raises(
        ConfigurationError, match=r"Table 1.*: 0 claims have an id like pulford\.table1\.rice"
    ):
        redrawn.cells(panels, CLAIMS, without)


def test_the_figure_has_the_colours_of_the_outcomes_and_counts_those_that_differ():
    cell = {"panel": "Table 1", "column": "Accuracy", "id": "toy", "paper": "95.0", "ours": "93.4"}
    outcomes = {"differs": -3.4, "depends": -0.5, "": float("nan")}
    table = pd.DataFrame(
        cell | {"row": word, "difference": difference, "outcome": word, "compared": word != ""}
        for word, difference in outcomes.items()
    )
    (ax,) = redrawn.draw(table, {"Table 1": (0.1, 1.0)})
    faces = [to_hex(patch.get_facecolor()) for patch in ax.patches]
    assert faces == [STYLES["differs"]["color"], STYLES["depends"]["color"], "#ffffff"]
    assert ax.texts[-1].get_text().startswith("1 of 2 measurements differ")
    plt.close(ax.figure)
