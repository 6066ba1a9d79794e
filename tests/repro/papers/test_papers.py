"""A paper is a folder, a YAML file and a file of rules."""

import pandas as pd
import pytest
import yaml
from checkouts import ROOT, copy, run

from skem.repro import papers
from skem.repro.config.documents import ConfigurationError
from skem.repro.files import read_table

FILES = {
    "config/toy2000.yaml": """
title: Toy (2000)
numbers: [3, 1, 2]
""",
    "config/words/toy2000.yaml": """
quantities: {toy_number: size of the toy}
methods: {toy_method: the toy method}
protocols: {toy_protocol: best-pass}
settings: {n_wheels: "{} wheels"}
sentences: {toy.order: The toy is large.}
""",
    "skem/repro/papers/toy2000/__init__.py": '"""Toy (2000)."""\n',
    "skem/repro/papers/toy2000/settings.py": '''
"""The settings of Toy (2000)."""

from skem.repro.config.validation import Strict


class Stated(Strict):
    title: str
    numbers: list[int]


def settings(stated, experiment):
    return stated.numbers
''',
    "skem/repro/papers/toy2000/paper.py": '''
"""Toy (2000): evidence, evaluators and figures."""

from skem.repro.drawing import Figure, subplots
from skem.repro.files import read_table
from skem.repro.ledger.estimates import Estimate
from skem.repro.ledger.evaluators import Evaluators

EVALUATORS = Evaluators("toy")


def evidence(files, stated, settings):
    return read_table(files["tables"]["toy2000"])


@EVALUATORS.measures("largest", "measured")
def largest(evidence):
    return Estimate(float(evidence["number"].max()), protocol="data")


def draw(table, settings):
    _, axes = subplots()
    axes.plot(table["number"])
    return axes


FIGURES = {"toy2000_numbers": Figure(lambda tables, settings: tables["toy2000"], draw)}
''',
    "workflow/rules/toy2000.smk": """
EVIDENCE["toy2000"] = {"all": {"tables": {"toy2000": "results/tables/toy2000.csv"}}}
DRAWN["toy2000_numbers"] = {"paper": "toy2000", "tables": ["results/tables/toy2000.csv"]}
TABLES.append("results/tables/toy2000.csv")


rule toy2000:
    output:
        "results/tables/toy2000.csv",
    params:
        numbers=STUDY.papers["toy2000"],
    shell:
        "echo number > {output} && printf '%s\\\\n' {params.numbers} >> {output}"
""",
    "workflow/report/toy2000.yaml": "toy2000_numbers: {title: Numbers, text: All of them.}\n",
}
"""All files of a paper, beside its rows of config/claims.csv."""

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
    | {"expression": "[toy.largest] >= [toy.measured]"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkout with another paper and its claims."""
    folder = copy(tmp_path_factory.mktemp("toy"), datasets=())
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content.lstrip("\n"), encoding="utf-8")
    stated = pd.read_csv(folder / "config/claims.csv", dtype=str, keep_default_na=False)
    stated = pd.concat([stated, pd.DataFrame(CLAIMS)]).fillna("")
    stated.to_csv(folder / "config/claims.csv", index=False)
    return folder


def test_adding_a_paper(folder):
    targets = ["results/tables/toy2000.csv", "results/figures/toy2000_numbers.svg", "results/claims.csv"]
    code, output = run(folder, "--cores", "1", *targets)
    assert code == 0, output
    assert read_table(folder / targets[0])["number"].tolist() == [3, 1, 2]
    assert (folder / targets[1]).read_text(encoding="utf-8").startswith("<?xml")
    verdicts = read_table(folder / targets[2]).set_index("id")["verdict"]
    assert verdicts[[claim["id"] for claim in CLAIMS]].tolist() == ["reproduced", "reproduced", "holds"]
    for name in ("claims.md", "tables/toy2000_claims.md"):
        assert "Toy (2000)" in (folder / "results" / name).read_text(encoding="utf-8")
    code, output = run(folder, "--cores", "1", "report")
    assert code == 0, output
    page = (folder / "results/report.html").read_text(encoding="utf-8")
    sentence = "Size of the toy of the toy method on toy (4 wheels)"
    for words in ("Toy (2000)", "Number of toy", sentence, "The toy is large."):
        assert words in page


def test_wrong_settings_are_one_line(folder):
    path = folder / "config/toy2000.yaml"
    good = path.read_text(encoding="utf-8")
    path.write_text(good.replace("[3, 1, 2]", "[x]"), encoding="utf-8")
    code, output = run(folder, "-n", "--cores", "1")
    path.write_text(good, encoding="utf-8")
    assert code != 0
    assert "error: config/toy2000.yaml: numbers.0 is 'x'; should be a valid integer" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"headlines": "table2"}, "names the experiment 'table2', and there is no"),
        ({"trade_offs": "random"}, "trade_offs is 'random'"),
        ({"mda": "audit"}, "asks for 'mnist_half', which its experiments do not have"),
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
