"""Numbers in prose come from tables."""

import shutil
from pathlib import Path

import pytest

from skem.repro.config.documents import ConfigurationError
from skem.repro.report import prose

ROOT = Path(__file__).parents[3]
RICE = 'fixed(cell("table1", "paper_accuracy", dataset="rice"), 1)'


def placeholder(expression, value=""):
    return f"<!-- = {expression} -->{value}<!-- = -->"


@pytest.fixture(scope="module")
def reference():
    return prose.Reference(ROOT / "results/reference")


def test_every_number_of_the_findings_is_the_tables():
    assert {path.name: text for path, text in prose.refresh(ROOT).items()} == {}
    texts = [path.read_text(encoding="utf-8") for path in prose.pages(ROOT)]
    assert sum(len(prose.PLACEHOLDER.findall(text)) for text in texts) > 100


def test_a_number_that_is_not_the_tables_is_put_right(tmp_path):
    shutil.copytree(ROOT / "results/reference", tmp_path / "results/reference")
    page = tmp_path / "README.md"
    page.write_text(f"The paper has {placeholder(RICE, '96.0')}%.", encoding="utf-8")
    assert prose.refresh(tmp_path) == {page: f"The paper has {placeholder(RICE, '95.0')}%."}


def test_what_can_be_asked_for(reference):
    def value(expression):
        text, faults = prose.refreshed(placeholder(expression), "page", reference)
        assert not faults
        return prose.PLACEHOLDER.search(text)[2]

    assert value(RICE) == "95.0"
    assert value('signed(cell("table1", "paper_accuracy", dataset="rice") - 95.5)') == "-0.5"
    assert value('claim("pulford.table1.mnist.pskem_accuracy", "value")') == "97.48"
    assert value('count(paper="pulford2022")') == "170"
    assert value('len(cells("table1", "dataset"))') == "5"
    assert value('mean("table1", "paper_accuracy", dataset="rice")') == "95.0"
    # A number is found however it is printed.
    assert (
        value('len(cells("mda", "accuracy", n_components=20.0, protocol="best-pass", dataset="mnist_half"))')
        == "4"
    )


def test_all_faults_are_told_at_once(tmp_path):
    shutil.copytree(ROOT / "results/reference", tmp_path / "results/reference")
    wrong = {
        'cell("tabel1", "nested")': "there is no table",
        'cell("table1", "nestet", dataset="rice")': "no column 'nestet'",
        'cell("table1", "nested", dataset="rise")': "0 rows",
        'cell("table1", "nested")': "5 rows",
        'claim("pulford.nothing")': "0 rows",
        'told("pulford.table1.mnist.pskem_accuracy", "nothing like it")': "nothing like",
        "colour(3)": "colour",
        "fixed(": "unexpected",
    }
    page = tmp_path / "README.md"
    page.write_text("\n".join(map(placeholder, wrong)) + "\n<!-- = 1 -->", encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        prose.refresh(tmp_path)
    told = str(caught.value)
    for line, words in enumerate(wrong.values(), start=1):
        assert f"README.md, line {line}: " in told
        assert words in told
    assert "without an end" in told
    assert "<!-- = 1 -->" in page.read_text(encoding="utf-8")


def test_a_page_without_its_placeholders_is_plain():
    text = f"**{placeholder(RICE, '95.0')}** of [Table 1](tables/table1.md) ![a figure](a.svg)"
    assert prose.plain(text) == "**95.0** of Table 1 "
