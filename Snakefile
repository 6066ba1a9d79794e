# Reproduces the papers on shared-kernel mixtures: snakemake --cores all
from snakemake.logging import logger
from snakemake.utils import min_version

min_version("9.20")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/paper_jobs.smk"


for paper in papers.names():

    include: f"workflow/rules/{paper}.smk"


include: "workflow/rules/paper_results.smk"
include: "workflow/rules/papers.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/redrawn.smk"
include: "workflow/rules/comparison.smk"
include: "workflow/rules/own_table.smk"
include: "workflow/rules/regress.smk"
include: "workflow/rules/report.smk"


gc.freeze()
gc.enable()


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


include: "workflow/rules/reference.smk"


# A table of the user's own is all that a run without targets is about.
if STUDY.config.table:
    workflow.default_target = "compare"

if workflow.is_main_process:
    terminal.one_line_per_job(logger, workflow)

with plain_faults():  # Snakemake ends in a traceback at an unknown target
    known = {path.stem for path in Path("config/experiments").glob("*.yaml")}
    targets.check(TARGETS, list(workflow.rules), known - set(EXPERIMENTS))


onstart:
    # Its limit of jobs per second wakes Snakemake every second, again for each finished job, and each time it
    # considers all remaining jobs: after sixty jobs that takes half a core (snakemake/snakemake#2967).
    if workflow.local_exec and hasattr(workflow.scheduler, "job_rate_limiter"):
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    finished_run.record_environment()
    finished_run.show(
        *(STARTED, workflow.cores, CONFIG_FILES),
        tables=[f"results/tables/{name}.md" for name in REPRODUCED],
        others=[*TABLES, *FIGURES, "results/claims.md"],
        sources=SOURCES,
        datasets=DATASETS,
    )
