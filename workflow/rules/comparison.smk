# Comparison with other classifiers. Not part of a default run: snakemake comparison --cores 2
from importlib.util import find_spec

from skem.repro.code_hash import code_of_classifiers

COMPARISON = STUDY.comparison
COMPARISON_PARTS = {
    "images": {"tables": ["images", "images_timing"], "figures": ["timing"]},
    "tables": {"tables": ["tables"], "csv": ["ranks"], "figures": ["ranks"]},
    "test": {"tables": ["test"], "csv": ["test_ranks"], "figures": ["test_ranks"]},
    "outliers": {"tables": ["outliers"]},
    "left_out": {"tables": ["left_out"]},
}
COMPARISON_VALUES, COMPARISON_RESULTS = {}, {}
for part, results in COMPARISON_PARTS.items():
    names = [part] if part == "outliers" else [part, f"{part}_timing"]
    COMPARISON_VALUES[part] = {name: f"results/values/comparison_{name}.csv" for name in names}
    COMPARISON_RESULTS[part] = [
        f"results/{name}"
        for name in [
            *expand("tables/comparison_{name}.{suffix}", name=results["tables"], suffix=["csv", "md"]),
            *expand("tables/comparison_{name}.csv", name=results.get("csv", [])),
            *expand("figures/comparison_{name}.{suffix}", name=results.get("figures", []), suffix=KINDS),
        ]
    ]
    REFERENCE_TOO += [*COMPARISON_RESULTS[part], *COMPARISON_VALUES[part].values()]


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
    log:
        "results/logs/comparison/features/{part}/{dataset}.log",
    wildcard_constraints:
        part="images|outliers",
        dataset="[a-z0-9_]+",
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
            if wildcards.part in ("tables", "test", "left_out")
            else f"results/comparison/features/{wildcards.part}/{wildcards.dataset}.npz"
        ),
    output:
        scores="results/comparison/{part}/{dataset}/{method}.csv",
        seconds="results/comparison/{part}/{dataset}/{method}.seconds.csv",
        predictions="results/comparison/{part}/{dataset}/{method}.npz",
    log:
        "results/logs/comparison/{part}/{dataset}/{method}.log",
    wildcard_constraints:
        part="|".join(COMPARISON_PARTS),
        dataset="[a-z0-9_]+",
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
    params:
        job=lambda wildcards: COMPARISON.job(*wildcards),
        seed=SEED,
        code=code("comparison_fit"),
        # An optional package that is installed later counts.
        optional=lambda wildcards: (
            find_spec("lightgbm") is not None if wildcards.method.startswith("lightgbm") else None
        ),
        classifiers=lambda wildcards: code_of_classifiers([COMPARISON.job(*wildcards)["model"]]),
    message:
        "{wildcards.method} on {wildcards.dataset} ({wildcards.part})"
    script:
        "../scripts/comparison_fit.py"


for part in COMPARISON_PARTS:

    rule:
        name:
            f"comparison_values_{part}"
        input:
            [
                f"results/comparison/{part}/{dataset}/{method}.{suffix}"
                for dataset, method in COMPARISON.jobs(part)
                for suffix in ("csv", "seconds.csv", "npz")
            ],
        output:
            **COMPARISON_VALUES[part],
        log:
            f"results/logs/comparison/values_{part}.log",
        localrule: True
        params:
            code=code("comparison_values"),
            part=part,
        message:
            f"measurements of all classifiers ({part})"
        script:
            "../scripts/comparison_values.py"

    # From the values of this run, and from those that are committed.
    for kind, source, target in (
        ("summary", "results/", "results/"),
        ("recompute", "results/reference/", "results/recomputed/"),
    ):

        rule:
            name:
                f"comparison_{kind}_{part}"
            input:
                **{
                    name: path.replace("results/", source, 1)
                    for name, path in COMPARISON_VALUES[part].items()
                },
            output:
                [path.replace("results/", target, 1) for path in COMPARISON_RESULTS[part]],
            log:
                f"results/logs/comparison/{kind}_{part}.log",
            localrule: True
            params:
                settings="config/comparison.yaml",
                content=COMPARISON.model_dump(),  # so that another note or title counts
                names=COMPARISON.titles(),
                columns=STUDY.config.figure_columns,
                code=code("comparison_summary"),
                part=part,
            message:
                f"tables and figures of the classifier comparison ({part}), from the values in {source}"
            script:
                "../scripts/comparison_summary.py"

    rule:
        name:
            f"comparison_{'development' if part == 'tables' else part}"
        input:
            COMPARISON_RESULTS[part],
            "results/environment.json",
        localrule: True
        message:
            f"the classifier comparison ({part})"


rule comparison_recompute:
    input:
        [
            path.replace("results/", "results/recomputed/", 1)
            for results in COMPARISON_RESULTS.values()
            for path in results
        ],
    localrule: True


rule comparison:
    input:
        list(COMPARISON_RESULTS.values()),
        "results/environment.json",
    localrule: True
    message:
        "the classifier comparison"
