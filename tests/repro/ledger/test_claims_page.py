"""Totals of the claims, which are equal wherever they are shown."""

import re
import shutil

import pandas as pd
from checkouts import ROOT
from markdown_it import MarkdownIt

from skem.repro import finished_run, papers
from skem.repro.files import read_json, write_json
from skem.repro.ledger import bars, summary, totals
from skem.repro.ledger.decisions import TIMED
from skem.repro.ledger.outcomes import OUTCOMES
from skem.repro.report.page import Results, write

REFERENCE = ROOT / "results/reference"
FOUND = read_json(REFERENCE / "summary.json")


def cells(html):
    """Return the cells of each row of the table of outcomes by paper."""
    table = next(part for part in html.split("<table>")[1:] if "depends</th>" in part)
    rows = re.findall("<tr>(.*?)</tr>", table.split("</table>")[0], re.DOTALL)
    return [
        [
            re.sub("<[^>]*>", "", cell).strip()
            for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def test_totals_are_equal_on_every_page_and_in_the_terminal(tmp_path, monkeypatch, capsys):
    titles = papers.titles(ROOT / "config")
    expected = totals.by_outcome(FOUND, titles).astype(str)
    expected = [list(expected), *expected.to_numpy().tolist()]
    markdown = (REFERENCE / "claims.md").read_text(encoding="utf-8")
    assert cells(MarkdownIt("commonmark").enable("table").render(markdown)) == expected
    assert cells(write(Results(REFERENCE, ROOT))) == expected

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(papers, "titles", lambda: titles)
    (tmp_path / "results/tables").mkdir(parents=True)
    for name in ("summary.json", "tables/table1.md"):
        shutil.copy(REFERENCE / name, tmp_path / "results" / name)
    where = {"tables": ["results/tables/table1.md"], "others": ["results/summary.json"]}
    where |= {"sources": [], "datasets": []}
    finished_run.show(0.0, 1, [], **where)
    output = capsys.readouterr().out
    assert all(re.search(r" +".join(map(re.escape, row)), output) for row in expected)
    assert len(output.splitlines()) <= 25
    more = {"not_run": 2, "commands": ["snakemake titsias --cores all"]}
    write_json("results/summary.json", FOUND | {"all": FOUND["all"] | more})
    finished_run.show(0.0, 1, [], **where)
    words = "2 claims were not run; results/claims.csv says why. Measure them: snakemake titsias --cores all"
    assert words in capsys.readouterr().out

    # The claims themselves.
    claims = summary.read(REFERENCE / "claims.csv")
    for paper, own in summary.distinct(claims).groupby("paper"):
        counts = own["outcome"].value_counts()
        assert {word: FOUND[paper][totals.key(word)] for word in OUTCOMES} == {
            word: counts.get(word, 0) for word in OUTCOMES
        }


def test_totals_do_not_depend_on_times():
    claims = pd.concat([summary.read(REFERENCE / name) for name in ("claims.csv", "claims_timing.csv")])
    changed = claims.assign(detail=claims["detail"].mask(claims["quantity"].isin(TIMED), "holds"))
    assert totals.totals(changed) == totals.totals(claims)


def test_bars_have_the_numbers_of_their_parts():
    found = {"one": dict.fromkeys(map(totals.key, OUTCOMES), 0) | {"agrees": 12, "differs": 30, "open": 1}}
    ax = bars.draw(bars.rows(found, {"one": "One (2000)"}))
    assert [text.get_text() for text in ax.texts] == ["12", "30", "1", "One (2000): 43 measurable claims"]
