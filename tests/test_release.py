"""Files that describe a release agree with each other."""

import tomllib
from pathlib import Path

import yaml

from skem.datasets import _known, _sources

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_version_and_licence():
    assert CITATION["version"] == PROJECT["version"]
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert CITATION["license"] in PROJECT["license"]


def test_licences_of_bundled_data_are_declared():
    bundled = {path.name.removesuffix(".csv.gz") for path in _sources.INCLUDED.glob("*.csv.gz")}
    declared = {path.stem for pattern in PROJECT["license-files"] for path in ROOT.glob(pattern)}
    assert bundled <= declared
    for name in bundled:
        assert _known.entries()[name]["licence"].replace(" ", "-") in PROJECT["license"]
