# Is the classifier worth choosing? Not part of a default run: snakemake frontier --cores 2
from skem.repro.code_hash import code_of_classifiers
from skem.repro.frontier.settings import BUNDLED

FRONTIER = STUDY.frontier
FRONTIER_IMAGES = [
    (dataset, method)
    for dataset, entry in FRONTIER["images"]["data_sets"].items()
    for method in entry["methods"]
]
FRONTIER_RESULTS = [
    *(
        f"results/tables/frontier_{name}.{suffix}"
        for name in ("images", "images_timing", "tables")
        for suffix in ("csv", "md")
    ),
    "results/tables/frontier_ranks.csv",
    *(
        f"results/figures/{name}.{suffix}"
        for name in ("frontier_timing", "frontier_ranks")
        for suffix in ("svg", "pdf", "png")
    ),
]
FRONTIER_VALUES = {
    name: f"results/values/frontier_{name}.csv"
    for name in ("images", "images_timing", "tables", "tables_timing")
}
FRONTIER_OUTLIERS = [f"results/tables/frontier_outliers.{suffix}" for suffix in ("csv", "md")]
REFERENCE_TOO += [*FRONTIER_RESULTS, *FRONTIER_VALUES.values(), *FRONTIER_OUTLIERS]


def classifiers_of(methods, *names):
    """The code of the classifiers of some methods, or of all."""
    return code_of_classifiers(methods[name]["model"] for name in names or methods)


rule frontier_features:
    input:
        lambda wildcards: "results/data/{}.json".format(
            FRONTIER["images"]["data_sets"][wildcards.dataset]["features"]["source"]
        ),
    output:
        "results/frontier/features/{dataset}.npz",
    params:
        spec=lambda wildcards: FRONTIER["images"]["data_sets"][wildcards.dataset]["features"],
        code=code("frontier_features"),
    message:
        "features of {wildcards.dataset}, all training images"
    script:
        "../scripts/frontier_features.py"


rule frontier_images:
    """On one core; seconds are the processor's own, so others may run beside it."""
    input:
        "results/frontier/features/{dataset}.npz",
    output:
        scores="results/frontier/images/{dataset}/{method}.csv",
        seconds="results/frontier/images/{dataset}/{method}.seconds.csv",
        predictions="results/frontier/images/{dataset}/{method}.npz",
    threads: 1
    params:
        entry=lambda wildcards: FRONTIER["images"]["data_sets"][wildcards.dataset]["methods"][
            wildcards.method
        ],
        windows=lambda wildcards: FRONTIER["images"]["data_sets"][wildcards.dataset]["features"].get(
            "windows"
        ),
        runs=FRONTIER["images"]["runs"],
        seed=SEED,
        code=code("frontier_images"),
        classifiers=lambda wildcards: classifiers_of(
            FRONTIER["images"]["data_sets"][wildcards.dataset]["methods"], wildcards.method
        ),
    message:
        "{wildcards.method} on {wildcards.dataset}"
    script:
        "../scripts/frontier_images.py"


rule frontier_table:
    """One job per data set: every method on every fold."""
    input:
        lambda wildcards: ([] if wildcards.dataset in BUNDLED else f"results/data/{wildcards.dataset}.json"),
    output:
        scores="results/frontier/tables/{dataset}.csv",
        seconds="results/frontier/tables/{dataset}.seconds.csv",
    wildcard_constraints:
        dataset="|".join(FRONTIER["tables"]["data_sets"]),
    params:
        methods=FRONTIER["tables"]["methods"],
        setup={name: FRONTIER["tables"][name] for name in ("n_folds", "max_rows")},
        seed=SEED,
        code=code("frontier_table"),
        classifiers=lambda wildcards: classifiers_of(FRONTIER["tables"]["methods"]),
    message:
        "every method on {wildcards.dataset}"
    script:
        "../scripts/frontier_table.py"


rule frontier_outliers:
    """One fit of each method."""
    input:
        lambda wildcards: expand(
            "results/data/{source}.json",
            source=[
                FRONTIER["outliers"]["data_sets"][wildcards.dataset]["features"]["source"],
                FRONTIER["outliers"]["data_sets"][wildcards.dataset]["outside"],
            ],
        ),
    output:
        "results/frontier/outliers/{dataset}.csv",
    threads: 1
    params:
        entry=lambda wildcards: FRONTIER["outliers"]["data_sets"][wildcards.dataset],
        methods=FRONTIER["outliers"]["methods"],
        seed=SEED,
        code=code("frontier_outliers"),
        classifiers=lambda wildcards: classifiers_of(FRONTIER["outliers"]["methods"]),
    message:
        "rows unlike those of {wildcards.dataset}"
    script:
        "../scripts/frontier_outliers.py"


rule frontier_outliers_table:
    input:
        expand("results/frontier/outliers/{dataset}.csv", dataset=FRONTIER["outliers"]["data_sets"]),
    output:
        csv="results/tables/frontier_outliers.csv",
        md="results/tables/frontier_outliers.md",
    localrule: True
    params:
        settings=FRONTIER["outliers"],
        names=FRONTIER["names"],
        code=code("frontier_outliers_table"),
    message:
        "rows of another data set"
    script:
        "../scripts/frontier_outliers_table.py"


rule frontier_values:
    input:
        images=[f"results/frontier/images/{dataset}/{method}.csv" for dataset, method in FRONTIER_IMAGES],
        seconds=[
            f"results/frontier/images/{dataset}/{method}.seconds.csv" for dataset, method in FRONTIER_IMAGES
        ],
        predictions=[f"results/frontier/images/{dataset}/{method}.npz" for dataset, method in FRONTIER_IMAGES],
        tables=[f"results/frontier/tables/{name}.csv" for name in FRONTIER["tables"]["data_sets"]],
        tables_seconds=[
            f"results/frontier/tables/{name}.seconds.csv" for name in FRONTIER["tables"]["data_sets"]
        ],
    output:
        **FRONTIER_VALUES,
    localrule: True
    params:
        code=code("frontier_values"),
    message:
        "what was measured of the classifier and others"
    script:
        "../scripts/frontier_values.py"


rule frontier_summary:
    input:
        **FRONTIER_VALUES,
    output:
        FRONTIER_RESULTS,
    localrule: True
    params:
        settings=FRONTIER,
        code=code("frontier"),
    message:
        "is it worth choosing"
    script:
        "../scripts/frontier.py"


use rule frontier_summary as frontier_recompute with:
    input:
        **{name: path.replace("results/", "results/reference/", 1) for name, path in FRONTIER_VALUES.items()},
    output:
        [path.replace("results/", "results/recomputed/", 1) for path in FRONTIER_RESULTS],
    localrule: True
    message:
        "tables and figures of the classifier beside others, from the values in results/reference"


rule frontier:
    input:
        FRONTIER_RESULTS,
        FRONTIER_OUTLIERS,
        "results/environment.json",
    localrule: True
    message:
        "the classifier beside others"
