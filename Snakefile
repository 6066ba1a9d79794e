# Reproduces the papers on shared-kernel mixtures: snakemake --cores all
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
        results_of_all,
    localrule: True


include: "workflow/rules/reference.smk"


if STUDY.config.table:

    # All that a run without targets is about.
    rule own_table:
        default_target: True
        input:
            rules.compare.output,
        localrule: True


# Snakemake hashes the scripts of jobs, but not what they import; fetched data are verified by their own hash.
for each in workflow.rules:
    if each.script and each.name != "fetch_data":
        name = Path(each.script.format(params=each.params)).name
        each.set_params(code=code_of(f"workflow/scripts/{name}"))


targets.known(
    [rule for rule in workflow.rules if not rule.has_wildcards()],
    {path.stem for path in Path("config/experiments").glob("*.yaml")} - set(EXPERIMENTS),
)


onstart:
    signal.signal(signal.SIGTERM, end_jobs)
    if workflow.local_exec:
        # With its limit, Snakemake looks at all jobs every second, and again for each that has finished (snakemake/snakemake#2967).
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    if not workflow.touch:  # nothing was made
        finished_run.record_environment()
        finished_run.show(
            *(STARTED, workflow.cores, CONFIG_FILES),
            tables=[f"results/tables/{name}.md" for name in REPRODUCED],
            others=[*TABLES, *all_figures(), "results/claims.md"],
            sources=SOURCES,
            datasets=DATASETS,
        )
