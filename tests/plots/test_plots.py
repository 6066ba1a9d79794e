"""Figures: one call from a tidy table, in the user's own style and size."""

import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from skem import plots
from skem.repro import drawing

mpl.use("Agg")


SIZES = pd.DataFrame(
    [
        {"partition": f"{36 // m}x{m}", "block_size": m, "n_components": k, "shared_proportion": 1 - k / 100}
        | {"accuracy": 70 + m / 2 + k / 5, "sd": 1.0, "operations": 1e9 * m * k, "seconds": 0.1 * k}
        for m in (3, 12, 36)
        for k in (4, 40)
    ]
)
METHODS = pd.DataFrame({"method": ["sequential", "interleaved", "random"]}).merge(SIZES, "cross")
PANELS = [f"Figure {n}: {kind} (lambda = {n})" for n in (3, 4, 5) for kind in "ab"]
POINTS = [(c, c + x / 9, x / 3, np.nan) for c in (0.0, 1.0) for x in range(9)]
CIRCLES = [(0.0, 0.2, 1.0, 0.5), (np.nan, 1.2, 1.0, 0.5)]


def with_interval(table):
    return table.assign(low=table["accuracy"] - 1, high=table["accuracy"] + 1)


TIDY = {
    "accuracy_by_components": pd.DataFrame({"protocol": ["best", "validated"]}).merge(
        METHODS.drop(columns=["operations", "seconds", "shared_proportion"]), "cross"
    ),
    "accuracy_by_iteration": with_interval(
        pd.DataFrame(
            {
                "curve": ["test"] * 3 + ["validation"] * 3,
                "iteration": [1, 2, 3] * 2,
                "accuracy": [70.0, 80, 82, 71, 79, 81],
            }
        )
    ),
    "advantage": with_interval(METHODS.drop(columns=["operations", "seconds", "sd"])).assign(
        dataset="mnist_half", n_blocks=36 // METHODS["block_size"]
    ),
    "cost_by_components": SIZES.drop(columns=["accuracy", "sd", "shared_proportion"]),
    "criterion_by_components": pd.DataFrame(
        {
            "covariance_type": ["full", "full", "diag", "diag"],
            "n_components": [1, 2] * 2,
            "bic": [9, 7, 8, 8.5],
        }
    ),
    "engine_scaling": pd.DataFrame(
        [
            {"part": "scaling", "size": axis, "engine": "skem", "N": 1e3 * n, "m": 10.0, "K": 20.0}
            | {"seconds_per_iteration": 0.1 * n, "exponent": np.nan}
            for axis in ("N", "m", "K")
            for n in (1, 2)
        ]
        + [{"part": "exponents", "size": "N", "engine": "skem", "exponent": 1.0}]
    ),
    "shared_components": pd.DataFrame({"panel": PANELS}).merge(
        pd.DataFrame(POINTS + CIRCLES, columns=["class", "x", "y", "radius"]), "cross"
    ),
    "sharing_by_components": SIZES[["partition", "block_size", "n_components", "shared_proportion"]],
}
"""A table for every figure that has the needed columns and no other."""
ITERATIONS = TIDY["accuracy_by_iteration"].assign(dataset="rice")
UNAVAILABLE = pd.DataFrame({"dataset": ["mnist"], "accuracy": [np.nan]})
every_figure = pytest.mark.parametrize("name", TIDY)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@every_figure
def test_one_column_in_the_style_of_the_user(name):
    """Nothing is cut off, and nothing but the table is drawn."""
    draw, table = getattr(plots, name), TIDY[name]
    copy = table.copy()
    with plt.style.context("dark_background"), plt.rc_context({"font.size": 8}):
        settings = dict(plt.rcParams)
        axes = np.atleast_1d(draw(table, columns=1))
        assert dict(plt.rcParams) == settings
        pd.testing.assert_frame_equal(table, copy)
        assert all(isinstance(ax, Axes) for ax in axes.flat)
        assert any(ax.get_xlabel() for ax in axes.flat)
        assert any(ax.get_ylabel() for ax in axes.flat)
        figure = axes.flat[0].figure
        cycle = {to_rgba(colour) for colour in plt.rcParams["axes.prop_cycle"].by_key()["color"]}
        drawn = {to_rgba(line.get_color()) for ax in figure.axes for line in ax.get_lines()}
        assert drawn <= {*cycle, to_rgba("white")}
        assert figure.get_facecolor() == to_rgba("black")
        assert figure.get_figwidth() == plots.WIDTHS[1]
        assert figure.get_figheight() < 11  # a page
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
        assert box.x0 >= -0.02
        assert box.x1 <= figure.get_figwidth() + 0.02
        titles = [ax.title.get_window_extent() for ax in figure.axes if ax.get_title()]
        for i, one in enumerate(titles):
            assert not any(one.overlaps(other) for other in titles[i + 1 :])


def test_widths_of_figures():
    assert plots.sharing_by_components(SIZES, width=5).figure.get_figwidth() == 5
    for wrong, words in (
        ({"columns": 3}, "columns is 3; allowed: 1, 2, or width"),
        ({"columns": 1, "width": 3}, "not both"),
        ({"width": "wide"}, "allowed: a positive number of inches"),
    ):
        with pytest.raises(ValueError, match=words):
            plots.cost_by_components(SIZES, **wrong)


def test_figures_of_one_panel_in_given_axes():
    _, (left, right) = plt.subplots(1, 2)
    numbers = plt.get_fignums()
    assert plots.accuracy_by_iteration(ITERATIONS, ax=left) is left
    assert plots.sharing_by_components(SIZES, ax=right) is right
    assert plt.get_fignums() == numbers
    with pytest.raises(ValueError, match="ax is one panel, and the table has 2 data sets"):
        plots.accuracy_by_iteration(pd.concat([ITERATIONS, UNAVAILABLE]), ax=left)


