"""The workflow for real: a run that is killed and resumed, with one data set of two. No network is used."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import yaml
from checkouts import FOLDS, PASSES, ROOT, RUNS, copy, installed, run, start

from skem.repro import files, finished_run
from skem.repro.files import read_arrays, read_table

TIMES = re.compile(r"_timing|^timings/|^regress|\.seconds\.")


def contents(folder, *patterns):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in patterns
        for path in folder.glob(pattern)
    }


def start_and_wait(folder, *args):
    """Start Snakemake, and wait until one more training job is done."""

    def trained():
        return len(list(folder.glob("results/runs/*/*/*/*-*.npz")))

    before, process = trained(), start(folder, *args)
    while process.poll() is None and trained() <= before:
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()[0]
    return process


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A run without the data of rice: stopped, killed, unlocked, and resumed to its end."""
    folder = copy(tmp_path_factory.mktemp("done"))
    path = folder / "config/datasets.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(yaml.safe_load(text)["rice"]["sha256"], "0" * 64), encoding="utf-8")
    stopped = start(folder, "--cores", "1")
    assert any("training" in line for line in stopped.stdout)
    stopped.terminate()
    stopped.communicate(timeout=60)
    assert not list(folder.glob("results/runs/**/*-*.csv")), "the job has been waited for"
    assert not list(folder.glob(".snakemake/locks/*"))
    killed = start_and_wait(folder, "--cores", "1")
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    # A kill may hit a file while it is written, and leaves this.
    (folder / "results/tables").mkdir(exist_ok=True)
    (folder / "results/tables/.table1.csv.unfinished").write_text("half")
    assert list(folder.glob(".snakemake/locks/*"))
    assert run(folder, "--cores", "1", "--unlock")[0] == 0
    code, output = run(folder, "--cores", "2")
    assert code == 0, output
    if not json.loads((folder / "results/data/ionosphere.json").read_text())["available"]:
        pytest.skip("no data")
    return folder, output


def test_a_resumed_run_leaves_complete_tables_and_figures(done):
    folder, output = done
    text = (folder / "results/tables/table1.md").read_text(encoding="utf-8")
    assert re.search(
        r"^ data set +\| paper +\| test-sel.*\| validation-sel.*\| nested$", output, re.MULTILINE
    )
    table = read_table(folder / "results/tables/table1.csv").set_index("dataset")
    assert table["available"].to_dict() == {"rice": False, "ionosphere": True}
    assert table["paper_accuracy"].tolist() == [95.0, 98.0]
    assert f"{table.loc['ionosphere', 'nested']:.2f}" in text
    times = read_table(folder / "results/tables/table1_timing.csv").set_index("dataset")
    assert times.loc["ionosphere", "seconds_per_iteration"] > 0
    for suffix, magic in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert (
            (folder / f"results/figures/table1_accuracy_by_iteration.{suffix}").read_bytes().startswith(magic)
        )
    left = [path.name for path in (folder / "results").rglob(".*") if path.is_file()]
    assert set(left) <= {".snakemake_timestamp"}


def test_missing_data_leave_a_row_and_a_warning_with_every_source(done):
    folder, output = done
    text = (folder / "results/tables/table1.md").read_text(encoding="utf-8")
    assert "| Rice, not available |" in text
    assert (
        "Not available, and left out: rice; results/logs/data/*.log say why, and how to get them." in output
    )
    log = (folder / "results/logs/data/rice.log").read_text(encoding="utf-8")
    described = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))["rice"]
    urls = [file["url"] for source in described["sources"] for file in source.get("files", [])]
    for text in (output, log):
        assert "warning: data set 'rice' is not available" in text
        assert [url for url in urls if url not in text] == []


def test_a_method_that_fails_is_a_row_with_its_error_and_others_go_on(done):
    folder, output = done
    failed = read_table(folder / "results/failed/ionosphere.csv")
    assert failed[["method", "setting"]].to_numpy().tolist() == [["qda", "default"]]
    assert "reg_param" in failed["error"].iloc[0]
    assert "Failed, and left out: ionosphere 1; results/failed/*.csv say why." in output
    assert "InvalidParameterError: The 'reg_param'" in (folder / "results/tables/table1.md").read_text()


