# Comparison with other classifiers. Not part of a default run: snakemake comparison --cores 2
from skem.repro.code_hash import code_of_classifiers

COMPARISON = STUDY.comparison
COMPARISON_VALUES = {
    name: f"results/values/comparison_{name}.csv"
    for name in ("images", "images_timing", "tables", "tables_timing", "outliers")
}
COMPARISON_RESULTS = [
    f"results/{name}"
    for name in [
        *expand(
            "tables/comparison_{name}.{suffix}",
            name=["images", "images_timing", "tables"],
            suffix=["csv", "md"],
        ),
        "tables/comparison_ranks.csv",
        *expand("tables/comparison_outliers.{suffix}", suffix=["csv", "md"]),
        *expand("figures/comparison_{name}.{suffix}", name=["timing", "ranks"], suffix=["svg", "pdf", "png"]),
    ]
]
REFERENCE_TOO += [*COMPARISON_RESULTS, *COMPARISON_VALUES.values()]


rule comparison_features:
    input:
        lambda wildcards: [
            f"results/data/{spec[key]}.json"
            for spec in [COMPARISON.features(wildcards.part, wildcards.dataset)]
            for key in ("source", "outside")
            if key in spec
        ],
    output:
        "results/comparison/features/{part}/{dataset}.npz",
    wildcard_constraints:
        part="images|outliers",
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
    params:
        spec=lambda wildcards: COMPARISON.features(wildcards.part, wildcards.dataset),
        code=code("comparison_features"),
    message:
        "features of {wildcards.dataset}, all training images"
    script:
        "../scripts/comparison_features.py"


rule comparison_fit:
    """On one core; seconds are the processor's own, so others may run beside it."""
    input:
        lambda wildcards: (
            f"results/data/{wildcards.dataset}.json"
            if wildcards.part == "tables"
            else f"results/comparison/features/{wildcards.part}/{wildcards.dataset}.npz"
        ),
    output:
        scores="results/comparison/{part}/{dataset}/{method}.csv",
        seconds="results/comparison/{part}/{dataset}/{method}.seconds.csv",
        predictions="results/comparison/{part}/{dataset}/{method}.npz",
    wildcard_constraints:
        part="images|tables|outliers",
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        job=lambda wildcards: COMPARISON.job(*wildcards),
        seed=SEED,
        code=code("comparison_fit"),
        part=lambda wildcards: code_of(f"skem/repro/comparison/{wildcards.part}.py"),
        classifiers=lambda wildcards: code_of_classifiers([COMPARISON.job(*wildcards)["model"]]),
    message:
        "{wildcards.method} on {wildcards.dataset} ({wildcards.part})"
    script:
        "../scripts/comparison_fit.py"


rule comparison_values:
    input:
        [
            f"results/comparison/{part}/{dataset}/{method}.{suffix}"
            for part in ("images", "tables", "outliers")
            for dataset, method in COMPARISON.jobs(part)
            for suffix in ("csv", "seconds.csv", "npz")
        ],
    output:
        **COMPARISON_VALUES,
    localrule: True
    params:
        code=code("comparison_values"),
    message:
        "measurements of all classifiers"
    script:
        "../scripts/comparison_values.py"


rule comparison_summary:
    input:
        **COMPARISON_VALUES,
    output:
        COMPARISON_RESULTS,
    localrule: True
    params:
        settings="config/comparison.yaml",
        content=COMPARISON.model_dump(),  # so that another note or title counts
        names=COMPARISON.titles(),
        code=code("comparison_summary"),
    message:
        "tables and figures of the classifier comparison"
    script:
        "../scripts/comparison_summary.py"


use rule comparison_summary as comparison_recompute with:
    input:
        **{
            name: path.replace("results/", "results/reference/", 1)
            for name, path in COMPARISON_VALUES.items()
        },
    output:
        [path.replace("results/", "results/recomputed/", 1) for path in COMPARISON_RESULTS],
    localrule: True
    message:
        "tables and figures of the classifier comparison, from the values in results/reference"


rule comparison:
    input:
        COMPARISON_RESULTS,
        "results/environment.json",
    localrule: True
    message:
        "the classifier comparison"


rule frontier:  # former name
    input:
        rules.comparison.input,
    localrule: True
