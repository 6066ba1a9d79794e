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


@pytest.fixture
def project(tmp_path):
    """A project with the reference's tables and a README."""
    for name in ("claims.csv", "claims_timing.csv", "tables/table1.csv", "tables/mda.csv"):
        path = tmp_path / "results/reference" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "results/reference" / name, path)
    return tmp_path


def test_every_number_of_the_pages_agrees_with_the_tables():
    assert {path.name: text for path, text in prose.refresh(ROOT).items()} == {}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (RICE, "95.0"),
        ('signed(cell("table1", "paper_accuracy", dataset="rice") - 95.5)', "-0.5"),
        ('claim("pulford.table1.mnist.pskem_accuracy", "value")', "97.48"),
        ('len(cells("table1", "dataset"))', "5"),
        ('mean("table1", "paper_accuracy", dataset="rice")', "95.0"),
        # A number may be printed in another way.
        ('len(cells("mda", "accuracy", n_components=20.0, protocol="best-pass", dataset="mnist_half"))', "4"),
    ],
)
def test_a_placeholder_is_replaced_by_its_value(project, expression, value):
    page = project / "README.md"
    page.write_text(f"The paper has {placeholder(expression, '0')}%.", encoding="utf-8")
    assert prose.refresh(project) == {page: f"The paper has {placeholder(expression, value)}%."}


def test_all_faults_are_reported_at_once(project):
    wrong = {
        'cell("tabel1", "nested")': "there is no table",
        'cell("table1", "nestet", dataset="rice")': "no column 'nestet'",
        'cell("table1", "nested", dataset="rise")': "0 rows",
        'cell("table1", "nested")': "5 rows",
        'claim("pulford.nothing")': "0 rows",
        'remark("pulford.table1.mnist.pskem_accuracy", "no such words")': "does not match 'no such words'",
        "colour(3)": "colour",
        "fixed(": "unexpected",
    }
    page = project / "README.md"
    page.write_text("\n".join(map(placeholder, wrong)) + "\n<!-- = 1 -->", encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        prose.refresh(project)
    for line, words in enumerate(wrong.values(), start=1):
        assert any(
            f"README.md, line {line}: " in fault and words in fault for fault in str(caught.value).split("\n")
        )
    assert "without an end" in str(caught.value)


def test_a_page_without_its_placeholders_is_plain():
    text = f"**{placeholder(RICE, '95.0')}** of [Table 1](tables/table1.md) ![a figure](a.svg)"
    assert prose.plain(text) == "**95.0** of Table 1 "
