# Hayashi and Uchida (2021). Not part of a default run: snakemake hayashi --cores 2, and with PyTorch hayashi_images
from itertools import product

from skem.repro.papers.hayashi2021 import benchmark
from skem.repro.papers.hayashi2021.settings import NETWORKS

HAYASHI = STUDY.papers["hayashi2021"]
HAYASHI_LEFT = {
    "errors": [
        f"results/hayashi2021/{name}/{begin}.csv"
        for name, begin in product(HAYASHI.data_sets, range(0, HAYASHI.splits, HAYASHI.splits_per_job))
    ]
} | {
    scale: [f"results/hayashi2021/{scale}/{run}.csv" for run in range(HAYASHI.synthetic["repetitions"])]
    for scale in ("components", "components_raw")
}
HAYASHI_VALUES = {
    name: f"results/values/hayashi2021_{name}.csv"
    for name in ("errors", "components", "components_raw", "timing")
}
HAYASHI_IMAGES = "results/hayashi2021/images"
HAYASHI_CELLS = [
    f"{HAYASHI_IMAGES}/{name}/{method}-{run}.csv"
    for run in range(HAYASHI.images["seeds"])
    for name in HAYASHI.images["data_sets"]
    for method in NETWORKS
]


def hayashi_order(wildcards):
    """After fetching; the first seed of all before the second of any, and one column after the other."""
    return 18 - 5 * int(wildcards.get("run", 0)) - list(HAYASHI.images["data_sets"]).index(wildcards.dataset)


HAYASHI_CHOICES = [f"{HAYASHI_IMAGES}/{name}/choice.csv" for name in HAYASHI.images["data_sets"]]
HAYASHI_IMAGE_VALUES = {
    name: f"results/values/hayashi2021_{name}.csv" for name in ("images", "images_choice", "images_timing")
}
EVIDENCE["hayashi2021"] = {
    "hayashi": {"values": HAYASHI_VALUES},
    "hayashi_images": {"values": HAYASHI_IMAGE_VALUES},
}
HAYASHI_FIGURES = {"hayashi_components": [HAYASHI_VALUES["components"]]} | {
    f"hayashi_figure{number}": ["results/hayashi2021/boundaries.csv"] for number in (1, 3, 6)
}
# Figure 5 has the features of two.
HAYASHI_IMAGE_FIGURES = {
    "hayashi_features": [
        f"{HAYASHI_IMAGES}/{name}/{method}-0.features.csv"
        for name, entry in HAYASHI.images["data_sets"].items()
        for method in ("softmax", "sdgm")
        if entry["n_features"] == 2
    ]
}
DRAWN |= {
    name: {"paper": "hayashi2021", "tables": tables}
    for name, tables in (HAYASHI_FIGURES | HAYASHI_IMAGE_FIGURES).items()
}
HAYASHI_RESULTS = [
    f"results/tables/{name}.{suffix}" for name in ("hayashi", "hayashi_claims") for suffix in ("csv", "md")
] + [f"results/figures/{name}.{suffix}" for name in HAYASHI_FIGURES for suffix in KINDS]
HAYASHI_IMAGE_RESULTS = [f"results/tables/hayashi_images.{suffix}" for suffix in ("csv", "md")] + [
    f"results/figures/{name}.{suffix}" for name in HAYASHI_IMAGE_FIGURES for suffix in KINDS
]
REFERENCE_TOO += [
    *(*HAYASHI_RESULTS, *HAYASHI_VALUES.values()),
    *(*HAYASHI_IMAGE_RESULTS, *HAYASHI_IMAGE_VALUES.values()),
]


def hayashi_splits_order(wildcards):
    """The first splits of all data sets before later ones of any, and these as they are listed: waveform's take longest."""
    first = len(HAYASHI.data_sets) * (HAYASHI.splits - int(wildcards.begin))
    return first - list(HAYASHI.data_sets).index(wildcards.dataset)


rule hayashi_errors:
    """One job per data set and so many splits; the first of all data sets first."""
    input:
        data=lambda wildcards: f"results/data/{HAYASHI.data_sets[wildcards.dataset]['source']}.json",
        benchmark=lambda wildcards: (
            [str(benchmark.file())]
            if benchmark.file() and "n_train" in HAYASHI.data_sets[wildcards.dataset]
            else []
        ),
    output:
        "results/hayashi2021/{dataset}/{begin}.csv",
    wildcard_constraints:
        dataset="|".join(HAYASHI.data_sets) or "none",
        begin=r"\d+",
    priority: hayashi_splits_order
    params:
        entry=lambda wildcards: HAYASHI.data_sets[wildcards.dataset],
        model=HAYASHI.model,
        end=lambda wildcards: min(int(wildcards.begin) + HAYASHI.splits_per_job, HAYASHI.splits),
        seed=SEED,
        code=code("hayashi_errors"),
    message:
        "every method on {wildcards.dataset}, splits from {wildcards.begin}"
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


