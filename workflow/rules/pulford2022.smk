# Pulford (2022): tables and figures of the experiments in this run.

PULFORD = STUDY.papers["pulford2022"]
STUDIES = {
    name: trained for name in PULFORD.studies if name in EXPERIMENTS and (trained := datasets_of(name))
}
# Figures whose studies are in this run, and their tables.
PULFORD_FIGURES = {
    name: [f"results/tables/{table}.csv" for table in (*figure.needs, *figure.also) if table in STUDIES]
    for name, figure in papers.figures("pulford2022").items()
    if figure.needs and set(figure.needs) <= {*STUDIES}
}
# Without the experiment on interpretations there are hardly any to show.
if "interpretations" in EXPERIMENTS:
    PULFORD_FIGURES["specifications"] = ["results/interpretations.csv"]
TABLES += [f"results/tables/{name}.{suffix}" for name in STUDIES for suffix in ("csv", "md")]
FIGURES += [f"results/figures/{name}.{suffix}" for name in PULFORD_FIGURES for suffix in KINDS]

# Configurations whose iterations are timed alone: those of the tables, and the partitions of counted operations.
COUNTED = sorted(unit for unit in STUDY.units if unit[:2] == (PULFORD.data_set, PULFORD.arrangements[0]))
TIMED = sorted(
    {*COUNTED}
    | {
        (dataset, *paper_setting(entry))
        for name in REPRODUCED
        for dataset, entry in EXPERIMENTS[name]["data_sets"].items()
        if dataset in DATASETS
    }
)
TIMINGS = {unit: f"results/timings/{'/'.join(unit)}.csv" for unit in TIMED}
if "figure1_timing" in PULFORD_FIGURES:
    PULFORD_FIGURES["figure1_timing"] = [TIMINGS[unit] for unit in COUNTED]
DRAWN |= {name: {"paper": "pulford2022", "tables": tables} for name, tables in PULFORD_FIGURES.items()}
PULFORD_VALUES = {name: f"results/values/pulford2022_{name}.csv" for name in ("values", "timing")}
EVIDENCE["pulford2022"] = {"all": PULFORD_VALUES}
REFERENCE_TOO += PULFORD_VALUES.values()


rule time_iterations:
    """Runs alone: it takes all cores, and uses one."""
    input:
        sorted({file for unit in TIMED for file in feature_files(unit[0], ["all"], [0])}),
    output:
        TIMINGS.values(),
    log:
        "results/logs/timings.log",
    threads: lambda wildcards: workflow.cores
    resources:
        slurm_extra="--exclusive",
    params:
        units=[work_of(STUDY.units[unit]) for unit in TIMED],
        features=[feature_files(unit[0], ["all"], [0]) for unit in TIMED],
        iterations=STUDY.config.timing.iterations,
        seed=SEED,
    message:
        "timing the iterations of EM"
    script:
        "../scripts/time_iterations.py"


rule pulford_values:
    """Values that its claims are evaluated on."""
    input:
        history=[f"results/history/{dataset}.csv" for dataset in DATASETS],
        seconds=[f"results/timings/{dataset}.csv" for dataset in DATASETS],
        timed=TIMINGS.values(),
    output:
        **PULFORD_VALUES,
    log:
        "results/logs/pulford2022/values.log",
    localrule: True
    params:
        datasets=list(DATASETS),
    message:
        "values of Pulford (2022)"
    script:
        "../scripts/pulford_values.py"


rule study:
    input:
        history=lambda wildcards: expand("results/history/{dataset}.csv", dataset=STUDIES[wildcards.study]),
        claims="config/claims.csv",
        pages="config/tables/pulford2022.yaml",
    output:
        csv="results/tables/{study}.csv",
        md=reported("results/tables/{study}.md", "Studies", ("table", "{study}"), "study"),
    log:
        "results/logs/tables/{study}.log",
    wildcard_constraints:
        study="|".join(STUDIES) or "none",
    localrule: True
    params:
        experiment=lambda wildcards: EXPERIMENTS[wildcards.study],
        settings=PULFORD,
    message:
        "table {wildcards.study}"
    script:
        "../scripts/study.py"
