"""A paper is three files and rows of config/claims.csv; a folder, if it needs Python."""

import re

import pandas as pd
import pytest
import yaml
from checkouts import ROOT, copy, run
from claims import BY_ID, STATED

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.files import read_table
from skem.repro.ledger.estimates import Unknown

FILES = {
    "config/toy2000.yaml": """
title: Toy (2000)
numbers: [3, 1, 2]
""",
    "config/claims/toy2000.yaml": """
quantities: {toy_number: size of the toy}
methods: {toy_method: the toy method}
protocols: {toy_protocol: test_selected_iteration}
settings: {n_wheels: "{} wheels"}
metrics:
  number: {table: toy2000}
claims:
  largest, measured:
    number: {metric: number, dataset: $dataset}
  order:
    says: The toy is large.
    left: {metric: number, dataset: $dataset}
    right: 2
""",
    "workflow/rules/toy2000.smk": """
EVIDENCE["toy2000"] = {"all": {"toy2000": "results/tables/toy2000.csv"}}
TABLES.append("results/tables/toy2000.csv")


rule toy2000:
    output:
        "results/tables/toy2000.csv",
    params:
        numbers=STUDY.papers["toy2000"]["numbers"],
    shell:
        "echo dataset,run,number > {output} && printf 'toy,%s,3\\n' {params.numbers} >> {output}"
""",
}
"""The files of a paper, beside its rows of config/claims.csv."""

FIGURE = {
    "skem/repro/papers/toy2000/__init__.py": '"""Toy (2000)."""\n',
    "skem/repro/papers/toy2000/figures.py": '''
"""Its figures."""

from skem.repro.drawing import Figure, subplots


def draw(table, settings):
    _, axes = subplots()
    axes.plot(table["number"])
    return axes


FIGURES = {"toy2000_numbers": Figure(lambda tables, settings: tables["toy2000"], draw)}
''',
    "workflow/report/toy2000.yaml": "toy2000_numbers: {title: Numbers, text: All of them.}\n",
}
"""Further files, for a figure, which the rules name."""

DRAWN = 'DRAWN["toy2000_numbers"] = {"paper": "toy2000", "tables": ["results/tables/toy2000.csv"]}\n'

CLAIM = {
    **{"id": "toy.largest", "paper": "toy2000", "place": "Table 1", "kind": "number", "dataset": "toy"},
    **{"method": "data", "quantity": "number", "value": "3", "external": "no"},
}
CLAIMS = [
    CLAIM,
    CLAIM
    | {"id": "toy.measured", "method": "toy_method", "quantity": "toy_number"}
    | {"protocol": "toy_protocol", "setting": "n_wheels=4"},
    CLAIM
    | {"id": "toy.order", "kind": "ordering", "quantity": "", "value": ""}
    | {"expression": "the toy is larger than 2"},
]


def add(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content.lstrip("\n"), encoding="utf-8")


def test_adding_a_paper(tmp_path):
    copy(tmp_path, datasets=())
    add(tmp_path, FILES)
    stated = pd.read_csv(tmp_path / "config/claims.csv", dtype=str, keep_default_na=False)
    stated = pd.concat([stated, pd.DataFrame(CLAIMS)]).fillna("")
    stated.to_csv(tmp_path / "config/claims.csv", index=False)
    code, output = run(tmp_path, "--cores", "1", "results/claims.csv", "toy2000_claims")
    assert code == 0, output
    details = read_table(tmp_path / "results/claims.csv").set_index("id")["detail"]
    assert details[[claim["id"] for claim in CLAIMS]].tolist() == ["reproduced", "reproduced", "holds"]
    assert "| Toy (2000) |" in (tmp_path / "results/claims.md").read_text(encoding="utf-8")
    assert (tmp_path / "results/tables/toy2000_claims.csv").exists()
    add(tmp_path, FIGURE)
    with (tmp_path / "workflow/rules/toy2000.smk").open("a", encoding="utf-8") as rules:
        rules.write(DRAWN)
    code, output = run(tmp_path, "--cores", "1", "results/figures/toy2000_numbers.svg")
    assert code == 0, output
    svg = tmp_path / "results/figures/toy2000_numbers.svg"
    assert svg.read_text(encoding="utf-8").startswith("<?xml")


CELL = {"metric": "error", "dataset": "pima", "method": "rbf"}
ROW = {"left": CELL, "right": {"method": "averaging"}}


def with_row(folder, row):
    """A copy of the rows of a paper with another one for the claim that networks are better on Pima."""
    stated = yaml.safe_load((ROOT / "config/claims/titsias2001.yaml").read_text(encoding="utf-8"))
    stated["claims"]["sec4.pima.rbf_better"] = row
    add(folder, {"config/claims/titsias2001.yaml": yaml.safe_dump(stated)})
    return folder / "config"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"metric": "eror"}, "metric 'eror' is unknown; did you mean error?"),
        ({"dataset": ["pima", "pina"]}, "dataset 'pina' is unknown; did you mean pima?"),
        ({"method": "lambda25"}, "method 'lambda25' is unknown; did you mean lambda025?"),
        ({"n_component": 6}, "column 'n_component' is unknown; did you mean n_components?"),
    ],
)
def test_an_unknown_word_of_a_row_is_one_line_with_the_nearest(changes, fault, tmp_path):
    (tmp_path / "results").symlink_to(ROOT / "results")
    config = with_row(tmp_path, ROW | {"left": CELL | changes})
    (found,) = papers.unknown_words("titsias2001", config)
    assert f"titsias2001.yaml: claims.sec4.pima.rbf_better: {fault}" in found


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (ROW | {"for": {"m": "lambda"}}, "name 'lambda' is unknown"),
        ({"function": "best_of_colum"}, "function 'best_of_colum' is unknown; did you mean best_of_column?"),
        ({"says": "So."}, "no row measures it"),
    ],
)
def test_a_row_that_measures_nothing_ends_the_evaluation(row, fault, tmp_path):
    stated = papers.settings("titsias2001", ROOT / "config")
    found = papers.evaluator("titsias2001", STATED, stated, {}, config=with_row(tmp_path, row))
    with pytest.raises(Unknown, match=rf"claims\.\S*rbf_better: {re.escape(fault)}"):
        found.evaluate(BY_ID["titsias.sec4.pima.rbf_better"])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"headlines": "table2"}, "names the experiment 'table2', and there is no"),
        ({"trade_offs": "random"}, "trade_offs is 'random'"),
        ({"headlines": "mda"}, "asks for 'paper', which its experiments do not have"),
        ({"title": None}, "title"),
    ],
)
def test_settings_that_do_not_fit_the_experiments_are_refused(wrong, words, tmp_path):
    config = tmp_path / "config"
    config.mkdir()
    (config / "experiments").symlink_to(ROOT / "config/experiments")
    stated = yaml.safe_load((ROOT / "config/pulford2022.yaml").read_text(encoding="utf-8")) | wrong
    (config / "pulford2022.yaml").write_text(yaml.safe_dump(stated), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=f"pulford2022.yaml.*{words}"):
        papers.settings("pulford2022", config)
