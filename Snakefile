# Reproduces the papers on shared-kernel mixtures: snakemake --cores all
import os
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.20")

# The library of this checkout runs, whichever is installed: here, in jobs, and in the processes that they start.
CHECKOUT = str(Path(workflow.basedir).resolve())
sys.path.insert(0, CHECKOUT)
if os.environ.get("PYTHONPATH", "").split(os.pathsep)[0] != CHECKOUT:
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [CHECKOUT, os.environ.get("PYTHONPATH")]))
import skem

if Path(skem.__file__).resolve().parent != Path(CHECKOUT, "skem").resolve():
    print(
        f"error: the library that was imported is {Path(skem.__file__).parent}, not {CHECKOUT}/skem of this checkout: "
        "call snakemake in the folder of this checkout, with neither in PYTHONPATH",
        file=sys.stderr,
    )
    sys.exit(1)


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"


for paper in papers.names():

    include: f"workflow/rules/{paper}.smk"


include: "workflow/rules/papers.smk"
include: "workflow/rules/peers.smk"
include: "workflow/rules/frontier.smk"
include: "workflow/rules/own_table.smk"
include: "workflow/rules/regress.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        TABLES,
        FIGURES,
        expand("results/history/{dataset}.csv", dataset=DATASETS),
        "results/claims.csv",
        "results/environment.json",
        "results/configuration.yaml",
    localrule: True


def refuse_fewer_runs():
    """A reference is not replaced by one of fewer runs without a word."""
    reference = Path("results/reference/configuration.yaml")
    before = documents.read_mapping(reference if reference.exists() else "config/config.yaml")["datasets"]
    runs = {name: (entry.runs, before.get(name, {}).get("runs", 0)) for name, entry in DATASETS.items()}
    fewer = [f"{name} {ours}, not {theirs}" for name, (ours, theirs) in runs.items() if ours < theirs]
    if fewer:
        stop(
            "fewer runs than the reference has: "
            + ", ".join(fewer)
            + "; add --configfile config/paper.yaml, or --config reference=anyway to make it the reference nevertheless"
        )


def refuse_fewer_claims():
    """A reference has the claims of every paper."""
    absent = {target for paper in EVIDENCE.values() for target in paper} - {"all", *TARGETS}
    if absent:
        stop(
            f"the claims of {', '.join(sorted(absent))} are not part of this command; add these targets, "
            "or --config reference=anyway to make it the reference nevertheless"
        )


rule reference:
    """Copy what a finished run wrote to results/reference/, which is committed."""
    input:
        TABLES,
        FIGURES,
        "results/environment.json",
    localrule: True
    params:
        anyway=STUDY.config.reference is not None,
        # What is there of these.
        others=[f"results/tables/{name}_summary.csv" for name in REPRODUCED]
        + [
            "results/claims.csv",
            "results/claims.md",
            "results/claims_timing.csv",
            "results/claims_timing.md",
            "results/measured_claims.csv",
            "results/measured_claims.md",
            "results/readings.csv",
        ]
        + [f"results/peers.{suffix}" for suffix in ("csv", "md", "svg", "pdf")]
        + ["results/run.json", "results/configuration.yaml"]
        + [f"results/data/{source}.json" for source in SOURCES]
        + REFERENCE_TOO,
    message:
        "copying tables and figures to results/reference"
    script:
        "workflow/scripts/reference.py"


if "reference" in TARGETS and not STUDY.config.reference:
    refuse_fewer_runs()
    refuse_fewer_claims()

# A table of the user's own is all that a run without targets is about.
if STUDY.config.table:
    workflow.default_target = "compare"

# Checked here, where all rules are known: Snakemake's own message is a traceback.
try:
    targets.check(
        TARGETS,
        list(workflow.rules),
        makes,
        {"dataset": DATASETS, "source": SOURCES, "experiment": REPRODUCED, "figure": DRAWN},
        {path.stem for path in Path("config/experiments").glob("*.yaml")} - set(EXPERIMENTS),
    )
except documents.ConfigurationError as error:
    stop(error)


onstart:
    # Because of its limit of jobs per second Snakemake wakes up every second, once more for each job that has ended,
    # and looks at all that remain: sixty jobs on, half a core did nothing else (snakemake/snakemake#2967).
    if workflow.local_exec and hasattr(workflow.scheduler, "job_rate_limiter"):
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    record_environment()
    show_results()
