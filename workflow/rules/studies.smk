# Tables and figures of what a paper tried beside its first table: those of the experiments in this run.
from skem.repro import drawing
from skem.repro.papers.pulford2022 import figures

STUDIES = {
    name: [dataset for dataset in EXPERIMENTS[name]["data_sets"] if dataset in DATASETS]
    for name in (
        "mnist_grid",
        "section32",
        "arrangements",
        "mda",
        "starts",
        "starts40",
        "audit",
        "future",
        "pose",
    )
    if name in EXPERIMENTS
}
STUDIES = {name: datasets for name, datasets in STUDIES.items() if datasets}
# Figures whose studies are in this run, and the tables they are drawn from.
DRAWN = {
    name: figure.timing + tuple(study for study in (*figure.studies, *figure.also) if study in STUDIES)
    for name, figure in figures.FIGURES.items()
    if set(figure.studies) <= set(STUDIES)
}
TABLES += [f"results/tables/{name}.{suffix}" for name in STUDIES for suffix in ("csv", "md")]
TABLES += (
    ["results/tables/arrangements_timing.csv"] if "mnist_half" in STUDIES.get("arrangements", []) else []
)
FIGURES += [f"results/figures/{name}.{suffix}" for name in DRAWN for suffix in drawing.KINDS]


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
    params:
        experiment=lambda wildcards: EXPERIMENTS[wildcards.study],
        code=code("study"),
    message:
        "table of {wildcards.study}"
    script:
        "../scripts/study.py"


rule arrangements_timing:
    """What a training costs, counted and timed; apart, as times are never the same twice."""
    input:
        [
            f"results/timings/{dataset}/{method}/{unit}.csv"
            for dataset, method, unit in TIMED
            if dataset == "mnist_half"
        ],
    output:
        "results/tables/arrangements_timing.csv",
    params:
        entry=lambda wildcards: EXPERIMENTS["arrangements"]["data_sets"]["mnist_half"],
        n_train=lambda wildcards: feasible.rows_trained(config["features"]["mnist_half"], "all"),
        code=code("arrangements_timing"),
    message:
        "times of arrangements"
    script:
        "../scripts/arrangements_timing.py"


rule draw:
    input:
        lambda wildcards: [f"results/tables/{name}.csv" for name in DRAWN[wildcards.figure]],
    output:
        report(
            "results/figures/{figure}.svg",
            category="Trade-offs",
            labels={"figure": "{figure}"},
            caption="../report/draw.rst",
        ),
        "results/figures/{figure}.pdf",
        "results/figures/{figure}.png",
        csv="results/figures/{figure}.csv",
    wildcard_constraints:
        figure="|".join(DRAWN) or "none",
    params:
        caption=lambda wildcards: Path(f"workflow/report/{wildcards.figure}.rst").read_text(encoding="utf-8"),
        code=code("draw"),
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/draw.py"
