"""The workflow for real: run, run on one core, changed, killed, and without data. Nothing leaves this machine."""

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
from checkouts import FOLDS, PASSES, ROOT, RUNS, copy, run, start

from skem.repro.files import read_arrays, read_table


def jobs_of(output):
    """The rules that a dry run would run, from its table of jobs."""
    return set(re.findall(r"^([a-z_]+) +\d+$", output, flags=re.MULTILINE)) - {"total", "all"}


def wanted(folder, *args, **env):
    """The jobs that a dry run lists."""
    code, output = run(folder, "-n", "--cores", "2", *args, **env)
    assert code == 0, output
    return jobs_of(output)


def contents(folder, *patterns):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in patterns
        for path in folder.glob(pattern)
    }


def available(folder):
    records = [json.loads(path.read_text()) for path in (folder / "results" / "data").glob("*.json")]
    return {record["dataset"] for record in records if record["available"]}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A finished run on two cores."""
    folder = copy(tmp_path_factory.mktemp("done"))
    code, output = run(folder, "--cores", "2")
    assert code == 0, output
    return folder, output


def test_another_library_is_refused_with_both_paths(tmp_path):
    folder = copy(tmp_path)
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import skem; from snakemake.cli import main; main(['-n'])"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", start], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert str(ROOT / "skem") in line
    assert str(folder / "skem") in line
    assert "Traceback" not in done.stderr


def test_a_run_leaves_tables_and_figures(done):
    folder, output = done
    text = (folder / "results/tables/table1.md").read_text(encoding="utf-8")
    assert text in output
    table = read_table(folder / "results/tables/table1.csv").set_index("dataset")
    assert list(table.index) == ["rice", "ionosphere"]
    assert set(table.index[table["available"]]) == available(folder)
    assert table["paper_accuracy"].tolist() == [95.0, 98.0]
    for name in table.index:
        line = next(line for line in text.splitlines() if line.startswith(f"| {name.title()} "))
        assert ("not available" in line) == (name not in available(folder))
        if name in available(folder):
            assert 0 < table.loc[name, "nested"] <= 100
            assert f"{table.loc[name, 'nested']:.2f}" in line
    parts = 3 if available(folder) else 2  # without data there are no probabilities
    assert (folder / "results/tables/table1.tex").read_text().count(r"\begin{tabular}") >= parts
    times = read_table(folder / "results/tables/table1_timing.csv").set_index("dataset")
    if available(folder):
        assert (times.loc[list(available(folder)), "seconds_per_pass"] > 0).all()
    for suffix, magic in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert (folder / f"results/figures/table1_accuracy_by_pass.{suffix}").read_bytes().startswith(magic)
    assert (
        json.loads((folder / "results/environment.json").read_text())["packages"]["numpy"] == np.__version__
    )


def test_a_method_that_fails_is_a_row_that_says_so_and_others_go_on(done):
    folder, output = done
    text = (folder / "results/tables/table1.md").read_text(encoding="utf-8")
    for dataset in available(folder):
        failed = read_table(folder / f"results/failed/{dataset}.csv")
        assert failed[["method", "setting"]].to_numpy().tolist() == [["qda", "default"]]
        assert "reg_param" in failed["error"].iloc[0]
        assert f"Failed on {dataset}, and left out: 1; results/failed/{dataset}.csv says why." in output
        assert f"QDA (default) on {dataset.title()}: InvalidParameterError: The 'reg_param'" in text
        assert next(line for line in text.splitlines() if line.startswith("| QDA ")).count("failed")


@pytest.mark.parametrize("dataset", FOLDS)
def test_the_history_has_every_pass_of_every_fold(done, dataset):
    history = read_table(done[0] / f"results/history/{dataset}.csv")
    seconds = read_table(done[0] / f"results/timings/{dataset}.csv")
    if dataset not in available(done[0]):
        assert not len(history)
        return
    keys = ["dataset", "method", "setting", "run", "fold", "rows", "pass"]
    models, rivals = history[history["method"] != "lda"], history[history["method"] == "lda"]
    kinds = {"rice": 2, "ionosphere": 3}[dataset]  # all and part of the paper's setting, part of another
    assert len(models) == kinds * RUNS * FOLDS[dataset] * PASSES
    assert len(rivals) == FOLDS[dataset]
    assert not history.duplicated(keys).any()
    pd.testing.assert_frame_equal(history[keys], seconds[keys])
    assert not any("seconds" in column for column in history)
    assert set(models["pass"]) == set(range(1, PASSES + 1))


@pytest.mark.parametrize("dataset", FOLDS)
def test_all_methods_are_tested_on_the_same_rows(done, dataset):
    truths = {}
    files = list((done[0] / "results/runs" / dataset).rglob("*.npz"))
    assert len(files) == {"rice": 2, "ionosphere": 3}[dataset]
    for path in files:
        for name, array in read_arrays(path).items():
            if name.startswith("y-"):
                np.testing.assert_array_equal(array, truths.setdefault(name, array))
    assert len(truths) == (RUNS * FOLDS[dataset] if dataset in available(done[0]) else 0)


def test_the_ledger_judges_what_was_run_and_says_why_the_rest_was_not(done):
    folder, output = done
    ledger = read_table(folder / "results/claims.csv").set_index("id")
    timing = read_table(folder / "results/claims_timing.csv").set_index("id")
    assert len(ledger) + len(timing) == 691
    assert not len(set(ledger.index) & set(timing.index))
    claim = ledger.loc["pulford.table1.ionosphere.pskem_accuracy"]
    if "ionosphere" in available(folder):
        table = read_table(folder / "results/tables/table1.csv").set_index("dataset")
        assert claim["measured"] == pytest.approx(table.loc["ionosphere", "best-pass"], rel=1e-9)
        assert claim["verdict"] in ("reproduced", "better", "worse", "too few runs")
        # Which one depends on what else the machine does.
        assert timing.loc["pulford.table1.ionosphere.seconds_per_pass", "verdict"] != "not run"
    else:
        assert claim["verdict"] == "not run"
    assert ledger.loc["pulford.table1.mnist.pskem_accuracy", "verdict"] == "not run"
    assert "mnist" in ledger.loc["pulford.table1.mnist.pskem_accuracy", "remark"]
    sanderson = ledger[(ledger["paper"] == "sanderson2017") & (ledger["basis"] == "measurement")]
    assert set(sanderson["verdict"]) == {"not run"}
    hayashi = ledger[(ledger["paper"] == "hayashi2021") & (ledger["basis"] == "measurement")]
    assert set(hayashi["verdict"]) == {"not run", "not testable"}
    titsias = ledger[ledger["paper"] == "titsias2001"]
    assert set(titsias["verdict"]) == {"not run", "theory"}
    assert titsias.loc["titsias.table4.phoneme.rbf.m8", "remark"].endswith("add the target titsias")
    assert "Claims of the papers" in output
    assert "tests/estimators/test_theory.py" in (folder / "results/claims.md").read_text(encoding="utf-8")


def inputs_of_claims(folder, *targets):
    """The rules that make the inputs of the claims table."""
    code, output = run(folder, "--rulegraph", "--", "claims", *targets)
    assert code == 0, output
    rules = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)', output, flags=re.MULTILINE))
    edges = re.findall(r"^\s*(\d+) -> (\d+)", output, flags=re.MULTILINE)
    return {rules[made] for made, user in edges if rules[user] == "claims"}


def test_claims_depend_on_the_command_and_on_no_files(tmp_path):
    folder, targets = copy(tmp_path), ("titsias", "hayashi", "hayashi_images", "sanderson")
    code, output = run(folder, "-D", "--cores", "2", "--", *targets)
    assert code == 0, output
    for name in re.findall(r"^(results/\S+)\t", output, flags=re.MULTILINE):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    alone = inputs_of_claims(folder)
    assert "pulford_values" in alone
    assert inputs_of_claims(folder, *targets) - alone == {f"{target}_values" for target in targets}


def test_a_reference_needs_the_claims_of_every_paper(tmp_path):
    folder = copy(tmp_path)
    overlay = {"datasets": {name: {"runs": 100} for name in FOLDS}}
    (folder / "more.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    code, output = run(folder, "more.yaml", "-n", "--cores", "1", "--", "reference", "hayashi", "sanderson")
    assert code != 0
    assert "error: the claims of hayashi_images, titsias are not part of this command" in output


AFTER_TRAINING = {
    "train",
    "time_passes",
    "history",
    "pulford_values",
    "table",
    "table_timing",
    "figure_accuracy_by_pass",
    "claims",
    "dots",
}


@pytest.mark.parametrize(
    ("module", "jobs"),
    [
        ("engine/em", AFTER_TRAINING),
        ("repro/papers/pulford2022/judges", {"claims", "dots"}),
    ],
)
def test_editing_the_library_reruns_what_it_changes(done, module, jobs):
    path = done[0] / "skem" / f"{module}.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "CHANGED = True\n", encoding="utf-8")
    try:
        found = wanted(done[0])
        # Data that could not be had is looked for again, and may change everything.
        everything = available(done[0]) == set(FOLDS)
        assert found == jobs if everything else found >= jobs | {"fetch_data"}
    finally:
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copied(done, tmp_path_factory):
    """A finished folder, copied as `cp -r` does: everything has another time, in any order."""
    folder = tmp_path_factory.mktemp("copied") / "skem"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(done[0], folder, symlinks=True, ignore=ignored, copy_function=shutil.copyfile)
    for path in (folder / "workflow").rglob("*.*"):
        path.touch()
    if not available(folder):
        pytest.skip("without data everything is tried again")
    return folder


def trained_by(folder, *args):
    """The available data sets on which a dry run would train or time, and what it says."""
    code, output = run(folder, "-n", "--cores", "2", *args)
    assert code == 0, output
    return set(re.findall(r": (?:training|timing) .* on (\w+)", output)) & available(folder), output


def test_a_copy_of_a_finished_folder_trains_nothing(copied):
    """Nor does it without Snakemake's folder, and another configuration still counts."""
    shutil.rmtree(copied / ".snakemake")
    assert trained_by(copied)[0] == set()
    assert trained_by(copied, "--config", "seed=1")[0] == available(copied)