def test_the_history_has_every_iteration_of_every_fold(done):
    history = read_table(done[0] / "results/history/ionosphere.csv")
    seconds = read_table(done[0] / "results/timings/ionosphere.csv")
    keys = ["dataset", "method", "setting", "run", "fold", "rows", "iteration"]
    models = history[history["method"] != "lda"]
    # Both kinds of rows of the paper's setting, one of another.
    assert len(models) == 3 * RUNS * FOLDS["ionosphere"] * PASSES
    assert len(history) - len(models) == FOLDS["ionosphere"]
    assert not history.duplicated(keys).any()
    pd.testing.assert_frame_equal(history[keys], seconds[keys])


def test_all_methods_are_tested_on_the_same_samples(done):
    truths = {}
    for path in (done[0] / "results/runs/ionosphere").rglob("*.npz"):
        for name, array in read_arrays(path).items():
            if name.startswith("y-"):
                np.testing.assert_array_equal(array, truths.setdefault(name, array))
    assert len(truths) == RUNS * FOLDS["ionosphere"]


def test_claims_have_outcomes_or_the_reason_why_not(done):
    folder, output = done
    claims = read_table(folder / "results/claims.csv").set_index("id")
    claim = claims.loc["pulford.table1.ionosphere.pskem_accuracy"]
    table = read_table(folder / "results/tables/table1.csv").set_index("dataset")
    assert claim["measured"] == pytest.approx(table.loc["ionosphere", "test_selected_iteration"], rel=1e-9)
    assert claims.loc["pulford.table1.mnist.pskem_accuracy", "detail"] == "not run"
    assert "mnist" in claims.loc["pulford.table1.mnist.pskem_accuracy", "remark"]
    assert claims.loc["titsias.table4.phoneme.rbf.m8", "remark"].endswith("add the target titsias")
    assert "Claims of the papers" in output


def wanted(folder, *args):
    """The rules that a dry run lists, and its output."""
    code, output = run(folder, "-n", "--cores", "2", *args)
    assert code == 0, output
    return set(re.findall(r"^([a-z_]+) +\d+$", output, flags=re.MULTILINE)) - {"total", "all"}, output


def test_an_edit_of_the_engine_trains_again_and_missing_data_are_tried_again(done):
    path = done[0] / "skem/engine/em.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "CHANGED = True\n", encoding="utf-8")
    try:
        rules, output = wanted(done[0])
    finally:
        path.write_text(text, encoding="utf-8")
    assert rules >= {"fetch_data", "train", "time_iterations", "history", "table", "claims"}
    trained = set(re.findall(r"training (.+) on ionosphere", output))
    assert trained == {"pskem 2x16-K12", "pskem 1x32-K12"}
    assert "features of ionosphere" not in output


def test_a_copy_without_a_record_trains_nothing(done, tmp_path):
    """`cp -r` gives everything another time, in any order; Snakemake proposes to drop records."""
    folder = tmp_path / "skem"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(done[0], folder, symlinks=True, ignore=ignored, copy_function=shutil.copyfile)
    history = next(folder.glob("results/runs/ionosphere/pskem/1x32-K12/*-?.csv"))
    code, output = run(folder, "--cores", "1", "--cleanup-metadata", str(history.relative_to(folder)))
    assert code == 0, output
    assert "on ionosphere" not in wanted(folder)[1]


def test_touch_takes_results_as_those_of_another_configuration(done):
    other, record = ("--config", "seed=1"), done[0] / "results/run.json"
    assert "features of ionosphere" in wanted(done[0], *other)[1]
    before = record.read_bytes()
    for config in (other, ()):
        code, output = run(done[0], "--cores", "1", "--touch", *config)
        assert code == 0, output
        if config:
            assert "on ionosphere" not in wanted(done[0], *config)[1]
    assert record.read_bytes() == before


def test_the_library_of_another_checkout_is_refused(done):
    code, output = run(done[0], "-n", "--cores", "1", PYTHONPATH=str(ROOT))
    assert code == 1
    assert f"error: jobs would run the library in {ROOT}" in output


