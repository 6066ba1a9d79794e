# The configuration, checked before any job, and the names everything else is built from.
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

# Figures are files. The backend of a notebook would end the import of Matplotlib, in each job, too.
os.environ["MPLBACKEND"] = "agg"

from snakemake import cli
from snakemake.rules import Wildcards

from skem.repro import environment, files, papers, records
from skem.repro.code_hash import code_of
from skem.repro.config import documents, models, targets
from skem.repro.ledger import summary
from skem.repro.study import load_study
from skem.repro.training import feature_store

STARTED = time.time()
CONFIG_FILES = ["config/config.yaml", *map(os.path.relpath, workflow.config_settings.configfiles or [])]

# Snakemake has targets only once all rules are read.
TARGETS = (
    cli.get_argument_parser().parse_known_args(sys.argv[1:])[0].targets if workflow.is_main_process else []
)


def stop(error):
    """A user's typo gets a line, not a traceback."""
    if workflow.is_main_process:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    raise WorkflowError(str(error))


if Path.cwd() != Path(workflow.basedir).resolve():
    stop(f"the workflow runs in its own folder: cd {workflow.basedir}, and leave out -s and --directory")
try:
    documents.read_mapping("config/config.yaml")  # Snakemake would not name the line of a fault
except documents.ConfigurationError as error:
    stop(error)


configfile: "config/config.yaml"


try:
    STUDY = load_study(
        config,
        [*CONFIG_FILES, dict(workflow.config_settings.config)],
        evaluators=workflow.is_main_process,  # processes of jobs do not check the claims again
    )
except documents.ConfigurationError as error:
    stop(error)

SEED = STUDY.config.seed
EXPERIMENTS = STUDY.experiments
DATASETS = STUDY.datasets
SOURCES = STUDY.sources
REPRODUCED = STUDY.reproduced

# How claims are told, per paper.
WORDS = sorted(map(str, Path("config/words").glob("*.yaml")))

# The rules of papers add: files that claims are held against, by paper, target, kind and name (the target "all" always
# counts); figures, with their paper and tables; and more that goes to results/reference if it exists.
EVIDENCE, DRAWN, REFERENCE_TOO = {}, {}, []

# The longest jobs first, so that no core waits for the last one.
PRIORITY = {"fashion_mnist": 3, "cifar10": 2, "mnist": 1, "mnist_half": 1, "mnist_half_image": 1}


if workflow.is_main_process:
    records.keep_beside()
    records.mark_unrecorded()


wildcard_constraints:
    dataset="[a-z0-9_]+",
    source="[a-z0-9_]+",
    experiment="[A-Za-z0-9_-]+",
    method="[^/]+",
    unit="[^/]+",
    block=r"\d+-\d+",
    file="[a-z0-9-]+",
    kernel="[A-Za-z0-9]+",
    size="[A-Za-z0-9]+",


def code(script):
    """A hash of what a job runs: Snakemake sees the script, but not what the script imports."""
    return code_of(f"workflow/scripts/{script}.py")


def feature_files(dataset, rows, runs):
    entry = STUDY.config.datasets[dataset]
    names = feature_store.names(entry.features, rows, runs)
    files = dict.fromkeys(feature_store.file_of(name, entry.runs_per_job, entry.runs) for name in names)
    return [f"results/features/{dataset}/{file}.npz" for file in files]


def unit_of(wildcards):
    """The settings that a job fits."""
    return STUDY.units[wildcards.dataset, wildcards.method, wildcards.unit]


def work_of(wildcards):
    """What a script needs to know of these settings."""
    spec = STUDY.config.datasets[wildcards.dataset].features
    return [asdict(setting.work(spec)) for setting in unit_of(wildcards)]


def record_environment():
    """The environment of the results, of which this run has made some."""
    path = Path("results/environment.json")
    if path.exists() and (found := environment.of_results()) != files.read_json(path):
        files.write_json(path, found)
        if said := environment.mixture(found):
            print(f"warning: {said}; {path} lists them", file=sys.stderr)


def makes(maker, target):
    """True if a rule makes a target, and has all that the names in its path stand for."""
    if not maker.is_producer(target):
        return False
    wildcards = maker.get_wildcards(target)
    try:
        maker.expand_input(wildcards)
        for value in maker.params:
            if callable(value):
                value(Wildcards(fromdict=wildcards))
    except Exception as error:  # Snakemake wraps that of an input function
        return not isinstance(error.__context__ or error, LookupError)
    return True


def show_results():
    """The tables of this run in the terminal, the verdicts, where everything is, and how long it took."""
    shown = [Path(f"results/tables/{name}.md") for name in REPRODUCED]
    made = [Path(path) for path in [*TABLES, *FIGURES, "results/claims.md"] if Path(path).exists()]
    if not made or any(path.stat().st_mtime < STARTED for path in shown if path.exists()):
        return
    seconds = time.time() - STARTED
    for path in filter(Path.exists, shown):
        print(f"\n{path.read_text(encoding='utf-8')}")
    if Path("results/claims.csv").exists():
        table = summary.overview("results/claims.csv")
        print(f"Claims of the papers, without those about time:\n{table.to_string(index=False)}\n")
    absent = [source for source in SOURCES if failed(source)]
    if absent:
        print(f"Not available, and left out: {', '.join(absent)}; results/data/*.json say why.")
    for path in map(Path, (f"results/failed/{dataset}.csv" for dataset in DATASETS)):
        if path.exists() and (count := len(files.read_table(path))):
            print(f"Failed on {path.stem}, and left out: {count}; {path} says why.")
    print("\n".join(str(path) for path in made if path.suffix in (".md", ".svg")))
    print(f"{seconds / 60:.1f} minutes on {workflow.cores} cores")
    finished = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    record = {
        "seconds": round(seconds, 1),
        "cores": workflow.cores,
        "config": CONFIG_FILES,
        "finished": finished,
    }
    Path("results/run.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
