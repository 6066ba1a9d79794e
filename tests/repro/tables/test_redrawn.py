"""The papers' tables in their own layout."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from checkouts import ROOT
from matplotlib.colors import to_hex

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.drawing import captions
from skem.repro.ledger.bars import STYLES
from skem.repro.tables import redrawn
from skem.repro.tables.pages import Panel, layouts

STATED = pd.read_csv(ROOT / "config/claims.csv", dtype=str, keep_default_na=False)
PANEL = Panel(
    title="Table 1",
    cells="toy.{row}.*{column}",
    rows={"rice": "Rice", "iris": "Iris"},
    columns={"accuracy": "Accuracy", "seconds": "Seconds"},
)
TOY = pd.DataFrame(
    {
        "id": ["toy.rice.skem_accuracy", "toy.iris.accuracy", "toy.rice.seconds", "toy.iris.seconds"],
        "value": ["95.0", "97.48", "1.50", "-59.98e3"],
    }
)
CLAIMS = TOY[:2].assign(
    paper="toy",
    measured=[93.42, 97.322],
    standardised_difference=[-3.4, -0.5],
    outcome=["differs", "depends"],
    basis="measurement",
    repeats="",
)


def test_cells_have_the_printed_value_and_ours_with_its_digits():
    table = redrawn.cells([PANEL], CLAIMS, TOY)
    assert table[["row", "column"]].to_numpy().tolist() == [
        ["Rice", "Accuracy"],
        ["Rice", "Seconds"],
        ["Iris", "Accuracy"],
        ["Iris", "Seconds"],
    ]
    assert table["paper"].tolist() == ["95.0", "1.50", "97.48", "-59.98e3"]
    assert table["ours"].tolist() == ["93.4", "", "97.32", ""]
    assert table["compared"].tolist() == [True, False, True, False]


def test_a_repeated_measurement_counts_once_per_panel():
    repeated = CLAIMS.assign(repeats=["toy.text", "toy.text"])
    assert redrawn.cells([PANEL], repeated, TOY)["compared"].tolist() == [True, False, False, False]
    assert redrawn.cells([PANEL, PANEL], CLAIMS, TOY)["compared"].tolist() == 2 * [True, False, True, False]


def test_a_cell_without_a_claim_is_refused():
    with pytest.raises(ConfigurationError, match=r"Table 1: 0 claims have an id like toy\.iris\.\*seconds"):
        redrawn.cells([PANEL], CLAIMS, TOY[:3])


def test_the_figure_has_the_colours_of_the_outcomes_and_counts_those_that_differ():
    (ax,) = redrawn.draw(redrawn.cells([PANEL], CLAIMS, TOY), {"Table 1": (0.1, 1.0)})
    faces = [to_hex(patch.get_facecolor()) for patch in ax.patches]
    assert faces == [STYLES["differs"]["color"], "#ffffff", STYLES["depends"]["color"], "#ffffff"]
    assert ax.texts[-1].get_text().startswith("1 of 2 measurements differ")
    plt.close(ax.figure)


@pytest.mark.parametrize("paper", papers.names())
def test_every_cell_of_a_paper_has_a_claim_and_every_figure_a_caption(paper):
    found = layouts(paper, ROOT / "config")
    for name, panels in found.items():
        table = redrawn.cells(panels, CLAIMS, STATED)
        assert table["id"].is_unique, name
    assert set(found) <= set(captions(ROOT))
