"""The claims as they are stated, and their evaluation on tables of values."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from skem.repro import papers
from skem.repro.files import read_table
from skem.repro.ledger import sentences, stated_claims
from skem.repro.ledger.interpretations import Interpretation
from skem.repro.tables import pages

ROOT = Path(__file__).parents[1]
WORDS = sentences.read(ROOT / "config").protocols
PAPERS = papers.names(ROOT / "config")
STATED = stated_claims.read(ROOT / "config" / "claims.csv", WORDS, PAPERS)
BY_ID = {claim["id"]: claim for claim in STATED.to_dict("records")}


PAGES = {
    name: own for paper in PAPERS for name, own in pages.read(ROOT / f"config/tables/{paper}.yaml").items()
}


def reference_values(paper):
    """Tables of values that are committed with the reference, by name."""
    paths = sorted((ROOT / "results/reference/values").glob(f"{paper}_*.csv"))
    return {path.stem.removeprefix(f"{paper}_"): read_table(path) for path in paths}


@cache
def _evaluator(name):
    settings = papers.settings(name, ROOT / "config")
    return papers.evaluator(name, STATED, settings, {}, config=ROOT / "config")


def evaluator(name, tables):
    """The evaluator of a paper's claims on tables of values."""
    found = _evaluator(name)
    return replace(found, evidence=replace(found.evidence, tables=tables, _rows={}, _estimates={}))


def page(name, made):
    """The page of a paper's table."""
    return pages.render(PAGES[name], made)


def evaluate(found, id, **choices):
    """Evaluate a claim under choices of ambiguities."""
    known = found.rows.file.interpretations
    replacements = tuple(known[name].choices[choice].replacements for name, choice in choices.items())
    return found.evaluate(BY_ID[id], Interpretation(choices, replacements))
