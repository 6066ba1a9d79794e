# The ledger: every claim of the papers beside what this run measured.

# Settings whose passes are timed alone: those of the tables, and the partitions that the paper counts operations of.
TIMED = sorted(
    {
        (dataset, method, unit)
        for (dataset, method, unit) in UNITS
        if dataset == "mnist_half" and method == "sequential"
    }
    | {
        (dataset, *paper_setting(entry))
        for name in REPRODUCED
        for dataset, entry in EXPERIMENTS[name]["data_sets"].items()
        if dataset in DATASETS
    }
)


# What the last `snakemake titsias` left, where there is any.
LEFT = all(Path(path).exists() for path in TITSIAS_FOUND)


rule claims:
    input:
        claims="config/claims.csv",
        protocols="config/protocols.yaml",
        history=expand("results/history/{dataset}.csv", dataset=DATASETS),
        seconds=expand("results/timings/{dataset}.csv", dataset=DATASETS),
        timed=[f"results/timings/{dataset}/{method}/{unit}.csv" for dataset, method, unit in TIMED],
        records=expand("results/data/{source}.json", source=SOURCES),
        titsias=TITSIAS_FOUND if LEFT else [],
        titsias_records=expand("results/data/{source}.json", source=TITSIAS_SOURCES) if LEFT else [],
    output:
        csv="results/claims.csv",
        md=report(
            "results/claims.md",
            category="Claims",
            labels={"claims": "all but those about time"},
            caption="../report/claims.rst",
        ),
        timing_csv="results/claims_timing.csv",
        timing_md=report(
            "results/claims_timing.md",
            category="Claims",
            labels={"claims": "about time"},
            caption="../report/claims_timing.rst",
        ),
    params:
        datasets=DATASETS,
        tables=TITSIAS["tables"],
        code=code("claims"),
    message:
        "verdicts on the claims"
    script:
        "../scripts/claims.py"
