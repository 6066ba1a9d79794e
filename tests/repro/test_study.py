"""The configuration as a user meets it: every fault in one list of plain lines, before any job."""

import copy
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from claims import ROOT

from skem.repro import study
from skem.repro.config.documents import ConfigurationError, merged, read
from skem.repro.training import feature_store

CONFIG = ROOT / "config" / "config.yaml"


def load(*overlays, given=None, folder=ROOT / "config"):
    files = [CONFIG, *overlays, given or {}]
    config = merged(copy.deepcopy(read(CONFIG)), {})
    for overlay in overlays:
        config = merged(config, read(overlay))
    return study.load_study(merged(config, given or {}), files, folder, evaluators=False)


def faults(**arguments):
    with pytest.raises(ConfigurationError) as caught:
        load(**arguments)
    return str(caught.value).split("\n       ")


@pytest.mark.parametrize("overlays", [["paper"], ["ci"], ["paper", "ci"]])
def test_the_committed_configurations(overlays):
    found = load(*(ROOT / "config" / f"{name}.yaml" for name in overlays))
    for setting in found.settings.values():
        entry = found.datasets[setting.dataset]
        assert len(setting.runs) <= entry.runs
        blocks = setting.blocks(entry.runs_per_job)
        assert [run for block in blocks for run in feature_store.runs_of(block)] == setting.runs


@pytest.mark.parametrize("experiment", sorted(path.stem for path in ROOT.glob("config/experiments/*.yaml")))
def test_the_committed_experiments(experiment):
    content = read(ROOT / f"config/experiments/{experiment}.yaml")
    assert set(load(given={"experiments": [experiment]}).datasets) <= set(content["data_sets"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sead": 1}, "--config: unknown key sead; did you mean seed?"),
        ({"seed": "1"}, "--config: seed is '1'; should be a valid integer; leave out the quotes"),
        ({"seed": 3.0}, "seed is 3.0; should be a valid integer"),
        ({"seed": True}, "seed is True; should be a valid integer"),
        ({"seed": -1}, "seed is -1; should be greater than or equal to 0"),
        ({"experiments": []}, r"experiments is \[\]; should have at least 1 item"),
        ({"experiments": "table1"}, "experiments is 'table1'; should be a valid array"),
        ({"experiments": ["tabel1"]}, "experiments: there is no .*tabel1.yaml; did you mean table1?"),
        ({"experiments": ["table1", "table1"]}, "experiments: 'table1' occurs twice"),
        ({"grids": "al"}, "grids is 'al'; did you mean all?"),
        ({"datasets": {"rise": {"runs": 3}}}, "unknown data set datasets.rise, .* did you mean rice?"),
        ({"datasets": {"rice": {"rums": 3}}}, "unknown key datasets.rice.rums; did you mean runs?"),
        ({"datasets": {"rice": {"runs": "3"}}}, "datasets.rice.runs is '3'; .*for --configfile"),
        ({"datasets": {"rice": {"presets": ["knn_4"]}}}, "presets.0 is 'knn_4'; did you mean knn_"),
        ({"datasets": {"rice": {"baseline_features": 8}}}, "baseline_features is 8; there are 7 features"),
        ({"datasets": {"rice": {"features": {"source": "rise"}}}}, "source is 'rise'; did you mean rice?"),
        ({"datasets": {"rice": {"features": {"recipe": "image"}}}}, "features.recipe is 'image'; allowed: 'table'"),
        ({"datasets": {"rice": {"features": {"n_comp": 3}}}}, "features.n_comp; .*allowed: source, .*, dtype$"),
        ({"datasets": {"rice": {"features": {"n_folds": 3000}}}}, "rice has samples for at most 1905 folds"),
        ({"datasets": {"mnist": {"features": {"n_train": 60000}}}}, "70000 images; mnist has 60000"),
        ({"datasets": {"cifar10": {"features": {"deskew": True}}}}, "deskew is True; cifar10 has colours"),
        ({"datasets": {"mnist": {"baseline_features": 9, "features": {"n_components": 50}}}}, "table1.yaml: .*n_features is 60; mnist has 50"),
        ({"papers": {"hayashi": {"splits": 3}}}, "papers names 'hayashi'; did you mean hayashi2021?"),
        ({"papers": {"hayashi2021": {"splits": 1}}}, "changed by papers.hayashi2021: splits is 1; should be greater"),
    ],
)  # fmt: skip
def test_each_kind_of_fault(given, words):
    found = faults(given=given)
    assert any(re.search(words, line) for line in found), found
    assert max(map(len, found)) < 400


