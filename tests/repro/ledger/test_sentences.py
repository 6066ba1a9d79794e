"""Claims in the words of a reader."""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml

from skem.repro.ledger import sentences
from skem.repro.ledger.sentences import sentence

CONFIG = Path(__file__).parents[3] / "config"
WORDS = sentences.read(CONFIG)


@pytest.fixture(scope="module")
def claims():
    table = pd.read_csv(CONFIG / "claims.csv", dtype=str, keep_default_na=False)
    return table.to_dict("records")


def test_every_claim_that_is_no_number_has_one_sentence(claims):
    assert set(WORDS.sentences) == {claim["id"] for claim in claims if claim["kind"] != "number"}
    assert all(text.endswith(".") and len(text) < 120 for text in WORDS.sentences.values())


def test_numbers_are_described_by_quantity_method_data_and_setting(claims):
    texts = {claim["id"]: sentence(claim, WORDS) for claim in claims if claim["kind"] == "number"}
    assert texts["pulford.table1.mnist.pskem_accuracy"] == "Accuracy of PSKEM on MNIST (3x13, K = 60)"
    assert texts["titsias.table4.phoneme.lambda050.m8"] == "Error of λ-PRBF on phoneme (K = 8, λ = 0.5)"
    assert texts["pulford.sec3-3.sharing.half_of_skem"].endswith(
        "on half-size MNIST (3x12 or 2x18, K = large)"
    )
    assert texts["titsias.sec4.satimage.n_samples"] == "Samples of Satimage"
    # No id, no quantity in the ledger's own words.
    assert not [text for text in texts.values() if "_" in text.replace("gmm_diag", "")]


def test_words_are_those_of_the_claims_and_stand_once(claims):
    stated = {key: {claim[key] for claim in claims} for key in ("quantity", "method", "dataset", "protocol")}
    keys = {"quantities": "quantity", "methods": "method", "data_sets": "dataset", "protocols": "protocol"}
    found = Counter()
    for path in (CONFIG / "claims").glob("*.yaml"):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        found.update((key, name) for key in keys for name in document.get(key, {}))
    assert [name for name, count in found.items() if count > 1] == []
    assert [name for key, name in found if name not in stated[keys[key]]] == []
    statements = [claim for claim in claims if claim["kind"] != "number"]
    assert set(WORDS.differences) <= {claim[key] for claim in statements for key in ("id", "quantity")}
    numbers = {claim["quantity"] for claim in claims if claim["kind"] == "number"}
    assert numbers <= set(WORDS.quantities)
