"""The configuration as a user meets it: every fault in one list of plain lines, before any job."""

import os
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml
from claims import ROOT

from skem.repro import study
from skem.repro.config import targets
from skem.repro.config.documents import ConfigurationError, merged, read
from skem.repro.training import feature_store

CONFIG = ROOT / "config" / "config.yaml"


def load(*overlays, given=None, folder=ROOT / "config"):
    files = [CONFIG, *overlays, given or {}]
    config = read(CONFIG)
    for overlay in overlays:
        config = merged(config, read(overlay))
    return study.load_study(merged(config, given or {}), files, folder)


def faults(**arguments):
    with pytest.raises(ConfigurationError) as caught:
        load(**arguments)
    return str(caught.value).split("\n       ")


@pytest.mark.parametrize("overlay", ["paper", "ci"])
def test_the_committed_configurations(overlay):
    found = load(ROOT / "config" / f"{overlay}.yaml")
    for setting in found.settings.values():
        entry = found.datasets[setting.dataset]
        assert len(setting.runs) <= entry.runs
        batches = setting.batches(entry.runs_per_job)
        assert [run for batch in batches for run in feature_store.runs_of(batch)] == setting.runs


def test_the_committed_experiments():
    """All in one run: no two have another setting of one name."""
    names = sorted(path.stem for path in ROOT.glob("config/experiments/*.yaml"))
    assert list(load(given={"experiments": names}).experiments) == names


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {
                "sead": 1,
                "seed": "1",
                "experiments": "mda",
                "grids": "al",
                "datasets": {
                    "rise": {"runs": 3},
                    "rice": {"rums": 3, "runs": "3", "presets": ["knn_4"], "features": {"source": "rise"}},
                    "ionosphere": {"features": {"recipe": "image", "n_comp": 3}},
                    "mnist": {"features": {"n_comp": 3}},
                },
                "timing": {"iterations": 0},
            },
            [
                "--config: unknown key sead; did you mean seed?",
                "--config: seed is '1'; should be a valid integer; leave out the quotes",
                r"experiments is 'mda'; should be a list; write --config 'experiments=\[mda\]'",
                "grids is 'al'; did you mean all?",
                "unknown data set datasets.rise, .* did you mean rice?",
                "unknown key datasets.rice.rums; did you mean runs?",
                "datasets.rice.runs is '3'; .*for --configfile",
                "presets.0 is 'knn_4'; did you mean knn_",
                "datasets.rice.features.source: is 'rise'; did you mean rice?",
                "features.recipe is 'image'; allowed: 'table'",
                "unknown key datasets.mnist.features.n_comp; did you mean n_components",
                "timing.iterations is 0; should be greater than or equal to 1",
            ],
        ),
        (
            {
                "datasets": {
                    "rice": {"features": {"n_folds": 3000}},
                    "ionosphere": {"baseline_features": 33},
                    "mnist": {"features": {"n_train": 60000}},
                    "cifar10": {"features": {"deskew": True}},
                    "mnist_half": {"validation_runs": 1},
                },
            },
            [
                "rice has samples for at most 1905 folds",
                "baseline_features is 33; there are 32 features",
                "70000 images; mnist has 60000",
                "deskew is True; cifar10 has colours",
                "datasets.mnist_half: .*validation_runs is 1; only images with a validation_fraction",
            ],
        ),
        (
            {
                "experiments": ["tabel1", "table1"],
                "papers": {"hayashi": {"splits": 3}, "hayashi2021": {"splits": 1}},
            },
            [
                "tabel1.yaml: there is no such file; did you mean .*table1.yaml?",
                "papers names 'hayashi'; did you mean hayashi2021?",
                "changed by papers.hayashi2021: splits is 1; should be greater",
            ],
        ),
        ({"experiments": ["table1", "table1"]}, ["experiments: 'table1' occurs twice"]),
    ],
)
def test_all_faults_are_in_one_list_of_plain_lines(given, words):
    found = faults(given=given)
    for pattern in words:
        assert any(re.search(pattern, line) for line in found), (pattern, found)
    assert len(found) == len(set(found)) >= len(words)
    assert max(map(len, found)) < 400


def test_faults_of_all_files_are_reported_together(tmp_path):
    folder = shutil.copytree(ROOT / "config", tmp_path / "config")
    for name, old, new in (
        ("experiments/table1.yaml", "reg_covar: 0.03", "reg_covar: 1e-6"),
        ("titsias2001.yaml", "n_folds: 5", "n_folds: one"),
        ("comparison.yaml", "model: discriminative_pskem,", "model: discriminative_psken,"),
    ):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    found = faults(given={"sead": 1, "timing": {"iterations": 0}}, folder=folder)
    for words in (
        "unknown key sead",
        "timing.iterations is 0",
        "table1.yaml: params.reg_covar is '1e-6'; should be a valid number; write 1e-6 with a point",
        "titsias2001.yaml: n_folds is 'one'",
        "is 'discriminative_psken'; did you mean discriminative_pskem?",
    ):
        assert any(words in line for line in found), (words, found)
    assert len(found) == len(set(found))


def test_two_experiments_may_not_give_two_settings_one_name(tmp_path):
    folder = shutil.copytree(ROOT / "config", tmp_path / "config")
    for name, reg_covar in (("one", 0.1), ("two", 0.2)):
        how = {
            "model": "pskem",
            "params": {"reg_covar": reg_covar},
            "grid": {"partition": ["1x7"], "rows": ["all"]},
        }
        content = {"title": name, "data_sets": {"rice": {"max_iter": 2, "methods": {"own": how}}}}
        (folder / "experiments" / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    (line,) = faults(given={"experiments": ["one", "two"]}, folder=folder)
    assert line.endswith("two.yaml: rice/own/1x7 is another setting in another experiment")


def test_some_data_sets_alone():
    assert list(load(given={"only": ["ionosphere"]}).datasets) == ["ionosphere"]
    (line,) = faults(given={"only": ["ionospere"]})
    assert line.startswith("--config: only")
    assert "did you mean ionosphere" in line


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("results/history/ric.csv", "did you mean results/history/rice.csv"),
        ("results/tables/mda.csv", r"add --config 'experiments=\[mda\]'"),
        ("sandersn", r"did you mean sanderson\?$"),
        ("nonsense", "no rule makes this target; snakemake --list-rules"),
    ],
)
def test_an_unknown_target_is_explained_with_the_nearest(target, words):
    everything = SimpleNamespace(name="all", input=["results/history/rice.csv"], output=[])
    targets.known([everything, SimpleNamespace(name="sanderson", input=[], output=[])], ["mda"])
    message = f"MissingRuleException:\nNo rule to produce {target} (if you use input functions ...)."
    assert re.search(rf"^{target}: .*{words}", targets.explained(message))


def snakemake(*arguments, **environment):
    """Errors of a dry run that fails."""
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, "-m", "snakemake", *arguments, "-n", "--cores", "1"]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == 1
    return done.stderr[done.stderr.index("error: ") + len("error: ") :].splitlines()


def test_the_command_refuses_unknown_targets_without_a_traceback():
    """Also with the backend of a notebook that is not installed."""
    (line,) = snakemake("results/history/ric.csv", "results/data/rice.json", MPLBACKEND="inline")
    assert line.endswith("did you mean results/history/rice.csv?")
    (line,) = snakemake("compare")
    assert line.startswith("compare needs a file")
