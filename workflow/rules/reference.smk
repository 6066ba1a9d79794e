# The committed reference: snakemake reference --cores all --configfile config/paper.yaml, with the targets of all papers.


def results_to_copy(wildcards):
    if not STUDY.config.reference:
        finished_run.refuse_fewer_runs({name: entry.runs for name, entry in DATASETS.items()})
        all_targets = {target for paper in EVIDENCE.values() for target in paper}
        finished_run.refuse_fewer_claims(all_targets, targets_given())
    return [*TABLES, *all_figures(), "results/environment.json"]


rule reference:
    """Copy the results of a finished run to results/reference/, which is committed."""
    input:
        results_to_copy,
    log:
        "results/logs/reference.log",
    localrule: True
    params:
        anyway=STUDY.config.reference is not None,
        # Copied if they exist.
        others=[f"results/tables/{name}_summary.csv" for name in REPRODUCED]
        + [f"results/{name}.{suffix}" for name in ("claims", "claims_timing") for suffix in ("csv", "md")]
        + ["results/interpretations.csv", "results/summary.json"]
        + ["results/run.json", "results/configuration.yaml"]
        + [f"results/data/{source}.json" for source in SOURCES]
        + REFERENCE_TOO,
    message:
        "copying tables and figures to results/reference"
    script:
        "../scripts/reference.py"
