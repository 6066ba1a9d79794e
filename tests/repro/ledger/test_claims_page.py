"""The page of claims: rows, their order, and totals that are equal wherever they are shown."""

import json
import re

import pandas as pd
import pytest
from checkouts import ROOT
from claims import STATED
from markdown_it import MarkdownIt

from skem.repro import finished_run, papers
from skem.repro.ledger import bars, rows, summary, totals
from skem.repro.ledger.decisions import NOT_COMPARABLE, QUOTED, TIMED, VERIFIED, Evaluation
from skem.repro.ledger.outcomes import OUTCOMES
from skem.repro.papers import ledgers
from skem.repro.report.page import Results, write


def evaluate(claim, interpretation):
    """Give claims all details in turn."""
    details = (
        "reproduced",
        "worse",
        "holds",
        "fails",
        "undecided",
        "too few runs",
        NOT_COMPARABLE,
        VERIFIED,
        "not run",
    )
    if claim["external"] == "yes":
        return Evaluation(QUOTED)
    detail = details[sum(map(ord, claim["id"])) % len(details)]
    remark = "x <d> | y" if detail != "not run" else "it was not part of this run: add the target titsias"
    return Evaluation(detail, 1.5, 1.0, 2.0, 3, note=remark)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The claims of a run with every detail."""
    results = tmp_path_factory.mktemp("run") / "results"
    ledger = summary.ledger(STATED, evaluate, rows.read(ROOT / "config"))
    paths = {key: results / file for key, file in ledgers.FILES.items()}
    ledgers.write(ledger, paths, config=ROOT / "config")
    return results


def cells(html):
    """Return the cells of each row of the first table after the word "agrees"."""
    table = next(part for part in html.split("<table>")[1:] if "depends</th>" in part)
    rows = re.findall("<tr>(.*?)</tr>", table.split("</table>")[0], re.DOTALL)
    return [
        [
            re.sub("<[^>]*>", "", cell).strip()
            for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def test_totals_are_equal_on_every_page_and_in_the_terminal(folder, monkeypatch, capsys):
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    titles = papers.titles(ROOT / "config")
    expected = totals.by_outcome(found, titles).astype(str)
    expected = [list(expected), *expected.to_numpy().tolist()]

    markdown = (
        MarkdownIt("commonmark").enable("table").render((folder / "claims.md").read_text(encoding="utf-8"))
    )
    assert cells(markdown) == expected
    assert cells(write(Results(folder, ROOT))) == expected

    monkeypatch.chdir(folder.parent)
    (folder / "tables").mkdir()
    (folder / "tables/table1.md").write_text(
        "# Table\n\n**Accuracy**\n\n| a |\n|---|\n| 1 |\n\nNotes.\n", encoding="utf-8"
    )
    monkeypatch.setattr(papers, "titles", lambda: titles)
    finished_run.show(
        0.0, 1, [], tables=["results/tables/table1.md"], others=["results/claims.md"], sources=[], datasets=[]
    )
    output = capsys.readouterr().out
    assert all(re.search(r" +".join(map(re.escape, row)), output) for row in expected)
    assert "snakemake titsias --cores all" in output
    assert len(output.splitlines()) <= 25

    # The claims themselves, and the figure.
    claims = summary.read(folder / "claims.csv")
    once = claims[summary.kinds(claims) == summary.MEASURABLE]
    for paper, own in once.groupby("paper"):
        assert {word: found[paper][totals.key(word)] for word in OUTCOMES} == {
            word: int((own["outcome"] == word).sum()) for word in OUTCOMES
        }
    drawn = bars.rows(found, titles)
    assert drawn["claims"].sum() == found["all"]["measurable"] == len(once)
    assert (
        found["all"]["stated"] == len(STATED) == sum(found["all"][totals.key(kind)] for kind in summary.KINDS)
    )


def test_totals_do_not_depend_on_times(folder):
    claims = pd.concat([summary.read(folder / name) for name in ("claims.csv", "claims_timing.csv")])
    changed = claims.assign(detail=claims["detail"].mask(claims["quantity"].isin(TIMED), "holds"))
    assert totals.totals(changed) == totals.totals(claims)


def test_each_claim_that_differs_or_depends_stands_once_and_its_words_survive(folder):
    html = MarkdownIt("commonmark").enable("table").render((folder / "claims.md").read_text(encoding="utf-8"))
    tables = [part.split("</table>")[0] for part in html.split("<table>") if ">statement</th>" in part]
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["all"]
    assert sum(part.count("<tr>") - 1 for part in tables) == found["differs"] + found["depends"]
    assert "X &lt;d&gt; | y." in html


def test_bars_have_the_numbers_of_their_parts():
    found = {"one": dict.fromkeys(map(totals.key, OUTCOMES), 0) | {"agrees": 12, "differs": 30, "open": 1}}
    ax = bars.draw(bars.rows(found, {"one": "One (2000)"}))
    assert [text.get_text() for text in ax.texts] == ["12", "30", "1", "One (2000): 43 measurable claims"]
