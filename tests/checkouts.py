"""Copies of the project with a Table 1 of seconds, and Snakemake in them. Nothing leaves this machine."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
ROOT = Path(__file__).parents[1]
COPIED = (
    *("Snakefile", "config", "workflow", "profiles", "CITATION.cff"),
    *("skem", "snakemake_logger_plugin_skem"),
)
PASSES, RUNS, FOLDS = 3, 2, {"rice": 10, "ionosphere": 5}
DATASETS = ("rice", "ionosphere", "mnist", "fashion_mnist", "cifar10")


def copy(folder, datasets=tuple(FOLDS)):
    """The repository with a Table 1 of seconds: few passes, one or two settings, one baseline, and one that fails."""
    for part in COPIED:
        source, ignore = ROOT / part, shutil.ignore_patterns("__pycache__")
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=ignore)
        else:
            shutil.copy(source, folder / part)
    # One cache of numba for all copies: compiling the loops again takes half a minute.
    cache = ROOT / "skem/engine/__pycache__"
    cache.mkdir(exist_ok=True)
    (folder / "skem/engine/__pycache__").symlink_to(cache, target_is_directory=True)
    # The library of this checkout lacks it, so whatever runs that one fails.
    (folder / "skem" / "of_this_copy.py").touch()
    for path in (folder / "workflow").glob("scripts/*.py"):
        path.write_text(f"{path.read_text(encoding='utf-8')}\nimport skem.of_this_copy\n", encoding="utf-8")
    path = folder / "skem/repro/training/classifiers/baselines.py"
    code = path.read_text(encoding="utf-8")
    path.write_text(code.replace('"reg_param": [1e-3, 1e-2', '"reg_param": [-1.0, 1e-2'), encoding="utf-8")
    path = folder / "config" / "experiments" / "table1.yaml"
    # Claims may name only what some experiment trains.
    shutil.copy(path, path.with_name("whole.yaml"))
    experiment = yaml.safe_load(path.read_text(encoding="utf-8"))
    entries = experiment["data_sets"] = {name: experiment["data_sets"][name] for name in FOLDS}
    for name, count in (("rice", 1), ("ionosphere", 2)):
        entries[name]["max_iter"] = PASSES
        method, how = next(iter(entries[name]["methods"].items()))
        how["settings"] = dict(list(how["settings"].items())[:count])
        del how["candidates"]
        entries[name]["paper"]["chosen_on_test"] = [entries[name]["paper"]["setting"]]
        entries[name]["methods"] = {method: how}
    path.write_text(yaml.safe_dump(experiment, sort_keys=False), encoding="utf-8")
    path = folder / "config/pulford2022.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("headlines: table1", "headlines: whole"), encoding="utf-8")
    # Few and fast methods are compared on a table of the user's own.
    path = folder / "skem/repro/training/classifiers/comparison.py"
    code = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"comparison=\{[^}]*\}", "comparison=None", code), encoding="utf-8")
    none = {"runs": 0, "baseline_runs": 0}
    few = {"runs": RUNS, "runs_per_job": RUNS, "baseline_runs": 1}
    overlay = {
        "datasets": {name: few if name in datasets else none for name in DATASETS},
        "baselines": {"names": ["qda", "lda"]},
        "timing": {"iterations": 2},
    }
    (folder / "tiny.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    return folder


INSTALLED = """
import sys
from pathlib import Path
others = [path for path in sys.path if not Path(path, "skem", "__init__.py").exists()]
sys.path[:] = [*others, {folder!r}]
"""


def installed(folder):
    """Variables of a Python in which the library of a folder is installed, as by pip install --editable."""
    site = Path(folder, ".site")
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(INSTALLED.format(folder=str(folder)), encoding="utf-8")
    return {"PYTHONPATH": str(site)}


def start(folder, *args, **env):
    """Snakemake as a user calls it: by its command."""
    environment = {k: v for k, v in os.environ.items() if k not in env} | installed(folder)
    environment |= {k: v for k, v in env.items() if v}
    return subprocess.Popen(
        [Path(sys.executable).with_name("snakemake"), "--configfile", "tiny.yaml", *args],
        cwd=folder,
        env=environment | {"SKEM_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(folder, *args, **env):
    process = start(folder, *args, **env)
    output, _ = process.communicate(timeout=600)
    return process.returncode, output
