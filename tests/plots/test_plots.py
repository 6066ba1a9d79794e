"""Figures: one call from a tidy table, in the user's own style and size."""

import re
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from skem import plots
from skem.repro import drawing, papers
from skem.repro.files import read_table
from skem.repro.papers.pulford2022 import figures
from skem.repro.papers.titsias2001 import figures as titsias_figures
from skem.repro.tables import passes as by_pass

mpl.use("Agg")
ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results/reference"


def passes():
    """Two data sets, one of which could not be had."""
    curves = pd.DataFrame(
        {
            "curve": ["test, all training rows"] * 3 + ["validation"] * 3,
            "pass": [1, 2, 3] * 2,
            "accuracy": [70.0, 80, 82, 71, 79, 81],
            "low": [69.0, 79, 81, 70, 78, 80],
            "high": [71.0, 81, 83, 72, 80, 82],
        }
    ).assign(dataset="rice", setting="1x7-K14", paper=95.0)
    missing = pd.DataFrame({"dataset": ["mnist"], "setting": ["3x13-K60"], "accuracy": [np.nan]})
    return pd.concat([curves, missing], ignore_index=True)


def curves(dataset="mnist_half", features=36):
    rows = [
        {"dataset": dataset, "method": method, "partition": f"{features // m}x{m}", "n_blocks": features // m}
        | {
            "block_size": m,
            "n_components": k,
            "protocol": protocol,
            "accuracy": 70 + m / 2 + k / 5,
            "sd": 1.0,
        }
        | {"low": 69 + m / 2 + k / 5, "high": 71 + m / 2 + k / 5, "shared_proportion": 1 - k / 100}
        for method in ("sequential", "interleaved", "random")
        for m in (3, 12, features)
        for k in (4, 40)
        for protocol in ("best-pass", "last-pass", "validated")
    ]
    return pd.DataFrame(rows)


def costs():
    rows = [
        {"partition": f"{36 // m}x{m}", "n_blocks": 36 // m, "block_size": m, "n_components": k}
        | {"operations": 1e9 * m * k, "seconds": 0.1 * k}
        for m in (3, 12, 36)
        for k in (4, 40)
    ]
    return pd.DataFrame(rows)


TABLES = {
    "arrangements": curves(),
    "starts": curves().replace(
        {"method": {"sequential": "sample", "interleaved": "class", "random": "kmeans"}}
    ),
    "starts40": curves("mnist", 60).replace({"n_components": {40: 60}, "method": {"sequential": "uniform"}}),
}


def circles():
    """Six panels of two classes and two kernels."""
    panels = [f"Figure {n}: kernels {kind} (lambda = {n})" for n in (3, 4, 5) for kind in ("a", "b")]
    rows = [
        {"panel": panel, "class": float(c), "x": c + x / 9, "y": x / 3, "radius": np.nan}
        for panel in panels
        for c in (0, 1)
        for x in range(9)
    ]
    kernels = [
        {"panel": panel, "class": c, "x": x, "y": 1.0, "radius": 0.5}
        for panel in panels
        for x, c in ((0.2, 0.0), (1.2, np.nan))
    ]
    return pd.DataFrame(rows + kernels)


def sharings():
    """Two data sets, three runs, lambda and none."""
    rows = [
        {"dataset": dataset, "setting": "3x13-K60", "run": run, "sharing": sharing, "pass": 30}
        | {"accuracy": 97 - run / 10 - (0 if np.isnan(sharing) else sharing)}
        for dataset in ("mnist", "fashion_mnist")
        for run in range(3)
        for sharing in (0.0, 0.5, 1.0, np.nan)
    ]
    return pd.DataFrame(rows)


PAPERS = {name: papers.settings(name, ROOT / "config") for name in papers.names()}


def of_pulford(figure):
    """How a figure is drawn, and its table."""
    tables = {name: TABLES[name] for name in (*figure.needs, *figure.also)} | {"arrangements_timing": costs()}
    paper = PAPERS["pulford2022"]
    return (lambda table, **size: figure.draw(table, paper, **size)), figure.rows(tables, paper)


def of_titsias(name):
    return partial(titsias_figures.FIGURES[name].draw, paper=PAPERS["titsias2001"])


DRAWN = {name: of_pulford(figure) for name, figure in figures.FIGURES.items()} | {
    "accuracy_by_pass": (by_pass.draw, passes()),
    "kernels": (of_titsias("titsias_figures3to5"), circles()),
    "accuracy_by_sharing": (of_titsias("titsias_images"), sharings()),
}
every_figure = pytest.mark.parametrize("name", DRAWN)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@every_figure
@pytest.mark.parametrize("columns", [None, 1, 2])
def test_a_figure_comes_from_one_call_as_wide_as_asked(name, columns):
    draw, table = DRAWN[name]
    before = table.copy()
    axes = np.atleast_1d(draw(table, columns=columns))
    assert all(isinstance(ax, Axes) for ax in axes.flat)
    figure = axes.flat[0].figure
    if columns:
        assert figure.get_figwidth() == plots.WIDTHS[columns]
    assert figure.get_figheight() < 11  # a page
    assert any(ax.get_xlabel() for ax in axes.flat)
    assert any(ax.get_ylabel() for ax in axes.flat)
    pd.testing.assert_frame_equal(table, before)


@every_figure
def test_nothing_is_cut_off_in_one_column(name):
    draw, table = DRAWN[name]
    with plt.rc_context({"font.size": 8}):
        figure = np.atleast_1d(draw(table, columns=1)).flat[0].figure
        figure.canvas.draw()
        drawn = figure.get_tightbbox()
        assert drawn.x0 >= -0.02
        assert drawn.x1 <= figure.get_figwidth() + 0.02
        titles = [ax.title.get_window_extent() for ax in figure.axes if ax.get_title()]
        for i, one in enumerate(titles):
            assert not any(one.overlaps(other) for other in titles[i + 1 :])


@every_figure
def test_a_figure_honours_the_users_style_and_leaves_it_alone(name):
    draw, table = DRAWN[name]
    with plt.style.context("dark_background"):
        before = dict(plt.rcParams)
        figure = np.atleast_1d(draw(table)).flat[0].figure
        assert dict(plt.rcParams) == before
        cycle = [to_rgba(colour) for colour in plt.rcParams["axes.prop_cycle"].by_key()["color"]]
        drawn = {to_rgba(line.get_color()) for ax in figure.axes for line in ax.get_lines()}
        ours = {to_rgba("white"), to_rgba("grey"), to_rgba(plt.rcParams["text.color"])}
        assert drawn <= {*cycle, *ours}
        assert drawn & {*cycle, to_rgba("white")}
        assert figure.get_facecolor() == to_rgba("black")


def test_a_figure_can_be_any_width_but_says_what_it_does_not_understand():
    assert plots.sharing_by_components(curves(), width=5).figure.get_figwidth() == 5
    for wrong, words in (
        ({"columns": 3}, "columns is 3; allowed: 1, 2, or width"),
        ({"columns": 1, "width": 3}, "not both"),
        ({"width": -1}, "not a number of inches"),
    ):
        with pytest.raises(ValueError, match=words):
            plots.cost_by_components(costs(), **wrong)


def test_figures_of_one_panel_draw_into_axes_that_are_there():
    _, (left, right) = plt.subplots(1, 2)
    numbers = plt.get_fignums()
    rice = passes().query("dataset == 'rice'")
    assert plots.accuracy_by_pass(rice, ax=left) is left
    assert plots.sharing_by_components(curves().query("method == 'random'"), ax=right) is right
    assert plt.get_fignums() == numbers
    with pytest.raises(ValueError, match="ax is one panel, and the table has 2 data sets"):
        plots.accuracy_by_pass(passes(), ax=left)


def test_accuracy_by_pass_shows_curves_bands_and_what_the_paper_prints():
    left, right = by_pass.draw(passes()).flat
    lines = {line.get_label(): list(line.get_ydata()) for line in left.get_lines()}
    assert lines == {"test, all training rows": [70, 80, 82], "validation": [71, 79, 81], "paper": [95, 95]}
    assert left.get_title() == "Rice, 1x7, K = 14"
    band = left.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (69, 83)
    assert [text.get_text() for text in right.texts] == ["data not available"]


def test_a_curve_looks_the_same_in_a_panel_without_the_others():
    both = passes().query("dataset == 'rice'")
    one = both[both["curve"] == "validation"].assign(dataset="mnist")
    left, right = plots.accuracy_by_pass(pd.concat([both, one])).flat
    (alone,) = (line for line in right.get_lines() if line.get_label() == "validation")
    (beside,) = (line for line in left.get_lines() if line.get_label() == "validation")
    assert (alone.get_color(), alone.get_linestyle()) == (beside.get_color(), beside.get_linestyle())


def test_accuracy_by_components_has_a_panel_per_method_and_protocol():
    draw, table = DRAWN["figures2to4"]
    axes = draw(table)
    assert axes.shape == (2, 3)
    assert [ax.get_title() for ax in axes[:, 0]] == ["sequential, best-pass", "sequential, validated"]
    assert axes[0, 0].get_ylabel() == "test accuracy (%)"
    labels = [text.get_text() for text in axes[0, 0].figure.legends[0].get_texts()]
    assert labels[:3] == ["12x3 (m = 3)", "3x12 (m = 12)", "1x36 (m = 36)"]
    assert labels[3:] == ['paper: "around 96%"', "paper: m = 36 over m = 3 from here"]


def test_the_unpartitioned_model_stands_in_every_panel():
    rows = curves()
    rows = rows[(rows["method"] == "sequential") | (rows["n_blocks"] > 1)]
    drawn = figures.FIGURES["figures2to4"].rows({"arrangements": rows}, PAPERS["pulford2022"])
    whole = drawn[drawn["n_blocks"] == 1].groupby("method")["accuracy"].apply(list)
    assert len(whole) == 3
    assert whole["interleaved"] == whole["random"] == whole["sequential"]


def test_the_advantage_is_that_of_the_best_partition():
    draw, table = DRAWN["advantage"]
    axes = draw(table)
    assert [ax.get_title() for ax in axes[0]] == [
        "36 features of\nhalf-size MNIST, K = 40",
        "60 features of\nMNIST, K = 60",
    ]
    # 70 + m / 2 + K / 5: the best partition has m = 12 and is 12 points below one block.
    assert [text.get_text() for text in axes[0, 0].texts][:1] == ["-12.0\n3x12"]
    names = [label.get_text() for label in axes[1, 0].get_xticklabels()]
    assert names[:2] == ["uniform\n(the paper)", "rows"]


@pytest.mark.parametrize("name", figures.FIGURES)
def test_what_is_kept_of_a_figure_draws_it_again(name):
    table = read_table(REFERENCE / f"figures/{name}.csv")
    assert np.atleast_1d(DRAWN[name][0](table)).size


def test_the_same_table_gives_the_same_files_whatever_the_user_has_set(tmp_path):
    draw, table = DRAWN["figure5"]
    of_a_user = {"text.usetex": True, "font.size": 20, "lines.linewidth": 5, "savefig.bbox": "tight"}
    for folder, settings in (("one", {}), ("two", of_a_user)):
        with plt.rc_context(settings), drawing.style():
            drawing.save(
                draw(table), [tmp_path / folder / f"figure.{kind}" for kind in ("svg", "pdf", "png")]
            )
    for kind in ("svg", "pdf", "png"):
        one, two = ((tmp_path / folder / f"figure.{kind}").read_bytes() for folder in ("one", "two"))
        assert one == two


# Any table, without a paper

PEERS = pd.DataFrame(
    [
        {"part": "scaling", "size": axis, "engine": "skem", "N": 1e3 * n, "m": 10.0, "K": 20.0}
        | {"seconds_per_pass": 0.1 * n, "exponent": np.nan}
        for axis in ("N", "m", "K")
        for n in (1, 2)
    ]
    + [{"part": "exponents", "size": "N", "engine": "skem", "exponent": 1.0}]
)
HISTORY = pd.DataFrame(
    {"date": ["2024-01-01", "2024-01-02"], "case": "skem", "kind": "time", "change": [0.0, 0.1], "verdict": "same"}
)  # fmt: skip
TIDY = {
    "accuracy_by_components": curves()[
        ["method", "protocol", "partition", "block_size", "n_components", "accuracy", "sd"]
    ],
    "accuracy_by_pass": passes()[["curve", "pass", "accuracy", "low", "high"]].iloc[:-1],
    "accuracy_by_sharing": sharings()[["dataset", "setting", "sharing", "pass", "accuracy"]],
    "advantage": curves().drop(columns=["protocol", "sd"]),
    "cost_by_components": costs().drop(columns="n_blocks"),
    "criterion_by_components": pd.DataFrame(
        {
            "covariance_type": ["full", "full", "diag", "diag"],
            "n_components": [1, 2, 1, 2],
            "bic": [9.0, 7, 8, 8.5],
        }
    ),
    "engine_scaling": PEERS,
    "kernels": circles(),
    "regression_history": HISTORY,
    "sharing_by_components": curves()[["partition", "block_size", "n_components", "shared_proportion"]],
}
"""A table for every figure that has the needed columns and no other."""


def test_every_figure_has_its_table():
    assert {*TIDY, "WIDTHS"} == set(plots.__all__)


@pytest.mark.parametrize("name", TIDY)
def test_the_columns_a_figure_names_are_all_it_needs(name):
    assert np.atleast_1d(getattr(plots, name)(TIDY[name])).size
    documented = getattr(plots, name).__doc__.partition("Parameters")[2].partition("Returns")[0]
    assert [column for column in TIDY[name] if not re.search(rf"\b{column}\b", documented)] == []


@pytest.mark.parametrize(("name", "column"), [(name, column) for name in TIDY for column in TIDY[name]])
def test_a_missing_column_is_named(name, column):
    with pytest.raises(ValueError, match=f"has no column '{column}'") as error:
        getattr(plots, name)(TIDY[name].drop(columns=column))
    said, _, needed = str(error.value).partition("; it must have the columns ")
    assert said.startswith(f"skem.plots.{name}: ")
    assert set(needed.split(", ")) == set(TIDY[name])
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", TIDY)
def test_an_empty_table_and_text_for_numbers_are_refused(name):
    table = TIDY[name]
    with pytest.raises(
        ValueError, match=rf"^skem\.plots\.{name}: the table has no rows; it must have the columns"
    ):
        getattr(plots, name)(table.iloc[:0])
    number = table.select_dtypes("number").columns[-1]
    with pytest.raises(
        ValueError, match=rf"^skem\.plots\.{name}: .* instead of numbers in column '{number}'"
    ):
        getattr(plots, name)(table.assign(**{number: "three"}))


def test_a_line_of_a_criterion_is_that_of_its_covariance_type():
    table = TIDY["criterion_by_components"].assign(held_out=[1.0, 2, 3, 4])
    ax = plots.criterion_by_components(table, criterion="held_out", columns=1)
    assert [line.get_label() for line in ax.get_lines()] == ["full", "diag"]
    assert ax.get_lines()[1].get_xydata().tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match="has no column 'icl'"):
        plots.criterion_by_components(table, criterion="icl")


def test_paths_of_blocks_have_a_line_each_through_the_best_ridges():
    table = pd.DataFrame(
        {"n_blocks": [1, 1, 1, 2], "n_components": [4, 2, 4, 2], "held_out": [-0.5, -0.9, -0.4, -0.7]}
    )
    ax = plots.criterion_by_components(table, criterion="held_out", by="n_blocks")
    drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.get_lines()]
    assert drawn == [([2, 4], [-0.9, -0.4]), ([2], [-0.7])]
    assert ax.get_legend().get_title().get_text() == "n_blocks"


