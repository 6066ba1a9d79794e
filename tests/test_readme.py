"""The README shows what the last reference run measured."""

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from skem import claims, figures, plots
from skem.files import read_table

mpl.use("Agg")
ROOT = Path(__file__).parents[1]


def gallery():
    """Pictures and, below each, the call that draws it."""
    text = (
        (ROOT / "README.md")
        .read_text(encoding="utf-8")
        .split("<!-- gallery -->")[1]
        .split("<!-- /gallery -->")[0]
    )
    rows = [line.strip("|").split("|") for line in text.strip().splitlines()[2:]]
    for pictures, calls in zip(rows[::2], rows[1::2], strict=True):
        for picture, call in zip(pictures, calls, strict=True):
            if call.strip():
                yield re.search(r"\((.+)\.svg\)", picture)[1], call.strip(" `")


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


def test_the_gallery_has_every_figure():
    shown = {Path(picture).name for picture, _ in gallery()}
    others = {"table1_accuracy_by_pass", "peers", "titsias_images", "titsias_figures3to5"}
    assert shown == {*figures.FIGURES, *others}


@pytest.mark.parametrize(("picture", "call"), list(gallery()))
def test_the_call_below_a_picture_draws_it(picture, call):
    names = {"plots": plots, "table": pd.read_csv(ROOT / f"{picture}.csv")}
    axes = np.atleast_1d(eval(call, names))
    assert all(isinstance(ax, Axes) for ax in axes.flat)
    figure = axes.flat[0].figure
    width, height = figure.get_size_inches()
    svg = (ROOT / f"{picture}.svg").read_text(encoding="utf-8")
    size = [float(re.search(rf'{side}="([0-9.]+)pt"', svg)[1]) / 72 for side in ("width", "height")]
    assert size == pytest.approx([width, height], abs=0.01)
    plt.close(figure)
