"""The house: what an import of the library loads, and what a plain install has."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import skem

ROOT = Path(__file__).parents[1]
PUBLIC = ["skem", "skem.datasets", "skem.images", "skem.metrics", "skem.plots"]


def python(code):
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_library_loads_no_more_than_it_needs():
    # scikit-learn loads pandas itself where there is pandas.
    loaded = python(
        "import sys, sklearn.base; before = set(sys.modules); from skem import *; print(*set(sys.modules) - before)"
    )
    assert "skem.estimators.skem" in loaded
    heavy = (
        "numba",
        "pandas",
        "matplotlib",
        "snakemake",
        "yaml",
        "pydantic",
        "requests",
        "PIL",
        "dask",
        "pyarrow",
        "torch",
    )
    assert [name for name in loaded if name in heavy or name.startswith(("skem.repro", "skem.plots"))] == []


def test_the_name_of_the_library_alone_loads_next_to_nothing():
    loaded = python("import sys, skem; print(*sys.modules)")
    assert [name for name in loaded if name.partition(".")[0] in ("numpy", "scipy", "sklearn")] == []


@pytest.mark.parametrize("module", PUBLIC)
def test_a_plain_install_imports_all_that_is_public(module):
    absent = (
        "pandas",
        "matplotlib",
        "snakemake",
        "jinja2",
        "pydantic",
        "markdown_it",
        "itables",
        "dask",
        "pyarrow",
    )
    python(f"import sys; sys.modules.update(dict.fromkeys({absent})); import {module}")


def test_public_names_are_there():
    assert [name for name in skem.__all__ if not hasattr(skem, name)] == []
    assert "Mixture" in skem.__all__
    assert {*skem.__all__} <= {*dir(skem)}
    with pytest.raises(AttributeError, match="module 'skem' has no attribute 'SKEM'"):
        skem.SKEM  # noqa: B018


def test_every_test_file_stands_in_a_room_of_the_library():
    for folder in {path.parent for path in Path(ROOT, "tests").rglob("test_*.py")}:
        assert (ROOT / "skem" / folder.relative_to(ROOT / "tests")).is_dir(), folder


def test_the_pipeline_extra_has_what_snakemakes_own_report_imports():
    """pytest brings Pygments, so a run of the report here would not tell."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {Requirement(text).name for text in project["optional-dependencies"]["pipeline"]}
    assert "pygments" in names