API = """
import sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import DAGSettings, OutputSettings, ResourceSettings
sys.argv = ["host", "a-word-of-the-host"]
with SnakemakeApi(OutputSettings()) as api:
    workflow = api.workflow(snakefile=Path("Snakefile"), resource_settings=ResourceSettings(cores=1))
    workflow.dag(DAGSettings(targets=["results/data/rice.json"])).execute_workflow(pseudo_executor="dryrun")
"""


def test_snakemakes_python_interface_works(done):
    environment = os.environ | installed(done[0])
    command = [sys.executable, "-c", API]
    run = subprocess.run(command, cwd=done[0], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_numbers_do_not_depend_on_cores(done):
    patterns = ("results/history/*.csv", "results/runs/ionosphere/**/*-*.csv")
    before = {n: c for n, c in contents(done[0], *patterns).items() if ".seconds." not in n}
    code, output = run(done[0], "--cores", "1", "--forcerun", "train", "--", "results/history/ionosphere.csv")
    assert code == 0, output
    assert "training pskem 2x16-K12 on ionosphere" in output
    assert len(before) > 2
    assert [name for name, content in before.items() if (done[0] / name).read_bytes() != content] == []


def test_the_report_shows_the_results_and_trains_nothing(done):
    folder, _ = done
    before = contents(folder, "results/history/*", "results/runs/**/*.csv", "results/claims.csv")
    # The configuration of the run must not matter.
    code, output = run(folder, "--cores", "1", "--config", "seed=1", "--", "report")
    assert code == 0, output
    html = (folder / "results/report.html").read_text(encoding="utf-8")
    table = read_table(folder / "results/tables/table1.csv").set_index("dataset")
    assert f">{table.loc['ionosphere', 'validation_selected_iteration']:.2f} [" in html
    assert "seed: 2022" in html
    assert "--config &#39;experiments=[table1, mda]&#39;" in html
    assert contents(folder, "results/history/*", "results/runs/**/*.csv", "results/claims.csv") == before


def test_a_table_of_the_users_own_takes_one_command(done):
    folder, rng = done[0], np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat(["a kind", "b"], 30)
    X[y == "b"] += 2
    pd.DataFrame(X, columns=["x", "z"]).assign(kind=y).to_csv(folder / "my own.csv", index=False)
    # Files of the user hide no module of Python.
    (folder / "random.py").write_text("raise SystemExit('of the user')", encoding="utf-8")
    code, output = run(folder, "--cores", "1", "--config", "table=my own.csv")
    (folder / "random.py").unlink()
    assert code == 0, output
    text = (folder / "results/own/my_own.md").read_text(encoding="utf-8")
    assert text in output
    assert "60 samples, 2 features, 2 classes. Protocol: nested, 5-fold cross-validation" in text
    table = read_table(folder / "results/own/my_own.csv")
    assert table["accuracy"].between(70, 100).all()
    assert len(read_table(folder / "results/own/my_own.predictions.csv")) == 60 * len(table)
    assert (folder / "results/own/my_own.svg").read_bytes().startswith(b"<?xml")


def test_a_partial_run_names_no_file_that_is_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = "results/tables/table1.md"
    rows = "| data set | N | paper |\n|:---|:---|:---|\n| Rice | 3429 | 95.00 |"
    files.write_text(table, f"# A table\n\n**Accuracy**\n\n{rows}\n\nNotes")
    finished_run.show(0.0, 1, [], tables=[table], others=[table], sources=[], datasets=[])
    output = capsys.readouterr().out
    assert "# A table\n**Accuracy**\n data set | paper\n:---|:---\n Rice | 95.00\n" in output
    assert re.findall(r"results/[\w./]+", output) == [table, "results/tables"]


def test_claims_of_a_paper_need_its_target(done):
    code, output = run(done[0], "--rulegraph", "--", "claims", "titsias")
    assert code == 0, output
    rules = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)', output, flags=re.MULTILINE))
    edges = re.findall(r"^\s*(\d+) -> (\d+)", output, flags=re.MULTILINE)
    inputs = {rules[made] for made, user in edges if rules[user] == "claims"}
    assert {"pulford_values", "titsias_values"} <= inputs
    assert not {"hayashi_values", "sanderson_values"} & inputs
