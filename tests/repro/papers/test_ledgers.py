"""The claims tables of all papers."""

import shutil

from claims import ROOT

from skem.repro.papers import ledgers


def test_the_claims_follow_from_the_committed_values(tmp_path, monkeypatch):
    """To the byte; a file with another byte is named."""
    monkeypatch.chdir(ROOT)
    committed, reference = ROOT / "results/reference", tmp_path / "reference"
    reference.mkdir()
    (reference / "values").symlink_to(committed / "values")
    for name in ledgers.FILES.values():
        shutil.copy(committed / name, reference)
    with (reference / "claims.md").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert ledgers.recompute(reference, tmp_path / "found") == ["claims.md"]
