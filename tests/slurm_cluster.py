"""A Slurm of one node, this machine, for as long as a test lasts. It needs root and the packages slurm-wlm and munge."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

SETTINGS = Path("/etc/slurm/slurm.conf")
"""Where srun looks in a job: the executor takes all SLURM_ variables out of a job's environment, SLURM_CONF too."""

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={node}(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
# No accounting, so squeue has to remember the jobs that have ended.
MinJobAge=3600
ReturnToService=2
NodeName={node} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={megabytes}
PartitionName=main Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why no such cluster can be started here, or None."""
    missing = [program for program in ("slurmctld", "slurmd", "munged", "srun") if not shutil.which(program)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if os.geteuid():
        return "only root can start one"
    return f"{SETTINGS} is of another cluster" if SETTINGS.exists() else None


@contextmanager
def running(folder):
    """Start the cluster, its files in ``folder``, and stop it with all its jobs at the end."""
    started = None if _has_munge() else _start_munge()
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    text = CONFIGURATION.format(
        folder=folder,
        node=socket.gethostname().partition(".")[0],
        cores=os.cpu_count(),
        megabytes=memory // 2**20 * 9 // 10,
    )
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    SETTINGS.unlink(missing_ok=True)  # a link to a folder that is no more
    SETTINGS.symlink_to(folder / "slurm.conf")
    try:
        for daemon in ("slurmctld", "slurmd"):
            subprocess.run([daemon], check=True)
        _until(lambda: ask("sinfo", "-h", "-o", "%t") == "idle", "the node of Slurm is not idle", folder)
        yield
    finally:
        subprocess.run(["scancel", "--partition=main"], check=False)
        for daemon in ("slurmd", "slurmctld"):
            _stop(folder / f"{daemon}.pid")
        SETTINGS.unlink()
        if started:
            _stop(started)


def ask(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def jobs(*states):
    """The numbers of all jobs, or of those in some states."""
    states = ["-t", ",".join(states)] if states else []
    return ask("squeue", "-h", "-o", "%i", *states).split()


def _has_munge():
    return subprocess.run(["munge", "-n"], capture_output=True, check=False).returncode == 0


def _start_munge():
    folder = Path("/run/munge")
    folder.mkdir(exist_ok=True)
    shutil.chown(folder, "munge", "munge")
    subprocess.run(["runuser", "-u", "munge", "--", "munged"], check=True)
    return folder / "munged.pid"


def _stop(pid_file):
    if pid_file.exists():
        os.kill(int(pid_file.read_text()), 15)
        _until(lambda: not pid_file.exists(), f"{pid_file.stem} does not end")


def _until(what, complaint, folder=None, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            logs = "".join(path.read_text() for path in folder.glob("*.log")) if folder else ""
            raise TimeoutError(f"{complaint}\n{logs}")
        time.sleep(0.2)