def test_faults_of_all_files_are_reported_together(tmp_path):
    folder = shutil.copytree(ROOT / "config", tmp_path / "config")
    for name, old, new in (
        ("experiments/table1.yaml", "reg_covar: 0.03", "reg_covar: 1e-6"),
        ("titsias2001.yaml", "n_folds: 5", "n_folds: one"),
        ("peers.yaml", "engine: oneDAL", "engine: oneDALL"),
        ("frontier.yaml", "model: knn_5", "model: knn_55"),
        ("regress.yaml", "rounds: 4", "rounds: 0"),
    ):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    found = faults(given={"sead": 1, "timing": {"passes": 0}}, folder=folder)
    for words in (
        "unknown key sead",
        "timing.passes is 0",
        "table1.yaml: params.reg_covar is '1e-6'; should be a valid number; write 1e-6 with a point",
        "titsias2001.yaml: n_folds is 'one'",
        "beside.engine is 'oneDALL'; did you mean oneDAL?",
        "names 'knn_55'; did you mean knn_5?",
        "regress.yaml: timing.rounds is 0",
    ):
        assert any(words in line for line in found), (words, found)
    assert len(found) == len(set(found))


def test_a_fault_is_attributed_to_the_file_that_has_it(tmp_path):
    bad, good = tmp_path / "bad.yaml", tmp_path / "good.yaml"
    bad.write_text("datasets: {rice: {runs: many}}\n")
    good.write_text("datasets: {rice: {runs_per_job: 2}}\n")
    with pytest.raises(ConfigurationError, match=rf"^{bad}: datasets.rice.runs is 'many'"):
        load(bad, good)


def test_two_experiments_may_not_give_two_settings_one_name(tmp_path):
    folder = shutil.copytree(ROOT / "config", tmp_path / "config")
    for name, ridge in (("one", 0.1), ("two", 0.2)):
        how = {
            "model": "pskem",
            "params": {"reg_covar": ridge},
            "grid": {"partition": ["1x7"], "rows": ["all"]},
        }
        content = {"title": name, "data_sets": {"rice": {"max_iter": 2, "methods": {"own": how}}}}
        (folder / "experiments" / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    (line,) = faults(given={"experiments": ["one", "two"]}, folder=folder)
    assert line.endswith("two.yaml: rice/own/1x7 is another setting in another experiment")


def snakemake(*arguments, folder=ROOT, **environment):
    """Exit status and standard error of a dry run."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | environment
    command = [sys.executable, "-m", "snakemake", *arguments, "-n", "--cores", "1"]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, done.stderr


def test_the_command_reports_all_faults_without_a_traceback(tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("datasets: {rise: {runs: 3}}\nseeed: 1\n")
    code, errors = snakemake("--configfile", str(overlay), "--config", "grids=some")
    assert code == 1
    lines = errors[errors.index("error: ") :].splitlines()
    assert len(lines) == 3
    for words in ("datasets.rise", "unknown key seeed", "--config: grids is 'some'"):
        assert any(words in line for line in lines)


def test_unknown_targets_are_named_with_suggestions():
    """Also with the backend of a notebook that is not installed."""
    targets = {
        "results/history/ric.csv": "did you mean results/history/rice.csv",
        "results/tables/mda.csv": "add --config 'experiments=[mda]'",
        "sandersn": "did you mean sanderson?",
        "nonsense": "no rule makes this target; targets are",
        "history": "makes several files; name one, such as results/history/",
    }
    code, errors = snakemake(*targets, "results/data/rice.json", MPLBACKEND="inline")
    assert code == 1
    lines = errors[errors.index("error: ") + len("error: ") :].splitlines()
    for line, (target, words) in zip(lines, targets.items(), strict=True):
        assert line.strip().startswith(f"{target}: ")
        assert words in line


def test_another_folder_and_a_missing_table_are_refused_in_one_line(tmp_path):
    code, errors = snakemake("-s", str(ROOT / "Snakefile"), folder=tmp_path)
    assert code == 1
    assert f"error: the workflow runs in its own folder: cd {ROOT}, " in errors
    code, errors = snakemake("--config", "table=no.csv")
    assert (code, errors.splitlines()[-1]) == (1, "error: --config table=no.csv: there is no such file")
