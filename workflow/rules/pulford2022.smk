# Pulford (2022): tables and figures of what the paper tried beside its first table, of the experiments in this run.
from skem.repro.drawing import KINDS
from skem.repro.papers.pulford2022 import figures

PULFORD = STUDY.papers["pulford2022"]
STUDIES = {
    name: datasets for name in PULFORD.studies if name in EXPERIMENTS and (datasets := datasets_of(name))
}
# Figures whose studies are in this run, and the tables they are drawn from.
PULFORD_FIGURES = {
    name: [*figure.timing, *(study for study in (*figure.needs, *figure.also) if study in STUDIES)]
    for name, figure in figures.FIGURES.items()
    if set(figure.needs) <= set(STUDIES)
}
DRAWN |= {
    name: {"paper": "pulford2022", "tables": [f"results/tables/{table}.csv" for table in tables]}
    for name, tables in PULFORD_FIGURES.items()
}
TABLES += [f"results/tables/{name}.{suffix}" for name in STUDIES for suffix in ("csv", "md")]
if PULFORD.data_set in STUDIES.get(PULFORD.trade_offs, []):
    TABLES.append("results/tables/arrangements_timing.csv")
FIGURES += [f"results/figures/{name}.{suffix}" for name in PULFORD_FIGURES for suffix in KINDS]
# Without the experiment on readings there are hardly any to show.
if "readings" in EXPERIMENTS:
    FIGURES += [f"results/figures/specifications.{suffix}" for suffix in KINDS]

# Settings whose passes are timed alone: those of the tables, and the partitions that the paper counts operations of.
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
PULFORD_VALUES = {name: f"results/values/pulford2022_{name}.csv" for name in ("values", "timing")}
EVIDENCE["pulford2022"] = {
    "all": {
        "values": PULFORD_VALUES,
        "records": {source: f"results/data/{source}.json" for source in SOURCES},
    }
}
REFERENCE_TOO += PULFORD_VALUES.values()


rule pulford_values:
    """What its claims are judged by."""
    input:
        history=[f"results/history/{dataset}.csv" for dataset in DATASETS],
        seconds=[f"results/timings/{dataset}.csv" for dataset in DATASETS],
        timed=[f"results/timings/{'/'.join(unit)}.csv" for unit in TIMED],
    output:
        values="results/values/pulford2022_values.csv",
        timing="results/values/pulford2022_timing.csv",
    localrule: True
    params:
        datasets=list(DATASETS),
        code=code("pulford_values"),
    message:
        "what the claims are judged by"
    script:
        "../scripts/pulford_values.py"


rule specifications:
    """Headline accuracies under every reading of the paper."""
    input:
        "results/readings.csv",
    output:
        report(
            "results/figures/specifications.svg",
            category=STUDY.titles["pulford2022"],
            labels={"figure": "specifications"},
            caption="../report/specifications.rst",
        ),
        "results/figures/specifications.pdf",
        "results/figures/specifications.png",
        csv="results/figures/specifications.csv",
    localrule: True
    params:
        settings=PULFORD,
        code=code("specifications"),
    message:
        "drawing specifications"
    script:
        "../scripts/specifications.py"


rule study:
    input:
        history=lambda wildcards: expand("results/history/{dataset}.csv", dataset=STUDIES[wildcards.study]),
        claims="config/claims.csv",
    output:
        csv="results/tables/{study}.csv",
        md=report(
            "results/tables/{study}.md",
            category="Studies",
            labels={"table": "{study}"},
            caption="../report/study.rst",
        ),
    wildcard_constraints:
        study="|".join(STUDIES) or "none",
    localrule: True
    params:
        experiment=lambda wildcards: EXPERIMENTS[wildcards.study],
        settings=PULFORD,
        code=code("study"),
    message:
        "table of {wildcards.study}"
    script:
        "../scripts/study.py"


rule arrangements_timing:
    """What a training costs, counted and timed; apart, as times are never the same twice."""
    input:
        [f"results/timings/{'/'.join(unit)}.csv" for unit in COUNTED],
    output:
        "results/tables/arrangements_timing.csv",
    localrule: True
    params:
        passes=PULFORD.passes,
        n_train=lambda wildcards: models.samples_trained(
            STUDY.config.datasets[PULFORD.data_set].features, "all"
        ),
        code=code("arrangements_timing"),
    message:
        "times of arrangements"
    script:
        "../scripts/arrangements_timing.py"
