# Comparison with other classifiers. Not part of a default run: snakemake comparison --cores 2
COMPARISON = STUDY.comparison
# Tables of each part: those with a page, and those without.
COMPARISON_PARTS = {
    "images": (["images", "images_timing"], []),
    "tables": (["tables"], ["ranks"]),
    "test": (["test"], ["test_ranks"]),
    "categories": (["categories"], ["categories_ranks"]),
    "outliers": (["outliers"], []),
    "left_out": (["left_out"], []),
}
COMPARISON_JOBS = {part: COMPARISON.jobs(part) for part in COMPARISON_PARTS}
COMPARISON_VALUES, COMPARISON_RESULTS = {}, {}
for part, (pages, others) in COMPARISON_PARTS.items():
    names = [part] if part == "outliers" else [part, f"{part}_timing"]
    COMPARISON_VALUES[part] = {name: f"results/values/comparison_{name}.csv" for name in names}
    COMPARISON_RESULTS[part] = [
        *expand("results/tables/comparison_{name}.{suffix}", name=pages, suffix=["csv", "md"]),
        *expand("results/tables/comparison_{name}.csv", name=others),
    ]
    if part == "images":
        COMPARISON_RESULTS[part] += expand("results/figures/comparison_timing.{suffix}", suffix=KINDS)
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
    priority: 2  # before the longest jobs, which need them
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
    params:
        spec=lambda wildcards: COMPARISON.features(wildcards.part, wildcards.dataset),
    script:
        "../scripts/comparison_features.py"


def comparison_jobs(wildcards):
    """Parameters of a method, by data set."""
    return COMPARISON_JOBS[wildcards.part][wildcards.method]


def comparison_models(wildcards):
    """Entries of the registry that a job fits."""
    return {job["model"] for job in comparison_jobs(wildcards).values()}


rule comparison_fit:
    """Fit a method on all data sets of a part; the longest job takes 22 minutes, and begins again if it is stopped.

    It uses one core; seconds are the processor's own, so others may run beside it.
    """
    input:
        lambda wildcards: [
            (
                f"results/comparison/features/{wildcards.part}/{dataset}.npz"
                if wildcards.part in ("images", "outliers")
                else f"results/data/{dataset}.json"
            )
            for dataset in comparison_jobs(wildcards)
        ],
    output:
        scores="results/comparison/{part}/{method}.csv",
        seconds="results/comparison/{part}/{method}.seconds.csv",
        predictions="results/comparison/{part}/{method}.npz",
    log:
        "results/logs/comparison/{part}/{method}.log",
    wildcard_constraints:
        part="|".join(COMPARISON_PARTS),
        method="[a-z0-9_]+",
    # The longest first.
    priority: lambda wildcards: wildcards.part == "images" or wildcards.method.endswith(("_search", "_cv"))
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
    params:
        jobs=comparison_jobs,
        seed=SEED,
        # An optional package that is installed later counts.
        installed=lambda wildcards: all(
            classifiers.find(name).is_installed for name in comparison_models(wildcards)
        ),
        classifiers=lambda wildcards: code_of_classifiers(comparison_models(wildcards)),
    script:
        "../scripts/comparison_fit.py"


for part in COMPARISON_PARTS:

    rule:
        name:
            f"comparison_results_{part}"
        input:
            expand(
                "results/comparison/{part}/{method}.{suffix}",
                part=part,
                method=COMPARISON_JOBS[part],
                suffix=("csv", "seconds.csv", "npz"),
            ),
        output:
            COMPARISON_RESULTS[part],
            **COMPARISON_VALUES[part],
        log:
            f"results/logs/comparison/{part}.log",
        localrule: True
        params:
            settings=COMPARISON.model_dump(),  # so that another note or title counts
            columns=STUDY.config.figure_columns,
            part=part,
        script:
            "../scripts/comparison_results.py"

    rule:
        name:
            f"comparison_{'development' if part == 'tables' else part}"
        input:
            COMPARISON_RESULTS[part],
            "results/environment.json",
        localrule: True


rule comparison_recompute:
    """Tables and figures in results/recomputed, from the values of results/reference."""
    log:
        "results/logs/comparison/recompute.log",
    localrule: True
    params:
        results=COMPARISON_RESULTS,
        values=COMPARISON_VALUES,
    script:
        "../scripts/comparison_recompute.py"


rule comparison:
    """All parts but the development tables, which serve to choose defaults."""
    input:
        [files for part, files in COMPARISON_RESULTS.items() if part != "tables"],
        "results/environment.json",
    localrule: True
