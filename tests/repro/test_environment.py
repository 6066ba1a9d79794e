"""On what machine and of which commit results are, and what becomes a reference."""

import json
import runpy
from types import SimpleNamespace

import numpy as np
import pytest
from checkouts import ROOT

from skem.repro import environment
from skem.repro.files import write_json, write_text


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make a result and the record of its environment, in a folder of results that is empty at first."""
    monkeypatch.chdir(tmp_path)

    def make(name, **versions):
        write_text(f"results/{name}.csv", "a\n1\n")
        environment.record([f"results/{name}.csv"])
        path = environment.RECORDS / f"results/{name}.csv.json"
        record = json.loads(path.read_text())
        write_json(path, record | {"packages": record["packages"] | versions})

    return make


def test_results_of_several_environments_are_a_mixture(made, tmp_path):
    made("runs/a")
    made("runs/b", matplotlib="1.0")  # draws, and changes no number
    made("runs/c", numpy="1.0")
    found = environment.of_results()
    assert [one["results"] for one in found["mixture"]] == [2, 1]
    assert found["packages"]["numpy"] == np.__version__
    assert "results of 2 environments: 2 of " in environment.mixture(found)
    (tmp_path / "results/runs/c.csv").unlink()
    assert environment.mixture(environment.of_results()) is None


def reference():
    snakemake = SimpleNamespace(
        input=["results/environment.json", "results/runs/a.csv"],
        log=["reference.log"],
        params=SimpleNamespace(others=["results/none.csv"]),
    )
    runpy.run_path(str(ROOT / "workflow/scripts/reference.py"), {"snakemake": snakemake})


def test_a_reference_has_results_record_and_versions(made, tmp_path):
    made("runs/a")
    reference()
    folder = tmp_path / "results/reference"
    assert (folder / "runs/a.csv").read_text() == "a\n1\n"
    assert json.loads((folder / "environment.json").read_text()) == environment.of_results()
    assert f"numpy=={np.__version__}\n" in (folder / "requirements.lock").read_text()


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"runs/a": {}, "runs/b": {"scipy": "1.0"}}, "results of 2 environments: .*scipy 1.0"),
        (
            {"runs/a": {"numpy": "1.0"}},
            f"the results are of .*numpy 1.0.*, and this is .*numpy {np.__version__}",
        ),
    ],
)
def test_no_reference_of_what_its_record_would_not_name(made, tmp_path, results, message):
    for name, versions in results.items():
        made(name, **versions)
    with pytest.raises(SystemExit, match=message):
        reference()
    assert not (tmp_path / "results/reference").exists()