def test_accuracy_by_iteration():
    left, right = plots.accuracy_by_iteration(pd.concat([ITERATIONS, UNAVAILABLE])).flat
    lines = {line.get_label(): list(line.get_ydata()) for line in left.get_lines()}
    assert lines == {"test": [70, 80, 82], "validation": [71, 79, 81]}
    band = left.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (69, 83)
    assert [text.get_text() for text in right.texts] == ["data not available"]


def test_panels_name_the_data_that_their_axis_cuts():
    rows = [("a", 70, 9), ("a", 90, 1), ("b", 95, 1), ("b", 96, 1), ("c", 60, 1), ("c", 62, 1)]
    columns = {"method": "m", "protocol": "p", "n_components": [4, 8] * 3, "block_size": [1, 1, 2, 2, 2, 2]}
    table = pd.DataFrame(rows, columns=["partition", "accuracy", "sd"]).assign(**columns)
    ax = plots.accuracy_by_components(table, floor=75)[0, 0]
    assert [text.get_text() for text in ax.texts] == ["cut: 1 curve, 1 bar\nleft out: 1 curve, 2 bars"]
    ax = plots.accuracy_by_components(table)[0, 0]
    assert [text.get_text() for text in ax.texts] == [""]


def test_files_have_the_width_of_columns_and_no_setting_of_the_user(tmp_path):
    of_a_user = {"text.usetex": True, "font.size": 20, "lines.linewidth": 5, "savefig.bbox": "tight"}
    files = {}
    for name, settings, width in (("one", {}, 9.0), ("two", of_a_user, 9.0), ("column", {}, plots.WIDTHS[1])):
        files[name] = [tmp_path / f"{name}.{kind}" for kind in ("svg", "pdf", "png")]
        with plt.rc_context(settings), drawing.style(columns=1):
            ax = plots.criterion_by_components(TIDY["criterion_by_components"], width=width)
            drawing.save(ax, files[name])
    for one, two in zip(files["one"], files["two"], strict=True):
        assert one.read_bytes() == two.read_bytes()
    pixels = {name: plt.imread(paths[-1]).shape[1] for name, paths in files.items()}
    assert pixels == {"one": 7.2 * 300, "two": 7.2 * 300, "column": 3.5 * 300}


@every_figure
def test_columns_of_tables(name):
    """The documented columns are needed and enough."""
    table, draw = TIDY[name], getattr(plots, name)
    documented = draw.__doc__.partition("Parameters")[2].partition("Returns")[0]
    assert [column for column in table if not re.search(rf"\b{column}\b", documented)] == []
    for column in table:
        with pytest.raises(ValueError, match=f"lacks column '{column}'") as error:
            draw(table.drop(columns=column))
        said, _, needed = str(error.value).partition("; needed: ")
        assert said.startswith(f"skem.plots.{name}: ")
        assert set(needed.split(", ")) == set(table)
    with pytest.raises(ValueError, match=rf"^skem\.plots\.{name}: the table has no rows; needed: "):
        draw(table.iloc[:0])
    number = table.select_dtypes("number").columns[-1]
    with pytest.raises(
        ValueError, match=rf"^skem\.plots\.{name}: .* instead of numbers in column '{number}'"
    ):
        draw(table.assign(**{number: "three"}))
    assert plt.get_fignums() == []


def test_criterion_by_covariance_type():
    table = TIDY["criterion_by_components"].assign(held_out=[1.0, 2, 3, 4])
    ax = plots.criterion_by_components(table, criterion="held_out", columns=1)
    assert [line.get_label() for line in ax.get_lines()] == ["full", "diag"]
    assert ax.get_lines()[1].get_xydata().tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match="lacks column 'icl'; it has columns 'covariance_type'"):
        plots.criterion_by_components(table, criterion="icl")


def test_faulty_tables():
    table = TIDY["accuracy_by_iteration"].rename(columns={"accuracy": "acuracy"})
    with pytest.raises(ValueError, match=r"lacks column 'accuracy' \(rename acuracy to accuracy\?\)"):
        plots.accuracy_by_iteration(table)
    with pytest.raises(TypeError, match="the table is a dict; give a pandas DataFrame"):
        plots.accuracy_by_iteration(dict(table))


def test_options_are_drawn_last():
    table = TIDY["accuracy_by_components"].query("method == 'random'")
    axes = plots.accuracy_by_components(table, horizontal={"before": 99}, vertical={"budget": 20})
    assert axes[0, 0].get_ylim()[1] > 99
    plots.accuracy_by_components(table.assign(sd=np.nan))  # of single runs
    with pytest.raises(ValueError, match="floor is 99"):
        plots.accuracy_by_components(table, floor=99)
    labels = [text.get_text() for text in axes[0, 0].figure.legends[0].get_texts()]
    assert labels[-2:] == ["before", "budget"]
    assert axes[0, 0].get_ylim()[0] == table["accuracy"].min() - 3
    named = plots.accuracy_by_components(table, names={"random": "shuffled", "best": "highest"}, floor=75)
    assert named[0, 0].get_title() == "shuffled, highest"
    assert named[0, 0].get_ylim()[0] == 75
    ax = plots.sharing_by_components(SIZES, points={"another": (10, 0.5)})
    assert ax.get_lines()[-1].get_xydata().tolist() == [[10, 0.5]]
    left, _ = plots.cost_by_components(SIZES, bounds={"budget": ([4, 40], [1e10, 1e10])}).flat
    assert left.get_lines()[-1].get_label() == "budget"
