# Hayashi and Uchida (2021). Not part of a default run: snakemake hayashi --cores 2, and with PyTorch hayashi_images
from skem.repro.papers.hayashi2021.settings import NETWORKS

HAYASHI = STUDY.papers["hayashi2021"]
HAYASHI_COLUMNS = HAYASHI.images["data_sets"]
HAYASHI_VALUES = values_of("hayashi2021", ("errors", "components", "components_raw"))
HAYASHI_IMAGE_VALUES = values_of("hayashi2021", ("images", "images_choice"))
add_results(
    "hayashi",
    "hayashi2021",
    values=HAYASHI_VALUES,
    tables={"": "hayashi"},
    figures={"hayashi_components": [HAYASHI_VALUES["components_raw"]]}
    | {f"hayashi_figure{number}": ["results/hayashi2021/boundaries.csv"] for number in (1, 3, 6)},
    script="hayashi_results",
    inputs={name: HAYASHI_VALUES[name] for name in ("errors", "components", "components_raw")},
    jobs={
        "errors": [
            f"results/hayashi2021/{name}/{begin}.csv"
            for name in HAYASHI.data_sets
            for begin in range(0, HAYASHI.n_splits(name), HAYASHI.splits_per_job)
        ]
    }
    | {
        scale: expand(f"results/hayashi2021/{scale}/{{run}}.csv", run=range(HAYASHI.synthetic["repetitions"]))
        for scale in ("components", "components_raw")
    },
)
add_results(
    "hayashi_images",
    "hayashi2021",
    values=HAYASHI_IMAGE_VALUES,
    tables={"": "hayashi_images"},
    # Figure 5 shows two features.
    figures={
        "hayashi_features": expand(
            "results/hayashi2021/images/{dataset}/{method}-0.features.csv",
            dataset=[name for name, entry in HAYASHI_COLUMNS.items() if entry["n_features"] == 2],
            method=("softmax", "sdgm"),
        )
    },
    script="hayashi_results",
    inputs={name: HAYASHI_IMAGE_VALUES[name] for name in ("images", "images_choice")},
    jobs={
        "images": expand(
            "results/hayashi2021/images/{dataset}/{method}-{run}.csv",
            run=range(HAYASHI.images["seeds"]),
            dataset=HAYASHI_COLUMNS,
            method=NETWORKS,
        ),
        "images_choice": expand("results/hayashi2021/images/{dataset}/choice.csv", dataset=HAYASHI_COLUMNS),
    },
)


rule hayashi_errors:
    """One job per data set and batch of splits."""
    input:
        data=lambda wildcards: f"results/data/{HAYASHI.data_sets[wildcards.dataset]['source']}.json",
    output:
        rows="results/hayashi2021/{dataset}/{begin}.csv",
    log:
        "results/logs/hayashi2021/{dataset}/{begin}.log",
    wildcard_constraints:
        dataset="|".join(HAYASHI.data_sets) or "none",
        begin=r"\d+",
    resources:
        runtime=lambda wildcards, attempt: 720 * attempt,
    params:
        arguments=lambda wildcards: {
            "dataset": wildcards.dataset,
            "entry": HAYASHI.data_sets[wildcards.dataset],
            "runs": (
                int(wildcards.begin),
                min(
                    int(wildcards.begin) + HAYASHI.splits_per_job,
                    HAYASHI.n_splits(wildcards.dataset),
                ),
            ),
            "model": HAYASHI.model,
            "seed": SEED,
        },
    script:
        "../scripts/hayashi_errors.py"


rule hayashi_components:
    """One job per repetition of appendix B."""
    output:
        rows="results/hayashi2021/{scale}/{run}.csv",
    log:
        "results/logs/hayashi2021/{scale}/{run}.log",
    wildcard_constraints:
        scale="components|components_raw",
        run=r"\d+",
    priority: 100
    params:
        arguments=lambda wildcards: {
            "synthetic": HAYASHI.synthetic,
            "model": HAYASHI.model | ({} if wildcards.scale == "components" else {"standardize": False}),
            "run": int(wildcards.run),
            "seed": SEED,
        },
    script:
        "../scripts/hayashi_errors.py"


rule hayashi_boundaries:
    input:
        data="results/data/ripley.json",
    output:
        rows="results/hayashi2021/boundaries.csv",
    log:
        "results/logs/hayashi2021/boundaries.log",
    priority: 100
    params:
        arguments={
            "setup": HAYASHI.boundaries,
            "model": HAYASHI.model,
            "synthetic": HAYASHI.synthetic,
            "seed": SEED,
        },
    script:
        "../scripts/hayashi_boundaries.py"


rule hayashi_images_choice:
    """One job per column of Table 2."""
    input:
        data=lambda wildcards: f"results/data/{HAYASHI_COLUMNS[wildcards.dataset]['source']}.json",
    output:
        rows="results/hayashi2021/images/{dataset}/choice.csv",
    log:
        "results/logs/hayashi2021/images/{dataset}/choice.log",
    wildcard_constraints:
        dataset="|".join(HAYASHI_COLUMNS),
    params:
        arguments=lambda wildcards: {
            "column": wildcards.dataset,
            "images": {key: HAYASHI.images[key] for key in ("data_sets", "network", "choice")},
            "seed": SEED,
        },
    script:
        "../scripts/hayashi_images.py"


rule hayashi_images_train:
    """One job per column of Table 2, last layer and seed."""
    input:
        data=lambda wildcards: f"results/data/{HAYASHI_COLUMNS[wildcards.dataset]['source']}.json",
        choice=lambda wildcards: (
            [f"results/hayashi2021/images/{wildcards.dataset}/choice.csv"]
            if wildcards.method in ("softmax_l1", "sdgm")
            else []
        ),
    output:
        errors="results/hayashi2021/images/{dataset}/{method}-{run}.csv",
        features="results/hayashi2021/images/{dataset}/{method}-{run}.features.csv",
    log:
        "results/logs/hayashi2021/images/{dataset}/{method}-{run}.log",
    wildcard_constraints:
        dataset="|".join(HAYASHI_COLUMNS),
        method="|".join(NETWORKS),
        run=r"\d+",
    params:
        arguments=lambda wildcards: {
            "column": wildcards.dataset,
            "method": wildcards.method,
            "run": int(wildcards.run),
            "images": {
                key: value for key, value in HAYASHI.images.items() if key not in ("choice", "left_out")
            },
            "choice": f"results/hayashi2021/images/{wildcards.dataset}/choice.csv",
            "seed": SEED,
        },
    script:
        "../scripts/hayashi_images.py"
