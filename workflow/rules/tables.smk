# From the history to the papers' tables, beside the papers' values. Times have files of their own, "_timing".
from skem.repro.drawing import KINDS

TABLES = [
    f"results/tables/{name}{part}.{suffix}"
    for name in REPRODUCED
    for part in ("", "_timing")
    for suffix in ("csv", "md")
]
FIGURES = [
    f"results/figures/{name}_accuracy_by_iteration.{suffix}" for name in REPRODUCED for suffix in KINDS
]


def datasets_of(experiment):
    return [dataset for dataset in EXPERIMENTS[experiment]["data_sets"] if dataset in DATASETS]


def histories_of(experiment):
    return expand("results/history/{dataset}.csv", dataset=datasets_of(experiment))


DRAWN |= {
    f"{name}_accuracy_by_iteration": {
        "paper": "pulford2022",
        "tables": [*histories_of(name), "config/claims.csv"],
        "settings": EXPERIMENTS[name],
    }
    for name in REPRODUCED
}


def paper_setting(entry):
    """The method and configuration whose iterations are timed: the first method at the paper's configuration."""
    label = entry["paper"]["setting"]
    return next(name for name, how in entry["methods"].items() if label in how.get("settings", {})), label


rule table:
    input:
        records=lambda wildcards: [
            f"results/data/{DATASETS[dataset].features['source']}.json"
            for dataset in datasets_of(wildcards.experiment)
        ],
        history=lambda wildcards: histories_of(wildcards.experiment),
        predictions=lambda wildcards: [
            f"{path}.predictions.npz"
            for dataset in datasets_of(wildcards.experiment)
            for path in histories(dataset)
        ],
        failed=lambda wildcards: expand(
            "results/failed/{dataset}.csv", dataset=datasets_of(wildcards.experiment)
        ),
        claims="config/claims.csv",
        pages="config/tables/experiments.yaml",
    output:
        csv="results/tables/{experiment}.csv",
        md=reported("results/tables/{experiment}.md", "Accuracy", ("table", "{experiment}"), "table"),
        summary="results/tables/{experiment}_summary.csv",
    log:
        "results/logs/tables/{experiment}.log",
    wildcard_constraints:
        experiment="|".join(REPRODUCED) or "none",
    localrule: True
    params:
        experiment=lambda wildcards: EXPERIMENTS[wildcards.experiment],
        datasets=lambda wildcards: datasets_of(wildcards.experiment),
        baselines=STUDY.config.baselines.names,
    message:
        "table {wildcards.experiment}"
    script:
        "../scripts/table.py"


rule table_timing:
    input:
        seconds=lambda wildcards: [
            "results/timings/{}/{}/{}.csv".format(
                dataset, *paper_setting(EXPERIMENTS[wildcards.experiment]["data_sets"][dataset])
            )
            for dataset in datasets_of(wildcards.experiment)
        ],
        claims="config/claims.csv",
        pages="config/tables/experiments.yaml",
    output:
        csv="results/tables/{experiment}_timing.csv",
        md="results/tables/{experiment}_timing.md",
    log:
        "results/logs/tables/{experiment}_timing.log",
    wildcard_constraints:
        experiment="|".join(REPRODUCED) or "none",
    localrule: True
    params:
        settings=lambda wildcards: EXPERIMENTS[wildcards.experiment],
        datasets=lambda wildcards: datasets_of(wildcards.experiment),
    message:
        "times of table {wildcards.experiment}"
    script:
        "../scripts/table_timing.py"