def test_results_without_a_record_are_made_again(copied):
    shutil.rmtree(copied / "results/records")
    left = copied / "results/regress/accuracy/rice.json"
    left.parent.mkdir(parents=True)
    left.write_text("{}\n")
    fitted, output = trained_by(copied, "--config", "gate=accuracy", "--", "all", "regress")
    assert fitted == available(copied)
    assert "fitting rice for the gate" in output


def test_a_small_run_is_no_reference(done):
    code, output = run(done[0], "--cores", "1", "--", "reference")
    assert code != 0
    assert "error: fewer runs than the reference has: rice 2, not 5" in output
    assert not (done[0] / "results/reference").exists()


def test_the_report_shows_what_is_there_and_trains_nothing(done):
    folder, _ = done
    before = contents(folder, "results/history/*", "results/runs/**/*.csv", "results/claims.csv")
    # Not the configuration of the run: that must not matter.
    code, output = run(folder, "--cores", "1", "--config", "seed=1", "--", "report")
    assert code == 0, output
    assert "results/report.html: " in output
    html = (folder / "results/report.html").read_text(encoding="utf-8")
    table = read_table(folder / "results/tables/table1.csv")
    for value in table.loc[table["available"], "validated"] if available(folder) else ():
        assert f">{value:.2f} [" in html
    assert "seed: 2022" in html
    assert "Not part of this run:</strong> PSKEM and MDA" in html
    assert "--config &#39;experiments=[table1, mda]&#39;" in html
    assert contents(folder, "results/history/*", "results/runs/**/*.csv", "results/claims.csv") == before


