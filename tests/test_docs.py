"""Tables, figures, calls and names in the documentation agree with the code and the reference run."""

import inspect
import json
import re
import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import skem
from skem import plots
from skem.repro import papers
from skem.repro.tables.pages import layouts

mpl.use("Agg")
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = ROOT / "results/reference"
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [
    path
    for path in DOCS.rglob("*.md")
    if "_build" not in path.parts and path.relative_to(DOCS).parts[0] != "gallery"
]


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def between(name: str, text: str) -> str:
    return text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0].strip()


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


# Numbers


def test_every_table_of_the_reference_run_is_shown():
    shown = {
        name
        for path in PAGES
        for name in re.findall(r"\{include\} .*results/reference/(\S+)", path.read_text(encoding="utf-8"))
    }
    there = {str(path.relative_to(REFERENCE)) for path in REFERENCE.rglob("*.md")}
    assert shown == there


def test_the_figure_of_answers_has_the_totals_of_the_claims_table():
    totals = json.loads((REFERENCE / "summary.json").read_text(encoding="utf-8"))
    names = {title: name for name, title in papers.titles(ROOT / "config").items()}
    for row in pd.read_csv(REFERENCE / "figures/outcomes.csv").itertuples():
        assert row.claims == totals[names[row.paper]][row.outcome.replace(" ", "_")], (row.paper, row.outcome)


# Code


def test_the_defaults_that_differ_are_in_the_table():
    header, _, *lines = between("defaults", page("use/parameters.md")).splitlines()
    classes = {
        name: getattr(skem, "GaussianMixture" if name == "mixture" else f"{name}Classifier")
        for name in cells(header)[1:]
    }
    expected = {}
    signatures = {name: inspect.signature(c).parameters for name, c in classes.items()}
    for parameter in dict.fromkeys(p for signature in signatures.values() for p in signature):
        defaults = {name: s[parameter].default for name, s in signatures.items() if parameter in s}
        if len({repr(default) for default in defaults.values()}) > 1:
            expected[parameter] = [str(defaults.get(name, "-")) for name in classes]
    assert {cells(line)[0].strip("`"): cells(line)[1:] for line in lines} == expected


def test_the_reference_has_every_public_name():
    listed = set(re.findall(r"^   ~?skem\.(\w+)$", page("use/api/index.md"), re.MULTILINE))
    assert listed == {*skem.__all__, "datasets", "images", "metrics", "plots"} - {"__version__"}


def gallery():
    """Pictures and, above each, the call that draws it."""
    text = between("gallery", page("use/figures.md"))
    return re.findall(r"`(plots\..+)`\n\n!\[.+\]\(\.\./\.\./(.+)\.svg\)", text)


def test_every_reference_figure_is_shown():
    there = {str(path.relative_to(ROOT).with_suffix("")) for path in REFERENCE.rglob("*.svg")}
    own = re.findall(r"!\[.+\]\(\.\./\.\./(.+)\.svg\)", between("own", page("use/figures.md")))
    redrawn = [
        f"results/reference/figures/{name}"
        for paper in papers.names()
        for name in layouts(paper, ROOT / "config")
    ]  # on the papers' pages
    assert sorted([*(picture for _, picture in gallery()), *own, *redrawn]) == sorted(there)


@pytest.mark.parametrize(("call", "picture"), gallery())
def test_the_call_above_a_picture_draws_it(call, picture):
    names = {"plots": plots, "table": pd.read_csv(ROOT / f"{picture}.csv", low_memory=False)}
    axes = np.atleast_1d(eval(call, names))
    assert all(isinstance(ax, Axes) for ax in axes.flat)
    figure = axes.flat[0].figure
    width, height = figure.get_size_inches()
    svg = (ROOT / f"{picture}.svg").read_text(encoding="utf-8")
    size = [float(re.search(rf'{side}="([0-9.]+)pt"', svg)[1]) / 72 for side in ("width", "height")]
    assert size == pytest.approx([width, height], abs=0.01)
    plt.close(figure)


# README.md


def test_links_of_the_readme():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 10
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_examples_of_the_readme(capsys):
    first, second = (block.split("```")[0] for block in README.split("```python\n")[1:])
    printed = re.findall(r"[0-9.]+", re.search(r"print\(.*\)  # (.+)$", first, re.MULTILINE)[1])
    names = {}
    exec(first, names)
    assert capsys.readouterr().out.split() == printed
    exec(second, names)
    assert not names["outliers"].all()


# Files


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_every_file_that_a_page_names_is_there(path):
    named = re.findall(
        r"`((?:config|docs|examples|profiles|results/reference|skem|tests|workflow)/[\w./-]+)`",
        path.read_text(encoding="utf-8"),
    )
    # Examples of files that users write, and output of a build.
    named = [name for name in named if not re.search("mine|toy2000|_build", name)]
    assert [name for name in named if not (ROOT / name).exists()] == []


broken = runpy.run_path(str(DOCS / "links.py"))["broken"]


def test_links_that_lead_nowhere_and_text_that_was_not_rendered_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a> <a href="b.html#there">2</a> <a href="d.html">3</a> <a href="https://x.org">4</a>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="here"><img src="none.png"></p>', encoding="utf-8")
    (tmp_path / "c.html").write_text(
        "<p>Ours is {{ a.b }}.</p><p>It is</p>\n<!-- c -->\n<p>higher.</p><pre>{{ shown }}</pre><p>as code.</p>"
        "<p>Ours is &lt;!-- =c --&gt;.</p><p><code>d</code> is a name.</p>",
        encoding="utf-8",
    )
    assert broken(tmp_path) == [
        *("a.html: b.html#there", "a.html: d.html", "b.html: none.png"),
        "c.html: placeholder in 'Ours is {{ a.b }}.'",
        "c.html: a paragraph begins within a sentence: 'higher.'",
        "c.html: placeholder in 'Ours is <!-- =c -->.'",
    ]
