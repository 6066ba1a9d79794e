"""The claims as they are stated."""

from pathlib import Path

from skem.repro import papers
from skem.repro.ledger import sentences, stated_claims

ROOT = Path(__file__).parents[1]
WORDS = sentences.read(ROOT / "config").protocols
TITLES = papers.titles(ROOT / "config")
STATED = stated_claims.read(ROOT / "config" / "claims.csv", WORDS, TITLES)