use rule hayashi_components as hayashi_components_raw with:
    output:
        "results/hayashi2021/components_raw/{run}.csv",
    params:
        setup=HAYASHI.synthetic,
        model=HAYASHI.model | {"standardize": False},
        seed=SEED,
        code=code("hayashi_components"),
    message:
        "appendix B, features as they are, repetition {wildcards.run}"


rule hayashi_boundaries:
    input:
        "results/data/ripley.json",
    output:
        "results/hayashi2021/boundaries.csv",
    priority: 100
    params:
        setup=HAYASHI.boundaries,
        model=HAYASHI.model,
        synthetic=HAYASHI.synthetic,
        seed=SEED,
        code=code("hayashi_boundaries"),
    message:
        "boundaries of figures 1, 3 and 6"
    script:
        "../scripts/hayashi_boundaries.py"


rule hayashi_values:
    """What its claims are judged by, and its table is made of."""
    input:
        **HAYASHI_LEFT,
    output:
        **HAYASHI_VALUES,
    localrule: True
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
        components_raw=HAYASHI_VALUES["components_raw"],
        claims="config/claims.csv",
    output:
        csv="results/tables/hayashi.csv",
        md=report(
            "results/tables/hayashi.md",
            category=STUDY.titles["hayashi2021"],
            caption="../report/hayashi.rst",
        ),
    localrule: True
    params:
        settings=HAYASHI,
        code=code("hayashi_table"),
    message:
        "Table 1 of Hayashi and Uchida (2021)"
    script:
        "../scripts/hayashi_table.py"


rule hayashi_images_choice:
    """One job per column of Table 2: what is chosen on validation rows."""
    input:
        lambda wildcards: f"results/data/{HAYASHI.images['data_sets'][wildcards.dataset]['source']}.json",
    output:
        f"{HAYASHI_IMAGES}/{{dataset}}/choice.csv",
    wildcard_constraints:
        dataset="|".join(HAYASHI.images["data_sets"]),
    priority: hayashi_order
    params:
        stated={name: HAYASHI.images[name] for name in ("network", "choice")},
        entry=lambda wildcards: HAYASHI.images["data_sets"][wildcards.dataset],
        seed=SEED,
        code=code("hayashi_images_choice"),
    message:
        "strength and schedule on {wildcards.dataset}"
    script:
        "../scripts/hayashi_images_choice.py"


rule hayashi_images_train:
    """One job per column of Table 2, last layer and seed; the first seed of all first."""
    input:
        data=lambda wildcards: f"results/data/{HAYASHI.images['data_sets'][wildcards.dataset]['source']}.json",
        choice=lambda wildcards: (
            [f"{HAYASHI_IMAGES}/{wildcards.dataset}/choice.csv"]
            if wildcards.method in ("softmax_l1", "sdgm")
            else []
        ),
    output:
        errors=f"{HAYASHI_IMAGES}/{{dataset}}/{{method}}-{{run}}.csv",
        features=f"{HAYASHI_IMAGES}/{{dataset}}/{{method}}-{{run}}.features.csv",
    wildcard_constraints:
        dataset="|".join(HAYASHI.images["data_sets"]),
        method="|".join(NETWORKS),
        run=r"\d+",
    priority: hayashi_order
    params:
        stated={name: HAYASHI.images.get(name) for name in ("network", "n_train", "drawn")},
        entry=lambda wildcards: HAYASHI.images["data_sets"][wildcards.dataset],
        seed=SEED,
        code=code("hayashi_images_train"),
    message:
        "{wildcards.method} on {wildcards.dataset}, seed {wildcards.run}"
    script:
        "../scripts/hayashi_images_train.py"


rule hayashi_images_values:
    """What the claims of Table 2 are judged by."""
    input:
        errors=HAYASHI_CELLS,
        choices=HAYASHI_CHOICES,
    output:
        **HAYASHI_IMAGE_VALUES,
    localrule: True
    params:
        code=code("hayashi_images_values"),
    message:
        "what the claims of Table 2 of Hayashi and Uchida (2021) are judged by"
    script:
        "../scripts/hayashi_images_values.py"


rule hayashi_images_table:
    input:
        errors=HAYASHI_IMAGE_VALUES["images"],
        choices=HAYASHI_IMAGE_VALUES["images_choice"],
        claims="config/claims.csv",
    output:
        csv="results/tables/hayashi_images.csv",
        md=report(
            "results/tables/hayashi_images.md",
            category=STUDY.titles["hayashi2021"],
            caption="../report/hayashi_images.rst",
        ),
    localrule: True
    params:
        settings=HAYASHI,
        code=code("hayashi_images_table"),
    message:
        "Table 2 of Hayashi and Uchida (2021)"
    script:
        "../scripts/hayashi_images_table.py"


rule hayashi_images:
    input:
        HAYASHI_IMAGE_RESULTS,
        "results/environment.json",
    localrule: True
    message:
        "Table 2 and Figure 5 of Hayashi and Uchida (2021)"


rule hayashi:
    input:
        HAYASHI_RESULTS,
        "results/environment.json",
    localrule: True
    message:
        "Hayashi and Uchida (2021)"
