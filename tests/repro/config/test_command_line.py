"""What is wrong in files and arguments is said in plain lines by the command, too."""

import os
import shutil
import subprocess
import sys

import pytest
import yaml
from configurations import ROOT, merged, unclear

from skem.repro.config import command_line
from skem.repro.config.documents import ConfigurationError


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("overlay.yaml", "threads: {train: two}\n", ["overlay.yaml: threads.train is 'two'", "integer"]),
        (
            "config/config.yaml",
            "runs: {ric: 3}\n",
            ["config/config.yaml: runs.ric", "unknown data set", "rice"],
        ),
        ("config/config.yaml", "", ["config/config.yaml: is empty"]),
    ],
)
def test_the_command_says_it_in_one_line(name, content, words, tmp_path):
    for part in ("Snakefile", "config", "workflow", "profiles", "skem"):
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / part)
    if name == "overlay.yaml":
        (tmp_path / name).write_text(content, encoding="utf-8")
    else:
        (tmp_path / "overlay.yaml").write_text("seed: 1\n", encoding="utf-8")
        whole = content and yaml.safe_dump(merged(yaml.safe_load(content)))
        (tmp_path / name).write_text(whole, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--configfile", "overlay.yaml"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if "error" in line.lower()]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert not unclear(lines[0], *words)
    assert "Traceback" not in done.stdout + done.stderr


def snakemake(folder, *arguments, **environment):
    """The last line on standard error, as a user has it who installed the project; nothing is run."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | environment
    command = [sys.executable, "-m", "snakemake", *arguments, "-n", "--cores", "1"]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_targets_that_no_rule_makes_are_named_with_what_was_meant():
    """Also with the backend of a notebook that is not installed."""
    targets = {
        "results/history/ric.csv": "did you mean results/history/rice.csv",
        "results/tables/mda.csv": "add --config 'experiments=[mda]'",
        "results/timings/rice/skem/none.csv": "no rule makes this target",
        "sandersn": "did you mean sanderson?",
        "history": "makes several files; name one, such as results/history/",
    }
    code, errors = snakemake(ROOT, *targets, "results/data/rice.json", MPLBACKEND="inline")
    assert code == 1
    lines = errors[errors.index("error: ") + len("error: ") :].splitlines()
    for line, (target, words) in zip(lines, targets.items(), strict=True):
        assert line.strip().startswith(f"{target}: ")
        assert words in line


def test_another_folder_is_refused_in_one_line(tmp_path):
    code, errors = snakemake(tmp_path, "-s", str(ROOT / "Snakefile"))
    assert code == 1
    assert f"error: the workflow runs in its own folder: cd {ROOT}, " in errors


def test_a_table_that_is_not_there_is_refused_in_one_line(tmp_path):
    code, errors = snakemake(ROOT, "--config", f"table={tmp_path}/no.csv")
    assert (code, errors.splitlines()[-1]) == (
        1,
        f"error: --config table={tmp_path}/no.csv: there is no such file",
    )


def test_a_target_after_an_option_is_told_where_to_go():
    for arguments in (
        ["--configfile", "config/paper.yaml", "sanderson"],
        ["--config", "seed=1", "sanderson"],
    ):
        with pytest.raises(
            SystemExit, match=r"a target goes first, as in snakemake sanderson --cores 2"
        ) as caught:
            command_line.refuse_unreadable(arguments)
        assert len(str(caught.value).splitlines()) == 1


def test_overlays_that_snakemake_cannot_read_are_named(tmp_path):
    """And arguments: it looks at both before the Snakefile, and would not say what is at fault."""
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    (tmp_path / "Snakefile").write_text("rule all:\n    shell: 'true'\n")
    bad = {
        "binary": b"\x80\xff",
        "latin": b"title: Gr\xfc\xdfe\n",
        "broken": b"a: [1\n",
        "empty": b"",
        "list": b"- a\n",
        "deep": b"[" * 1_000_000,
        "tabs": b"runs: {rice:\t1}\n",
        "template": b"__use_yte__: true\n",
    }
    for name, content in bad.items():
        (tmp_path / f"{name}.yaml").write_bytes(content)
    names = [f"{name}.yaml" for name in (*bad, "missing")]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--configfile", *names, "--config", "x"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    lines = done.stderr[done.stderr.index("error: ") + len("error: ") :].splitlines()
    assert [line.split(":")[0].split(",")[0].strip() for line in lines] == [*names, "--config"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["is empty", "mapping"]),
        ("- a\n", ["is a list"]),
        # libyaml, and so the other readers, takes these tabs.
        ("runs: {rice:\t1,\n\tmnist: 1}\n", ["line 1", "'\\t'"]),
        ("__use_yte__: true\nseed: 1\n", ["'__use_yte__'", "Snakemake's own"]),
        ("pathvars: 3\n", ["'pathvars'", "Snakemake's own"]),
        ('{\n\t"seed": 1\n}\n', []),  # JSON
    ],
)
def test_what_snakemake_would_stumble_over_in_a_file(content, words, tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_text(content, encoding="utf-8")
    if not words:
        command_line.loadable(path)
        return
    with pytest.raises(ConfigurationError) as caught:
        command_line.loadable(path)
    assert not unclear(str(caught.value), str(path), *words)


def test_what_snakemake_would_stumble_over_in_arguments():
    good = ["seed=1", "base=2022-01-05", "experiments=[mda]", "runs={rice: 1}", "base=", "base=[", "base='x'"]
    command_line.refuse_unreadable(["-n", "--config", *good, "--cores", "1"])
    bad = {
        "x": "no name=value",
        "1x=2": "'1x' is no name",
        "seed= ": "seed is ' ', which is no value",
        "seed=#": "seed is '#', which is no value",
        "pathvars=3": "Snakemake's own",
        "runs=&a {rice: *a}": "runs: written out, its aliases",
        "runs=" + "[" * 3000: "runs: nested too deeply",
    }
    with pytest.raises(SystemExit) as caught:
        command_line.refuse_unreadable(["-n", "-C", *bad, "--cores", "1"])
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("error: --config: ")
    assert len(lines) == len(bad)
    for line, words in zip(lines, bad.values(), strict=True):
        assert words in line
