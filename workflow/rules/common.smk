# The configuration, checked before any job, and the names that all rules share.
import gc

gc.disable()  # all that is made while the rules are read stays; the Snakefile enables it again
import os
import signal
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

# Files of the user in this folder, such as random.py, hide no module of Python from jobs.
os.environ.update(PYTHONSAFEPATH="1")
# Figures are files. The backend of a notebook would end the import of Matplotlib in each job.
os.environ.update(MPLBACKEND="agg")

import psutil

import skem
from skem import datasets
from skem.repro import finished_run, papers
from skem.repro.code_hash import code_of, code_of_classifiers
from skem.repro.config import documents, models, targets
from skem.repro.study import load_study
from skem.repro.training import classifiers, feature_store

STARTED = time.time()
OVERLAYS = [
    min(os.path.relpath(path), str(path), key=len) for path in workflow.config_settings.configfiles or []
]
CONFIG_FILES = ["config/config.yaml", *OVERLAYS]


def targets_given():
    """The targets of the command, which Snakemake has once all rules are read: for functions of inputs and params."""
    return workflow.dag_settings.targets


def stop(error):
    """A user's typo gets a line, not a traceback."""
    if workflow.is_main_process:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    raise WorkflowError(str(error))


@contextmanager
def plain_faults():
    try:
        yield
    except documents.ConfigurationError as error:
        stop(error)


def end_jobs(_, frame):
    """A handler of SIGTERM: end the jobs and the run, as Ctrl-C in a terminal does. Snakemake's waits for the jobs."""
    for process in psutil.Process().children(recursive=True):
        process.send_signal(signal.SIGINT)
    # While coroutines run, asyncio has a handler of its own. A background process of a shell has none.
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)


if Path.cwd() != Path(workflow.basedir).resolve():
    stop(f"the workflow runs in its own folder: cd {workflow.basedir}, and leave out -s and --directory")
LIBRARY = Path(skem.__file__).resolve().parents[1]
if LIBRARY != Path(workflow.basedir).resolve():
    stop(
        f"jobs would run the library in {LIBRARY}, not the one of this checkout: "
        "pip install -e '.[pipeline]' in this folder, or set PYTHONPATH to it"
    )
with plain_faults():
    documents.read_mapping("config/config.yaml")  # Snakemake would not name the line of a fault


configfile: "config/config.yaml"


with plain_faults():
    STUDY = load_study(config, [*CONFIG_FILES, dict(workflow.config_settings.config)])

SEED = STUDY.config.seed
EXPERIMENTS = STUDY.experiments
DATASETS = STUDY.datasets
SOURCES = STUDY.sources
REPRODUCED = STUDY.reproduced

# The rules of papers add: tables of values that claims are measured on, by paper, target and name (the target "all" always
# counts); figures, with their paper and tables; and more that goes to results/reference if it exists.
EVIDENCE, DRAWN, REFERENCE_TOO = {}, {}, []


wildcard_constraints:
    dataset="|".join(STUDY.config.datasets),
    source="[a-z0-9_]+",
    experiment="[A-Za-z0-9_-]+",
    method="[^/]+",
    unit="[^/]+",
    batch=r"\d+-\d+",
    file="[a-z0-9-]+",
    kernel="[A-Za-z0-9]+",
    size="[A-Za-z0-9]+",


def reported(path, category, label, caption):
    """An output that Snakemake's own report shows; ``label`` is its kind and its name."""
    return report(path, category=category, labels=dict([label]), caption=f"../report/{caption}.rst")


def spec_of(wildcards):
    """The recipe of a data set's features."""
    return STUDY.config.datasets[wildcards.dataset].features


def feature_files(dataset, rows, runs):
    entry = STUDY.config.datasets[dataset]
    n_parts = min(entry.runs, entry.validation_runs or 0)
    files = {}
    for kind in rows:
        wanted = [run for run in runs if run < n_parts] if kind == "part" and n_parts else runs
        for name in feature_store.names(entry.features, [kind], wanted):
            file = feature_store.file_of(name, entry.runs_per_job, entry.runs, n_parts)
            files[f"results/features/{dataset}/{file}.npz"] = None
    return list(files)


def by_size(wildcards):
    """Millions of training values: the largest jobs start first, so that no core waits for the last one."""
    spec = spec_of(wildcards)
    return models.samples_trained(spec, "all") * models.n_features(spec) // 10**6
