# Titsias and Likas (2001). Not part of a default run: snakemake --cores 2 titsias

try:
    TITSIAS = documents.read("config/titsias.yaml")
    schemas.check(TITSIAS, SCHEMAS / "titsias.yaml", ["config/titsias.yaml"])
except documents.ConfigurationError as error:
    stop(error)

TITSIAS_TABLES = {name: entry for name, entry in TITSIAS["tables"].items() if "source" in entry}
TITSIAS_ERRORS = [
    f"results/titsias/{table}/{m}.csv"
    for table, entry in TITSIAS_TABLES.items()
    for m in entry["n_components"]
]
TITSIAS_CHOICES = [
    f"results/titsias/choice/{table}.csv" for table in TITSIAS["choice"]["tables"] if table in TITSIAS_TABLES
]
TITSIAS_SOURCES = list(dict.fromkeys(entry["source"] for entry in TITSIAS_TABLES.values()))
TITSIAS_FOUND = [f"results/titsias/{name}.csv" for name in ("errors", "errors_timing", "examples")]
TITSIAS_FIGURES = ["titsias_figures3to5", "titsias_images"]
TITSIAS_RESULTS = [
    f"results/tables/{name}.{suffix}"
    for name in ("titsias", "titsias_choice", "titsias_claims")
    for suffix in ("csv", "md")
] + [f"results/figures/{name}.{suffix}" for name in TITSIAS_FIGURES for suffix in KINDS]


rule titsias_errors:
    """One job per table and number of kernels."""
    input:
        lambda wildcards: f"results/data/{TITSIAS_TABLES[wildcards.table]['source']}.json",
    output:
        errors="results/titsias/{table}/{m}.csv",
        seconds="results/titsias/{table}/{m}.timing.csv",
    wildcard_constraints:
        table="|".join(TITSIAS_TABLES) or "none",
        m=r"\d+",
    priority: lambda wildcards: int(wildcards.m)
    params:
        entry=lambda wildcards: TITSIAS_TABLES[wildcards.table],
        setup={key: TITSIAS[key] for key in ("sharings", "n_folds", "repetitions", "model")},
        seed=SEED,
        code=code("titsias_errors"),
    message:
        "{wildcards.table}, {wildcards.m} kernels"
    script:
        "../scripts/titsias_errors.py"


rule titsias_choice:
    input:
        lambda wildcards: f"results/data/{TITSIAS_TABLES[wildcards.table]['source']}.json",
    output:
        errors="results/titsias/choice/{table}.csv",
        seconds="results/titsias/choice/{table}.timing.csv",
    wildcard_constraints:
        table="|".join(TITSIAS_TABLES) or "none",
    priority: 100
    params:
        entry=lambda wildcards: TITSIAS_TABLES[wildcards.table]
        | {"n_components": max(TITSIAS_TABLES[wildcards.table]["n_components"])},
        setup={key: TITSIAS[key] for key in ("sharings", "n_folds", "model")} | TITSIAS["choice"],
        seed=SEED,
        code=code("titsias_errors"),
    message:
        "choosing lambda on {wildcards.table}"
    script:
        "../scripts/titsias_errors.py"


rule titsias_examples:
    output:
        "results/titsias/examples.csv",
    params:
        setup=TITSIAS["examples"],
        seed=SEED,
        code=code("titsias_examples"),
    message:
        "the examples of figures 3 to 5"
    script:
        "../scripts/titsias_examples.py"


rule titsias_images:
    input:
        lambda wildcards: feature_files(
            wildcards.dataset, ["all"], list(range(TITSIAS["images"][wildcards.dataset]["runs"]))
        ),
    output:
        "results/titsias/images/{dataset}.csv",
    priority: 200
    params:
        setup=lambda wildcards: TITSIAS["images"][wildcards.dataset] | {"sharings": TITSIAS["sharings"]},
        spec=lambda wildcards: config["features"][wildcards.dataset],
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
        errors="results/titsias/errors.csv",
        seconds="results/titsias/errors_timing.csv",
        csv="results/tables/titsias.csv",
        md=report(
            "results/tables/titsias.md", category="Titsias and Likas 2001", caption="../report/titsias.rst"
        ),
    params:
        tables=TITSIAS["tables"],
        n_folds=TITSIAS["n_folds"],
        repetitions=TITSIAS["repetitions"],
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
            category="Titsias and Likas 2001",
            caption="../report/titsias.rst",
        ),
    params:
        code=code("titsias_choice"),
    message:
        "does it pay to choose lambda?"
    script:
        "../scripts/titsias_choice.py"


rule titsias_claims:
    input:
        claims="config/claims.csv",
        protocols="config/protocols.yaml",
        found=TITSIAS_FOUND,
        records=expand("results/data/{source}.json", source=TITSIAS_SOURCES),
    output:
        csv="results/tables/titsias_claims.csv",
        timing="results/titsias/claims_timing.csv",
        md=report(
            "results/tables/titsias_claims.md",
            category="Titsias and Likas 2001",
            caption="../report/claims.rst",
        ),
    params:
        tables=TITSIAS["tables"],
        code=code("titsias_claims"),
    message:
        "verdicts on the claims of Titsias and Likas (2001)"
    script:
        "../scripts/titsias_claims.py"


rule titsias_draw:
    input:
        expand("results/titsias/images/{dataset}.csv", dataset=TITSIAS["images"]),
    output:
        report(
            "results/figures/{figure}.svg",
            category="Titsias and Likas 2001",
            caption="../report/titsias.rst",
        ),
        "results/figures/{figure}.pdf",
        "results/figures/{figure}.png",
        csv="results/figures/{figure}.csv",
    wildcard_constraints:
        figure="|".join(TITSIAS_FIGURES),
    params:
        setup=TITSIAS["examples"],
        seed=SEED,
        code=code("titsias_draw"),
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/titsias_draw.py"


rule titsias:
    input:
        TITSIAS_RESULTS,
        "results/environment.json",
    message:
        "Titsias and Likas (2001)"
