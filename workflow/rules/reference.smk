# The committed reference: snakemake reference --cores all --configfile config/paper.yaml, with the targets of all papers.


rule reference:
    """Copy the results of a finished run to results/reference/, which is committed."""
    input:
        TABLES,
        lambda wildcards: all_figures(),
        "results/environment.json",
    log:
        "results/logs/reference.log",
    localrule: True
    params:
        # Copied if they exist.
        others=[f"results/tables/{name}_summary.csv" for name in REPRODUCED]
        + [f"results/{name}.{suffix}" for name in ("claims", "claims_timing") for suffix in ("csv", "md")]
        + ["results/interpretations.csv", "results/summary.json"]
        + ["results/run.json", "results/configuration.yaml"]
        + [f"results/data/{source}.json" for source in SOURCES]
        + REFERENCE_TOO,
    script:
        "../scripts/reference.py"