def test_snakemakes_own_report_has_captions_and_categories(done):
    folder, _ = done
    code, output = run(folder, "--cores", "1", "--report", "own.html")
    assert code == 0, output
    html = (folder / "own.html").read_text(encoding="utf-8")
    for words in ("Accuracy by pass of EM", "Every number, ordering and statement", "about time", "Claims"):
        assert words in html


def test_a_table_of_the_users_own_takes_one_command(done):
    folder, rng = done[0], np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat(["a kind", "b"], 30)
    X[y == "b"] += 2
    pd.DataFrame(X, columns=["x", "z"]).assign(kind=y).to_csv(folder / "my own.csv", index=False)
    code, output = run(folder, "--cores", "1", "--config", "table=my own.csv")
    assert code == 0, output
    text = (folder / "results/own/my_own.md").read_text(encoding="utf-8")
    assert text in output
    assert "60 samples, 2 features, 2 classes. Protocol: nested, 5-fold cross-validation" in text
    table = read_table(folder / "results/own/my_own.csv")
    assert table["accuracy"].between(70, 100).all()
    assert len(read_table(folder / "results/own/my_own_predictions.csv")) == 60 * len(table)
    assert (folder / "results/own/my_own.svg").read_bytes().startswith(b"<?xml")


def trained(folder):
    return len(list((folder / "results").glob("runs/*/*/*/*-*.npz")))


