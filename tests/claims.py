"""The claims as they are stated."""

from pathlib import Path

from skem.repro import papers
from skem.repro.config import documents
from skem.repro.ledger import stated_claims

ROOT = Path(__file__).parents[1]
WORDS = documents.read(ROOT / "config" / "protocols.yaml")
TITLES = papers.titles(ROOT / "config")
STATED = stated_claims.read(ROOT / "config" / "claims.csv", WORDS, TITLES)
