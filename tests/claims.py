"""The claims as they are stated."""

from pathlib import Path

from skem.repro import papers
from skem.repro.ledger import sentences, stated_claims

ROOT = Path(__file__).parents[1]
WORDS = sentences.read(ROOT / "config").protocols
TITLES = papers.titles(ROOT / "config")
STATED = stated_claims.read(ROOT / "config" / "claims.csv", WORDS, TITLES)
BY_ID = {claim["id"]: claim for claim in STATED.to_dict("records")}


def evaluate(evidence, claim):
    """Evaluate a claim, or the claim with this id."""
    claim = BY_ID[claim] if isinstance(claim, str) else claim
    return papers.load(claim["paper"]).EVALUATORS.evaluate(evidence, claim, BY_ID)
