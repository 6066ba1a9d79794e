"""No test of the data sets touches the user's cache or mirror, or leaves this machine."""

from __future__ import annotations

import pytest
import yaml
from pictures import pictures_config

from skem.datasets import _known


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """No test touches the user's cache or mirror, or a network."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("SKEM_OFFLINE", "1")
    monkeypatch.setenv("SKEM_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SKEM_DATA_MIRROR", raising=False)


@pytest.fixture
def mirror(monkeypatch, tmp_path):
    """The mirror folder of a small data set, empty."""
    config = pictures_config()
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump(config))
    monkeypatch.setattr(_known, "entries", lambda: config)
    folder = tmp_path / "mirror" / "pictures"
    folder.mkdir(parents=True)
    monkeypatch.setenv("SKEM_DATA_MIRROR", str(folder.parent))
    return folder


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """The path of a registry of the user's own, which does not exist yet."""
    path = tmp_path / "own.yaml"
    monkeypatch.setenv("SKEM_DATASETS", str(path))
    return path
