"""On what machine, with which versions and which BLAS kernel a number was made."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

PACKAGES = (
    *("pskem", "numpy", "scipy", "scikit-learn", "joblib"),
    *("numba", "threadpoolctl", "pandas", "matplotlib", "snakemake"),
)


def describe() -> dict[str, Any]:
    """Machine, versions and BLAS kernels, for the record beside the results."""
    import scipy.linalg  # noqa: F401  (what it loads is to be listed)

    libraries = [
        {key: library.get(key) for key in ("user_api", "internal_api", "version", "architecture")}
        for library in threadpool_info()
    ]
    return {
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_gib": _memory_gib(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        },
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "libraries": sorted(libraries, key=str),
        "environment": {
            name: os.environ[name] for name in ("OPENBLAS_CORETYPE", "MKL_CBWR") if name in os.environ
        },
        "commit": _commit(),
    }


def node() -> str:
    """Where a job runs, for the record beside its times: as Slurm calls it, else the name of the machine."""
    return os.environ.get("SLURMD_NODENAME") or platform.node()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None


def _commit() -> str | None:
    """The commit of the checkout, with "-dirty" where files differ from it."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--match="],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
