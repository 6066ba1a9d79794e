"""Records of the machine, the versions and the BLAS kernel that results were made with."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil
from threadpoolctl import threadpool_info

from skem.repro.files import read_json, write_json

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

RECORDS = Path("results/records/environment")
"""One file per job that computed: the environment of its first output."""

NUMERIC = ("numpy", "scipy", "scikit-learn", "numba")
"""Packages whose versions change results."""

PACKAGES = (
    *("pskem", "numpy", "scipy", "scikit-learn", "joblib"),
    *("numba", "threadpoolctl", "pandas", "matplotlib", "snakemake"),
)


def describe() -> dict[str, Any]:
    """Machine, versions and BLAS kernels of this process."""
    import scipy.linalg  # noqa: F401  (loads its libraries, which are listed)

    keys = ("user_api", "internal_api", "version", "architecture")
    return {
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        },
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "libraries": sorted(
            ({key: library.get(key) for key in keys} for library in threadpool_info()), key=str
        ),
        "environment": {
            name: os.environ[name] for name in ("OPENBLAS_CORETYPE", "MKL_CBWR") if name in os.environ
        },
        "commit": commit_of(ROOT),
    }


def record(outputs: Sequence[str]) -> None:
    """Record the environment in which a job made its outputs, paths from the checkout."""
    write_json(RECORDS / f"{outputs[0]}.json", describe())


def of_results() -> dict[str, Any]:
    """The environment of the results, as `describe` returns it, from the records of their jobs.

    Results of several environments have a further key, ``mixture``: one entry per environment, with its number of results.
    The rest is then about the most frequent environment. Without results it is about this process.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(RECORDS.rglob("*.json")):
        if path.relative_to(RECORDS).with_suffix("").exists():
            one = read_json(path)
            found.setdefault(json.dumps(numeric(one), sort_keys=True), []).append(one)
    if not found:
        return describe()
    most, *others = sorted(found.values(), key=len, reverse=True)
    # Commits differ where some results were made again; hashes of their code decide whether that is needed.
    commits = {one["commit"] for one in most if one["commit"]}
    environment = most[-1] | {"commit": ", ".join(sorted(commits)) or None}
    if others:
        environment["mixture"] = [numeric(same[0]) | {"results": len(same)} for same in (most, *others)]
    return environment


def mixture(environment: dict[str, Any]) -> str | None:
    """Describe results of several environments in a line; None if they have one."""
    if "mixture" not in environment:
        return None
    parts = [f"{one['results']} of {one['processor']}, {versions(one)}" for one in environment["mixture"]]
    return f"results of {len(parts)} environments: {'; '.join(parts)}"


def versions(environment: dict[str, Any]) -> str:
    """List the versions that results depend on in a line."""
    packages = (f"{name} {environment['packages'][name]}" for name in NUMERIC)
    return f"Python {environment['python']}, {', '.join(packages)}"


def numeric(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Software and hardware that results depend on."""
    machine = environment["machine"]
    system, *_, instructions = machine["system"].split()
    return {
        "processor": machine["processor"],
        "system": f"{system} {instructions}",
        "python": environment["python"],
        "packages": {name: environment["packages"][name] for name in NUMERIC},
        "environment": environment["environment"],
    }


def node() -> str:
    """Name of the machine that a job runs on: Slurm's, if there is one."""
    return os.environ.get("SLURMD_NODENAME") or platform.node()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.*)", info.read_text() if info.exists() else "", re.MULTILINE)
    return names[0].strip() if names else platform.processor() or platform.machine()


def commit_of(root: Path) -> str | None:
    """The commit of a checkout, with "-dirty" where files differ from it; None if it is no git checkout."""
    try:
        if Path(_git(root, "rev-parse", "--show-toplevel")).resolve() != root:
            return None  # another repository, which contains the folder
        return _git(root, "describe", "--always", "--dirty", "--abbrev=12", "--match=")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()
