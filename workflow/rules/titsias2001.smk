# Titsias and Likas (2001). Not part of a default run: snakemake titsias --cores 2

TITSIAS = STUDY.papers["titsias2001"]
TITSIAS_JOBS = {
    "errors": [
        f"results/titsias2001/{table}/{m}.csv"
        for table, entry in TITSIAS.measured.items()
        for m in entry["n_components"]
    ],
    "examples": ["results/titsias2001/examples.csv"],
    "choice": [
        f"results/titsias2001/choice/{table}.csv"
        for table in TITSIAS.choice["tables"]
        if table in TITSIAS.measured
    ],
}
add_results(
    "titsias",
    "titsias2001",
    values=values_of("titsias2001", ("values", "spreads", "timing", "examples")),
    tables={"": "titsias", "choice_": "titsias_choice"},
    figures={
        "titsias_figures3to5": ["results/titsias2001/panels.csv"],
        "titsias_images": expand("results/titsias2001/images/{dataset}.csv", dataset=TITSIAS.images),
    },
    script="titsias_results",
    inputs={name: TITSIAS_JOBS[name] for name in ("errors", "choice")},
    jobs={name: TITSIAS_JOBS[name] for name in ("errors", "examples")},
)


def titsias_errors(table, m, choice={}):
    """The arguments of a job for a table and a number of components."""
    setup = {key: getattr(TITSIAS, key) for key in ("sharings", "n_folds", "repetitions", "model")}
    entry = TITSIAS.measured[table]
    own = {key: value for key, value in entry.items() if key == "repetitions"}
    return {"table": table, "entry": entry, "n_components": m, "setup": setup | own | choice, "seed": SEED}


rule titsias_errors:
    """One job per table and number of components."""
    input:
        data=lambda wildcards: f"results/data/{TITSIAS.measured[wildcards.table]['source']}.json",
    output:
        rows="results/titsias2001/{table}/{m}.csv",
    log:
        "results/logs/titsias2001/{table}/{m}.log",
    wildcard_constraints:
        table="|".join(TITSIAS.measured) or "none",
        m=r"\d+",
    priority: lambda wildcards: int(wildcards.m)
    resources:
        runtime=lambda wildcards, attempt: 720 * attempt,
    params:
        code=code("titsias_errors"),
        arguments=lambda wildcards: titsias_errors(wildcards.table, int(wildcards.m)),
    script:
        "../scripts/titsias_errors.py"


use rule titsias_errors as titsias_choice with:
    output:
        rows="results/titsias2001/choice/{table}.csv",
    log:
        "results/logs/titsias2001/choice/{table}.log",
    wildcard_constraints:
        table="|".join(TITSIAS.measured) or "none",
    priority: 100
    params:
        code=code("titsias_errors"),
        arguments=lambda wildcards: titsias_errors(
            wildcards.table, max(TITSIAS.measured[wildcards.table]["n_components"]), TITSIAS.choice
        ),


rule titsias_examples:
    output:
        measured="results/titsias2001/examples.csv",
        panels="results/titsias2001/panels.csv",
    log:
        "results/logs/titsias2001/examples.log",
    params:
        code=code("titsias_examples"),
        arguments={"setup": TITSIAS.examples, "seed": SEED},
    script:
        "../scripts/titsias_examples.py"


def titsias_features(wildcards):
    return feature_files(wildcards.dataset, ["all"], list(range(TITSIAS.images[wildcards.dataset]["runs"])))


rule titsias_images:
    input:
        titsias_features,
    output:
        rows="results/titsias2001/images/{dataset}.csv",
    log:
        "results/logs/titsias2001/images/{dataset}.log",
    priority: 200
    params:
        code=code("titsias_images"),
        arguments=lambda wildcards: {
            "dataset": wildcards.dataset,
            "setup": TITSIAS.images[wildcards.dataset] | {"sharings": TITSIAS.sharings},
            "spec": STUDY.config.datasets[wildcards.dataset].features,
            "paths": titsias_features(wildcards),
            "seed": SEED,
        },
    script:
        "../scripts/titsias_images.py"
