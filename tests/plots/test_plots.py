"""Figures: one call from a tidy table, in the user's own style and size."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from skem import plots
from skem.repro import drawing
from skem.repro.files import read_table
from skem.repro.papers.pulford2022 import figures

mpl.use("Agg")
REFERENCE = Path(__file__).parents[2] / "results/reference"


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


DRAWN = {
    name: (figure.draw, figure.rows({s: TABLES[s] for s in (*figure.studies, *figure.also)} | {"arrangements_timing": costs()}))
    for name, figure in figures.FIGURES.items()
} | {
    "accuracy_by_pass": (plots.accuracy_by_pass, passes()),
    "kernels": (plots.kernels, circles()),
    "accuracy_by_sharing": (plots.accuracy_by_sharing, sharings()),
}  # fmt: skip
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
    left, right = plots.accuracy_by_pass(passes()).flat
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
    axes = plots.accuracy_by_components(DRAWN["figures2to4"][1], crossing=28)
    assert axes.shape == (2, 3)
    assert [ax.get_title() for ax in axes[:, 0]] == ["sequential, best-pass", "sequential, validated"]
    assert axes[0, 0].get_ylabel() == "test accuracy (%)"
    labels = [text.get_text() for text in axes[0, 0].figure.legends[0].get_texts()]
    assert labels[:3] == ["12x3 (m = 3)", "3x12 (m = 12)", "1x36 (m = 36)"]
    assert labels[3:] == ['paper: "around 96%"', "paper: m = 36 over m = 3 from here"]


def test_the_unpartitioned_model_stands_in_every_panel():
    rows = curves()
    rows = rows[(rows["method"] == "sequential") | (rows["n_blocks"] > 1)]
    drawn = figures.FIGURES["figures2to4"].rows({"arrangements": rows})
    whole = drawn[drawn["n_blocks"] == 1].groupby("method")["accuracy"].apply(list)
    assert len(whole) == 3
    assert whole["interleaved"] == whole["random"] == whole["sequential"]


def test_the_advantage_is_that_of_the_best_partition():
    axes = plots.advantage(DRAWN["advantage"][1])
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
    assert np.atleast_1d(figures.FIGURES[name].draw(table)).size


def test_the_same_table_gives_the_same_files(tmp_path):
    draw, table = DRAWN["figure5"]
    for folder in ("one", "two"):
        with plt.rc_context(drawing.STYLE):
            drawing.save(
                draw(table), [tmp_path / folder / f"figure.{kind}" for kind in ("svg", "pdf", "png")]
            )
    for kind in ("svg", "pdf", "png"):
        one, two = ((tmp_path / folder / f"figure.{kind}").read_bytes() for folder in ("one", "two"))
        assert one == two
