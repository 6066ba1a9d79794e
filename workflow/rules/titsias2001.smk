# Titsias and Likas (2001). Not part of a default run: snakemake titsias --cores 2

TITSIAS = STUDY.papers["titsias2001"]
TITSIAS_JOBS = {
    "errors": [
        f"results/titsias2001/{table}/{m}.csv"
        for table, entry in TITSIAS.measured.items()
        for m in entry["n_components"]
    ],
    "examples": ["results/titsias2001/examples.csv"],
}
add_results(
    "titsias",
    "titsias2001",
    values=values_of("titsias2001", ("values", "spreads", "timing", "examples")),
    tables={"": "titsias"},
    figures={"titsias_figures3to5": ["results/titsias2001/panels.csv"]},
    script="titsias_results",
    inputs={"errors": TITSIAS_JOBS["errors"]},
    jobs=TITSIAS_JOBS,
)


def titsias_errors(table, m):
    """The arguments of a job for a table and a number of components."""
    setup = {key: getattr(TITSIAS, key) for key in ("sharings", "n_folds", "repetitions", "model")}
    entry = TITSIAS.measured[table]
    own = {key: value for key, value in entry.items() if key == "repetitions"}
    return {"table": table, "entry": entry, "n_components": m, "setup": setup | own, "seed": SEED}


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
        arguments=lambda wildcards: titsias_errors(wildcards.table, int(wildcards.m)),
    script:
        "../scripts/titsias_errors.py"


rule titsias_examples:
    output:
        measured="results/titsias2001/examples.csv",
        panels="results/titsias2001/panels.csv",
    log:
        "results/logs/titsias2001/examples.log",
    params:
        arguments={"setup": TITSIAS.examples, "seed": SEED},
    script:
        "../scripts/titsias_examples.py"
