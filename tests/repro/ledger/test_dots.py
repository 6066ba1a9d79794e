"""The figure of every accuracy against the papers'."""

import matplotlib.pyplot as plt
import pandas as pd
from checkouts import ROOT

from skem.repro.ledger import dots, sentences, stated_claims

WORDS = sentences.read(ROOT / "config")

BASE = dict.fromkeys(stated_claims.COLUMNS, "") | {
    "kind": "number",
    "external": "no",
    "basis": "measurement",
    "repeats": "",
    "detail": "reproduced",
    "outcome": "agrees",
}


def claim(**how):
    return BASE | how


LEDGER = pd.DataFrame(
    [
        claim(id="a", paper="p", dataset="rice", method="skem", quantity="accuracy_pct", value="95.0",
              measured=93.0, low=92.5, high=93.5, outcome="differs"),
        claim(id="b", paper="p", dataset="mnist-half", method="mda", quantity="accuracy_fraction", value="0.9",
              measured=0.91, low=0.90, high=0.92),
        claim(id="c", paper="t", dataset="pima", method="prbf_lambda", setting="lambda=0.5;n_components=6",
              quantity="error_pct", value="20.0", measured=22.0, low=19.0, high=25.0),
        claim(id="again", paper="p", dataset="rice", method="skem", quantity="accuracy_pct", value="95.0",
              measured=93.0, low=92.5, high=93.5, repeats="a"),
        claim(id="not run", paper="p", dataset="rice", method="skem", quantity="accuracy_pct", value="95.0",
              measured=float("nan"), low=float("nan"), high=float("nan")),
        claim(id="other", paper="p", dataset="rice", method="skem", quantity="peak_pass", value="9",
              measured=9.0, low=8.0, high=10.0),
    ]
)  # fmt: skip


def test_differences_are_in_points_of_accuracy_and_more_is_better():
    table = dots.rows(LEDGER, WORDS).set_index("id")
    assert list(table.index) == ["a", "b", "c"]
    found = table[["better", "better_low", "better_high"]].round(9)
    assert found.loc["a"].tolist() == [-2.0, -2.5, -1.5]
    assert found.loc["b"].tolist() == [1.0, 0.0, 2.0]
    assert found.loc["c"].tolist() == [-2.0, -5.0, 1.0]  # an error
    assert table["dataset"].tolist() == ["Rice", "half-size MNIST", "Pima"]
    assert table["method"].tolist() == ["SKEM", "MDA", "λ = 0.5"]


def test_a_panel_for_each_paper_and_a_row_for_each_method():
    axes = dots.draw(dots.rows(LEDGER, WORDS), {"p": "Paper (2000)"})
    assert [ax.get_title(loc="left") for ax in axes] == ["Paper (2000)", "t"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["Rice: SKEM", "half-size MNIST: MDA"]
    marks = [line for line in axes[0].get_lines() if line.get_marker() not in (None, "None", "")]
    assert [(line.get_marker(), round(line.get_xdata()[0], 9)) for line in marks] == [("D", -2.0), ("o", 1.0)]
    plt.close(axes[0].figure)


def test_without_a_measurement_it_says_so():
    (ax,) = dots.draw(dots.rows(LEDGER.assign(measured=float("nan")), WORDS), {})
    assert "No accuracy" in ax.texts[0].get_text()
    plt.close(ax.figure)
