"""Imports of the library load what they need, and a plain install has it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import skem

ROOT = Path(__file__).parents[1]


def python(code):
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_loads_no_heavy_module():
    # scikit-learn loads pandas itself where there is pandas.
    loaded = python(
        "import sys, sklearn.base; before = set(sys.modules); from skem import *; print(*set(sys.modules) - before)"
    )
    assert "skem.estimators.skem" in loaded
    heavy = r"numba|pandas|matplotlib|yaml|pydantic|requests|PIL|dask|pyarrow|torch|skem\.(repro|plots).*"
    assert [name for name in loaded if re.fullmatch(heavy, name)] == []


def test_lazy_import():
    loaded = python("import sys, skem; print(*sys.modules)")
    assert [name for name in loaded if name.partition(".")[0] in ("numpy", "scipy", "sklearn")] == []


def test_plain_install():
    python(
        "import sys; sys.modules |= dict.fromkeys(['pandas', 'matplotlib', 'snakemake', 'jinja2', 'pydantic', "
        "'markdown_it', 'itables', 'dask', 'pyarrow']); "
        "import skem, skem.datasets, skem.images, skem.metrics, skem.plots; from skem import *"
    )


def test_public_names():
    assert [name for name in skem.__all__ if not hasattr(skem, name)] == []
    assert "Mixture" in skem.__all__
    assert {*skem.__all__} <= {*dir(skem)}
    with pytest.raises(AttributeError, match="module 'skem' has no attribute 'SKEM'"):
        skem.SKEM  # noqa: B018


def test_pipeline_extra_has_pygments():
    """pytest brings Pygments, so a run of the report here would not tell."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {Requirement(text).name for text in project["optional-dependencies"]["pipeline"]}
    assert "pygments" in names