def start_and_wait(folder, *args):
    """Until one more of three training jobs is done; the table is not yet."""
    before, process = trained(folder), start(folder, *args)
    while process.poll() is None and trained(folder) <= before:
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()[0]
    return process


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """A run on one core that was asked to stop, went on, was killed, unlocked, and went on to its end."""
    folder = copy(tmp_path_factory.mktemp("interrupted"))
    command = ("--cores", "1")
    stopped = start_and_wait(folder, *command)
    stopped.terminate()
    stopped.communicate(timeout=120)
    killed = start_and_wait(folder, *command)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    # Whether the kill hit a file while it was written is chance: here is what that leaves.
    (folder / "results/tables").mkdir(exist_ok=True)
    (folder / "results/tables/.table1.csv.unfinished").write_text("half")
    unlocked = run(folder, "--unlock")
    return folder, stopped.returncode, unlocked, run(folder, *command)


def test_a_run_that_was_stopped_or_killed_can_go_on(interrupted):
    _, stopped, (unlocked, message), (finished, output) = interrupted
    assert stopped != 0
    assert unlocked == 0, message
    assert finished == 0, output


def test_numbers_depend_neither_on_cores_nor_on_interruptions(done, interrupted):
    patterns = ("results/history/*.csv", "results/runs/**/[0-9]*-[0-9].csv", "results/claims.*")
    patterns += ("results/tables/*", "results/figures/*")
    expected, found = (
        {n: c for n, c in contents(folder, *patterns).items() if "_timing." not in n}
        for folder in (done[0], interrupted[0])
    )
    assert len(expected) > 12
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []


def test_only_files_about_time_have_columns_about_time(done):
    for path in (done[0] / "results").rglob("*.csv"):
        name = path.relative_to(done[0] / "results").as_posix()
        if "_timing" in name or name.startswith(("timings/", "peers", "regress")) or ".seconds." in name:
            continue
        columns = path.read_text(encoding="utf-8").partition("\n")[0].split(",")
        assert not [c for c in columns if re.search(r"second|time|speed", c)], name


def test_nothing_half_written_is_left(interrupted):
    left = [path for path in (interrupted[0] / "results").rglob(".*") if path.is_file()]
    assert [path for path in left if path.name != ".snakemake_timestamp"] == []


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """No cache, no mirror folder, no network."""
    folder = copy(tmp_path_factory.mktemp("bare"), ["rice"])
    env = {"SKEM_DATA_HOME": str(tmp_path_factory.mktemp("empty")), "SKEM_DATA_MIRROR": ""}
    return folder, env, run(folder, "--cores", "2", **env)


def test_without_data_a_run_leaves_a_row_that_says_so(bare):
    folder, _, (code, output) = bare
    assert code == 0, output
    assert "data set 'rice' is not available" in output
    text = (folder / "results/tables/table1.md").read_text(encoding="utf-8")
    assert next(line for line in text.splitlines() if "| Rice " in line).count("not available") >= 5
    assert read_table(folder / "results/tables/table1.csv")["available"].tolist() == [False]
    assert (folder / "results/figures/table1_accuracy_by_pass.png").stat().st_size > 1000


def test_a_fresh_clone_has_a_report_of_the_committed_results(tmp_path):
    folder = copy(tmp_path)
    shutil.copytree(ROOT / "results/reference", folder / "results/reference")
    code, output = run(folder, "--cores", "1", "report", "--config", "of=reference")
    assert code == 0, output
    assert "Table 1 of Pulford (2022)" in (folder / "results/reference/report.html").read_text(
        encoding="utf-8"
    )
    assert not (folder / "results/report.html").exists()


def test_a_dry_run_tries_again_and_deletes_nothing(bare):
    folder, env, _ = bare
    before = contents(folder, "results/**/*.*")
    assert {"fetch_data", "train", "table"} <= wanted(folder, **env)
    assert contents(folder, "results/**/*.*").keys() == before.keys()


def test_a_warning_about_missing_data_names_every_source(bare):
    output = bare[2][1]
    assert "warning: data set 'rice' is not available" in output
    assert "SKEM_DATA_MIRROR" in output
    for source in yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))["rice"][
        "sources"
    ]:
        for file in source.get("files", []):
            assert file["url"] in output
    assert "Traceback" not in output
