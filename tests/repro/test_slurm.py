"""The workflow on a real Slurm: pytest -m slurm. Some minutes, as each job starts Snakemake three times."""

import json
import os
import re
import signal
import subprocess
import time

import pandas as pd
import pytest
import slurm_cluster as cluster
from checkouts import copy, run, start

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(cluster.why_not() is not None, reason=str(cluster.why_not())),
]
PROFILE = (
    *("--profile", "profiles/slurm", "--cores", str(os.cpu_count())),
    *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "5"),
)
OF_TIME = re.compile(r"timing|seconds|run\.json$|^results/records/")


@pytest.fixture(scope="module", autouse=True)
def slurm(tmp_path_factory):
    with cluster.running(tmp_path_factory.mktemp("cluster")):
        yield


def project(folder):
    folder.mkdir()
    return copy(folder, ("ionosphere",))


def contents(folder):
    """Results of a run without times."""
    paths = [path for path in (folder / "results").rglob("*") if path.is_file()]
    names = {str(path.relative_to(folder)): path for path in paths}
    return {name: path.read_bytes() for name, path in names.items() if not OF_TIME.search(name)}


def wait_for(what, process, seconds=300):
    end = time.monotonic() + seconds
    while not (found := what()):
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < end, "too long"
        time.sleep(0.2)
    return found


def test_cancelled_and_killed_a_run_ends_with_the_bytes_of_a_local_one(tmp_path):
    here, there = (project(tmp_path / name) for name in ("here", "there"))
    process = start(there, *PROFILE)
    cancelled = wait_for(lambda: cluster.jobs("RUNNING"), process)[0]
    subprocess.run(["scancel", cancelled], check=True)
    # Snakemake submits it once more, as another job; this time Snakemake itself is killed beside it.
    wait_for(lambda: set(cluster.jobs("RUNNING")) - {cancelled}, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert cluster.jobs("RUNNING"), "jobs outlive Snakemake"

    code, output = run(there, *PROFILE)
    assert code != 0
    assert "--unlock" in output
    subprocess.run(["scancel", "--partition=main"], check=True)
    assert run(there, "--unlock", "--cores", "1")[0] == 0
    code, output = run(there, *PROFILE)
    assert code == 0, output
    assert not list((there / "results").rglob(".*unfinished"))

    code, output = run(here, "--cores", "2")
    assert code == 0, output
    local, remote = contents(here), contents(there)
    assert len(local) > 20
    assert local.keys() == remote.keys()
    assert [name for name in local if local[name] != remote[name]] == []

    code, output = run(there, *PROFILE)
    assert code == 0, output
    records = [json.loads(path.read_text(encoding="utf-8")) for path in there.glob("results/data/*.json")]
    # What could not be had is tried again.
    assert "Nothing to be done" in output or not all(record["available"] for record in records)

    timed = pd.read_csv(next(there.glob("results/timings/ionosphere/**/*.csv")))
    assert set(timed["node"]) == {cluster.ask("sinfo", "-h", "-o", "%n")}
