# Titsias and Likas (2001). Not part of a default run: snakemake titsias --cores 2

TITSIAS = STUDY.papers["titsias2001"]
TITSIAS_ERRORS = [
    f"results/titsias2001/{table}/{m}.csv"
    for table, entry in TITSIAS.measured.items()
    for m in entry["n_components"]
]
TITSIAS_CHOICES = [
    f"results/titsias2001/choice/{table}.csv"
    for table in TITSIAS.choice["tables"]
    if table in TITSIAS.measured
]
TITSIAS_LEFT = {name: f"results/titsias2001/{name}.csv" for name in ("errors", "errors_timing", "examples")}
TITSIAS_RECORDS = {source: f"results/data/{source}.json" for source in TITSIAS.sources}
TITSIAS_VALUES = {name: f"results/values/titsias2001_{name}.csv" for name in ("values", "timing", "examples")}
EVIDENCE["titsias2001"] = {"titsias": {"values": TITSIAS_VALUES, "records": TITSIAS_RECORDS}}
TITSIAS_FIGURES = {
    "titsias_figures3to5": ["results/titsias2001/panels.csv"],
    "titsias_images": [f"results/titsias2001/images/{dataset}.csv" for dataset in TITSIAS.images],
}
DRAWN |= {name: {"paper": "titsias2001", "tables": tables} for name, tables in TITSIAS_FIGURES.items()}
TITSIAS_RESULTS = [
    f"results/tables/{name}.{suffix}"
    for name in ("titsias", "titsias_choice", "titsias_claims")
    for suffix in ("csv", "md")
] + [f"results/figures/{name}.{suffix}" for name in TITSIAS_FIGURES for suffix in KINDS]
REFERENCE_TOO += [*TITSIAS_RESULTS, *TITSIAS_VALUES.values()]


rule titsias_errors:
    """One job per table and number of kernels."""
    input:
        lambda wildcards: f"results/data/{TITSIAS.measured[wildcards.table]['source']}.json",
    output:
        errors="results/titsias2001/{table}/{m}.csv",
        seconds="results/titsias2001/{table}/{m}.timing.csv",
    wildcard_constraints:
        table="|".join(TITSIAS.measured) or "none",
        m=r"\d+",
    priority: lambda wildcards: int(wildcards.m)
    params:
        entry=lambda wildcards: TITSIAS.measured[wildcards.table],
        setup={key: getattr(TITSIAS, key) for key in ("sharings", "n_folds", "repetitions", "model")},
        seed=SEED,
        code=code("titsias_errors"),
    message:
        "{wildcards.table}, {wildcards.m} kernels"
    script:
        "../scripts/titsias_errors.py"


rule titsias_choice:
    input:
        lambda wildcards: f"results/data/{TITSIAS.measured[wildcards.table]['source']}.json",
    output:
        errors="results/titsias2001/choice/{table}.csv",
        seconds="results/titsias2001/choice/{table}.timing.csv",
    wildcard_constraints:
        table="|".join(TITSIAS.measured) or "none",
    priority: 100
    params:
        entry=lambda wildcards: TITSIAS.measured[wildcards.table]
        | {"n_components": max(TITSIAS.measured[wildcards.table]["n_components"])},
        setup={key: getattr(TITSIAS, key) for key in ("sharings", "n_folds", "model")} | TITSIAS.choice,
        seed=SEED,
        code=code("titsias_errors"),
    message:
        "choosing lambda on {wildcards.table}"
    script:
        "../scripts/titsias_errors.py"


rule titsias_examples:
    output:
        measured="results/titsias2001/examples.csv",
        panels="results/titsias2001/panels.csv",
    params:
        setup=TITSIAS.examples,
        seed=SEED,
        code=code("titsias_examples"),
    message:
        "the examples of figures 3 to 5"
    script:
        "../scripts/titsias_examples.py"


rule titsias_images:
    input:
        lambda wildcards: feature_files(
            wildcards.dataset, ["all"], list(range(TITSIAS.images[wildcards.dataset]["runs"]))
        ),
    output:
        "results/titsias2001/images/{dataset}.csv",
    priority: 200
    params:
        setup=lambda wildcards: TITSIAS.images[wildcards.dataset] | {"sharings": TITSIAS.sharings},
        spec=lambda wildcards: STUDY.config.datasets[wildcards.dataset].features,
        seed=SEED,
        code=code("titsias_images"),
    message:
        "sharing in the blocks of PSKEM, {wildcards.dataset}"
    script:
        "../scripts/titsias_images.py"


rule titsias_tables:
    input:
        errors=TITSIAS_ERRORS,
        seconds=[path.replace(".csv", ".timing.csv") for path in TITSIAS_ERRORS],
        claims="config/claims.csv",
    output:
        errors="results/titsias2001/errors.csv",
        seconds="results/titsias2001/errors_timing.csv",
        csv="results/tables/titsias.csv",
        md=report(
            "results/tables/titsias.md",
            category=STUDY.titles["titsias2001"],
            caption="../report/titsias.rst",
        ),
    localrule: True
    params:
        settings=TITSIAS,
        code=code("titsias_tables"),
    message:
        "Tables I to V"
    script:
        "../scripts/titsias_tables.py"


rule titsias_choice_table:
    input:
        TITSIAS_CHOICES,
    output:
        csv="results/tables/titsias_choice.csv",
        md=report(
            "results/tables/titsias_choice.md",
            category=STUDY.titles["titsias2001"],
            caption="../report/titsias.rst",
        ),
    localrule: True
    params:
        settings=TITSIAS,
        code=code("titsias_choice"),
    message:
        "does it pay to choose lambda?"
    script:
        "../scripts/titsias_choice.py"


rule titsias_values:
    """What its claims are judged by."""
    input:
        **TITSIAS_LEFT,
    output:
        measured="results/values/titsias2001_values.csv",
        timing="results/values/titsias2001_timing.csv",
        examples="results/values/titsias2001_examples.csv",
    localrule: True
    params:
        code=code("titsias_values"),
    message:
        "what the claims of Titsias and Likas (2001) are judged by"
    script:
        "../scripts/titsias_values.py"


rule titsias:
    input:
        TITSIAS_RESULTS,
        "results/environment.json",
    localrule: True
    message:
        "Titsias and Likas (2001)"
