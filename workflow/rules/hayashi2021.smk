# Hayashi and Uchida (2021). Not part of a default run: snakemake --cores 2 hayashi

HAYASHI = PAPER_SETTINGS["hayashi2021"]
HAYASHI_LEFT = {
    "errors": [f"results/hayashi2021/{name}.csv" for name in HAYASHI.data_sets],
    "components": [
        f"results/hayashi2021/components/{run}.csv" for run in range(HAYASHI.synthetic["repetitions"])
    ],
}
HAYASHI_VALUES = {
    name: f"results/values/hayashi2021_{name}.csv" for name in ("errors", "components", "timing")
}
# What the last `snakemake hayashi` left, where there is any.
EVIDENCE["hayashi2021"] = {
    "values": (
        HAYASHI_VALUES
        if all(Path(path).exists() for paths in HAYASHI_LEFT.values() for path in paths)
        else {}
    )
}
HAYASHI_FIGURES = {"hayashi_components": [HAYASHI_VALUES["components"]]}
DRAWN |= {name: {"paper": "hayashi2021", "tables": tables} for name, tables in HAYASHI_FIGURES.items()}
HAYASHI_RESULTS = [
    f"results/tables/{name}.{suffix}" for name in ("hayashi", "hayashi_claims") for suffix in ("csv", "md")
] + [f"results/figures/{name}.{suffix}" for name in HAYASHI_FIGURES for suffix in KINDS]
REFERENCE_TOO += [*HAYASHI_RESULTS, *HAYASHI_VALUES.values()]


rule hayashi_errors:
    """One job per data set."""
    input:
        lambda wildcards: f"results/data/{HAYASHI.data_sets[wildcards.dataset]['source']}.json",
    output:
        "results/hayashi2021/{dataset}.csv",
    wildcard_constraints:
        dataset="|".join(HAYASHI.data_sets) or "none",
    params:
        entry=lambda wildcards: HAYASHI.data_sets[wildcards.dataset],
        model=HAYASHI.model,
        splits=HAYASHI.splits,
        seed=SEED,
        code=code("hayashi_errors"),
    message:
        "every method on {wildcards.dataset}"
    script:
        "../scripts/hayashi_errors.py"


rule hayashi_components:
    """One job per repetition of appendix B."""
    output:
        "results/hayashi2021/components/{run}.csv",
    wildcard_constraints:
        run=r"\d+",
    priority: 100
    params:
        setup=HAYASHI.synthetic,
        model=HAYASHI.model,
        seed=SEED,
        code=code("hayashi_components"),
    message:
        "appendix B, repetition {wildcards.run}"
    script:
        "../scripts/hayashi_components.py"


rule hayashi_values:
    """What its claims are judged by, and its table is made of."""
    input:
        **HAYASHI_LEFT,
    output:
        **HAYASHI_VALUES,
    params:
        code=code("hayashi_values"),
    message:
        "what the claims of Hayashi and Uchida (2021) are judged by"
    script:
        "../scripts/hayashi_values.py"


rule hayashi_table:
    input:
        errors=HAYASHI_VALUES["errors"],
        components=HAYASHI_VALUES["components"],
        claims="config/claims.csv",
    output:
        csv="results/tables/hayashi.csv",
        md=report(
            "results/tables/hayashi.md", category="Hayashi and Uchida 2021", caption="../report/hayashi.rst"
        ),
    params:
        settings=HAYASHI,
        code=code("hayashi_table"),
    message:
        "Table 1 of Hayashi and Uchida (2021)"
    script:
        "../scripts/hayashi_table.py"


rule hayashi_claims:
    input:
        claims="config/claims.csv",
        protocols="config/protocols.yaml",
        paper="config/hayashi2021.yaml",
        evidence=list(HAYASHI_VALUES.values()),
    output:
        csv="results/tables/hayashi_claims.csv",
        timing_csv="results/hayashi2021/claims_timing.csv",
        md=report(
            "results/tables/hayashi_claims.md",
            category="Hayashi and Uchida 2021",
            caption="../report/claims.rst",
        ),
    params:
        alone=True,
        title=f"What {TITLES['hayashi2021']} claim",
        evidence={"hayashi2021": {"values": HAYASHI_VALUES}},
        settings={"hayashi2021": HAYASHI},
        code=code("claims"),
    message:
        "verdicts on the claims of Hayashi and Uchida (2021)"
    script:
        "../scripts/claims.py"


rule hayashi:
    input:
        HAYASHI_RESULTS,
        "results/environment.json",
    message:
        "Hayashi and Uchida (2021)"
