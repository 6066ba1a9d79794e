"""Claims in the words of a reader."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from skem.repro.ledger.sentences import QUANTITIES, sentence

CONFIG = Path(__file__).parents[3] / "config"
SENTENCES = yaml.safe_load((CONFIG / "sentences.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def claims():
    table = pd.read_csv(CONFIG / "claims.csv", dtype=str, keep_default_na=False)
    return table.to_dict("records")


def test_every_claim_that_is_no_number_has_one_sentence(claims):
    assert set(SENTENCES) == {claim["id"] for claim in claims if claim["kind"] != "number"}
    assert all(text.endswith(".") and len(text) < 120 for text in SENTENCES.values())


def test_numbers_are_told_by_quantity_method_data_and_setting(claims):
    told = {claim["id"]: sentence(claim, {}) for claim in claims if claim["kind"] == "number"}
    assert told["pulford.table1.mnist.pskem_accuracy"] == "Accuracy of PSKEM on MNIST (3x13, K = 60)"
    assert told["titsias.table4.phoneme.lambda050.m8"] == "Error of λ-PRBF on phoneme (K = 8, λ = 0.5)"
    assert told["titsias.sec4.satimage.n_samples"] == "Rows of Satimage"
    # No id, no quantity in the ledger's own words.
    assert not [text for text in told.values() if "_" in text.replace("gmm_diag", "")]
    assert {claim["quantity"] for claim in claims if claim["kind"] == "number"} == set(QUANTITIES)