def test_columns_that_an_option_asks_for_are_needed_then():
    with pytest.raises(ValueError, match="has no column 'low' and no column 'high'"):
        plots.accuracy_by_components(TIDY["accuracy_by_components"], bars="interval")
    with pytest.raises(ValueError, match="has no column 'printed'"):
        plots.accuracy_by_pass(TIDY["accuracy_by_pass"], level="printed")


@pytest.mark.parametrize("name", TIDY)
def test_nothing_of_a_paper_is_drawn_unless_it_is_passed_in(name):
    axes = np.atleast_1d(getattr(plots, name)(TIDY[name]))
    figure = axes.flat[0].figure
    words = " ".join(text.get_text() for text in figure.findobj(mpl.text.Text))
    assert "paper" not in words
    assert "MNIST" not in words
    faint = [line for ax in axes.flat for line in ax.get_lines() if line.get_color() == "grey"]
    assert name == "regression_history" or not faint


def test_what_is_passed_in_is_drawn_and_named_last():
    table = TIDY["accuracy_by_components"]
    axes = plots.accuracy_by_components(table, horizontal={"before": 81}, vertical={"budget": 20})
    labels = [text.get_text() for text in axes[0, 0].figure.legends[0].get_texts()]
    assert labels[-2:] == ["before", "budget"]
    assert axes[0, 0].get_ylim()[0] == table["accuracy"].min() - 3
    named = plots.accuracy_by_components(table, names={"random": "shuffled"}, floor=75)
    assert named[0, 2].get_title() == "shuffled, best-pass"
    assert named[0, 0].get_ylim()[0] == 75
    ax = plots.sharing_by_components(TIDY["sharing_by_components"], points={"another": (10, 0.5)})
    assert ax.get_lines()[-1].get_xydata().tolist() == [[10, 0.5]]
    left, _ = plots.cost_by_components(costs(), bounds={"budget": ([4, 40], [1e10, 1e10])}).flat
    assert left.get_lines()[-1].get_label() == "budget"
