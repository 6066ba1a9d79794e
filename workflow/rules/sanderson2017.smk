# Sanderson and Curtin (2017). Not part of a default run: snakemake sanderson --cores 2

SANDERSON = STUDY.papers["sanderson2017"]
SANDERSON_SIZE = SANDERSON.sizes[SANDERSON.size]
SANDERSON_LEFT = {
    "fits": [f"results/sanderson2017/fits/{name}.csv" for name in SANDERSON_SIZE.runs],
    "heldout": [f"results/sanderson2017/heldout/{name}.csv" for name in SANDERSON.heldout["data_sets"]],
    "ridges": [f"results/sanderson2017/ridges/{name}.csv" for name in SANDERSON.ridges["data_sets"]],
    "advice": [f"results/sanderson2017/advice/{name}.csv" for name in SANDERSON.advice["data_sets"]],
    "starts": ["results/sanderson2017/starts.csv"],
    "timing": [
        f"results/sanderson2017/times/{name}_timing.csv" for name in [*SANDERSON_SIZE.timed, "figure2"]
    ],
    "timing_others": [
        f"results/sanderson2017/times/{name}_others_timing.csv" for name in [*SANDERSON_SIZE.timed, "figure2"]
    ],
}
SANDERSON_VALUES = {name: f"results/values/sanderson2017_{name}.csv" for name in SANDERSON_LEFT}
EVIDENCE["sanderson2017"] = {"sanderson": {"values": SANDERSON_VALUES}}
SANDERSON_FIGURES = {
    "sanderson_compared": ["results/tables/sanderson.csv"],
    "sanderson_advice": [SANDERSON_VALUES["advice"]],
    "sanderson_figure2_timing": ["results/tables/sanderson_timing.csv"],
}
DRAWN |= {name: {"paper": "sanderson2017", "tables": tables} for name, tables in SANDERSON_FIGURES.items()}
SANDERSON_RESULTS = [
    f"results/tables/{name}.{suffix}"
    for name in ("sanderson", "sanderson_timing", "sanderson_claims")
    for suffix in ("csv", "md")
] + [f"results/figures/{name}.{suffix}" for name in SANDERSON_FIGURES for suffix in KINDS]
REFERENCE_TOO += [*SANDERSON_RESULTS, *SANDERSON_VALUES.values()]


def sanderson_data(dataset):
    """The record of a data set; none of what is drawn."""
    entry = SANDERSON.data_sets.get(dataset, {})
    return [f"results/data/{entry['source']}.json"] if "source" in entry else []


rule sanderson_fits:
    """One job per data set; an engine that is not installed leaves a row that says so."""
    input:
        lambda wildcards: sanderson_data(wildcards.dataset),
    output:
        "results/sanderson2017/fits/{dataset}.csv",
    wildcard_constraints:
        dataset="|".join(SANDERSON.available),
    priority: 200
    params:
        work="fits",
        entry=lambda wildcards: SANDERSON.data_sets[wildcards.dataset],
        n_rows=lambda wildcards: SANDERSON_SIZE.rows.get(wildcards.dataset),
        methods=lambda wildcards: SANDERSON.starts_of(wildcards.dataset, SANDERSON_SIZE),
        kmeans_iter=SANDERSON.kmeans_iter,
        em_iter=SANDERSON.em_iter,
        floor=SANDERSON.floor,
        seed=SEED,
        code=code("sanderson_fits"),
    message:
        "fits of {wildcards.dataset}"
    script:
        "../scripts/sanderson_fits.py"


rule sanderson_heldout:
    input:
        lambda wildcards: sanderson_data(wildcards.dataset),
    output:
        "results/sanderson2017/heldout/{dataset}.csv",
    wildcard_constraints:
        dataset="|".join(SANDERSON.available),
    priority: 100
    params:
        work="heldout",
        entry=lambda wildcards: SANDERSON.data_sets[wildcards.dataset],
        n_rows=lambda wildcards: SANDERSON_SIZE.rows.get(wildcards.dataset),
        methods=lambda wildcards: SANDERSON.heldout["data_sets"][wildcards.dataset],
        n_folds=SANDERSON.heldout["n_folds"],
        kmeans_iter=SANDERSON.kmeans_iter,
        em_iter=SANDERSON.em_iter,
        floor=SANDERSON.floor,
        seed=SEED,
        code=code("sanderson_fits"),
    message:
        "held-out rows of {wildcards.dataset}"
    script:
        "../scripts/sanderson_fits.py"


rule sanderson_ridges:
    input:
        lambda wildcards: sanderson_data(wildcards.dataset),
    output:
        "results/sanderson2017/ridges/{dataset}.csv",
    wildcard_constraints:
        dataset="|".join(SANDERSON.available),
    params:
        work="ridges",
        entry=lambda wildcards: SANDERSON.data_sets[wildcards.dataset],
        n_rows=lambda wildcards: SANDERSON_SIZE.rows.get(wildcards.dataset),
        setup=SANDERSON.ridges,
        kmeans_iter=SANDERSON.kmeans_iter,
        em_iter=SANDERSON.em_iter,
        floor=SANDERSON.floor,
        seed=SEED,
        code=code("sanderson_fits"),
    message:
        "likelihood of {wildcards.dataset} against the ridge"
    script:
        "../scripts/sanderson_fits.py"


rule sanderson_advice:
    input:
        lambda wildcards: sanderson_data(wildcards.dataset),
    output:
        "results/sanderson2017/advice/{dataset}.csv",
    wildcard_constraints:
        dataset="|".join(SANDERSON.available),
    params:
        work="advice",
        dataset=lambda wildcards: wildcards.dataset,
        entry=lambda wildcards: SANDERSON.data_sets[wildcards.dataset],
        n_rows=lambda wildcards: SANDERSON_SIZE.rows.get(wildcards.dataset),
        setup=SANDERSON.advice,
        seed=SEED,
        code=code("sanderson_advice"),
    message:
        "what the paper advises, on {wildcards.dataset}"
    script:
        "../scripts/sanderson_advice.py"


rule sanderson_starts:
    input:
        sanderson_data(SANDERSON.starts["data_set"]),
    output:
        "results/sanderson2017/starts.csv",
    params:
        work="starts",
        dataset=SANDERSON.starts["data_set"],
        entry=SANDERSON.data_sets[SANDERSON.starts["data_set"]],
        n_rows=None,
        setup=SANDERSON.starts,
        ridge=SANDERSON.floor,
        seed=SEED,
        code=code("sanderson_advice"),
    message:
        "starts by two metrics"
    script:
        "../scripts/sanderson_advice.py"


rule sanderson_times:
    """Runs alone, like all that is timed."""
    input:
        lambda wildcards: sanderson_data(wildcards.dataset),
    output:
        fits="results/sanderson2017/times/{dataset}_timing.csv",
        others="results/sanderson2017/times/{dataset}_others_timing.csv",
    wildcard_constraints:
        dataset="|".join(SANDERSON.available),
    threads: lambda wildcards: workflow.cores
    params:
        work="fits",
        entry=lambda wildcards: SANDERSON.data_sets[wildcards.dataset],
        n_rows=lambda wildcards: (SANDERSON_SIZE.rows | SANDERSON_SIZE.timed_rows).get(wildcards.dataset),
        setup=lambda wildcards: {
            "n_components": SANDERSON.data_sets[wildcards.dataset]["n_components"],
            "em_iter": SANDERSON.em_iter,
        },
        passes=lambda wildcards: SANDERSON_SIZE.timed_passes.get(wildcards.dataset, SANDERSON.em_iter),
        rounds=SANDERSON_SIZE.rounds,
        kmeans_iter=SANDERSON.kmeans_iter,
        floor=SANDERSON.floor,
        seed=SEED,
        code=code("sanderson_times"),
    message:
        "timing fits of {wildcards.dataset}"
    script:
        "../scripts/sanderson_times.py"


rule sanderson_figure2:
    output:
        fits="results/sanderson2017/times/figure2_timing.csv",
        others="results/sanderson2017/times/figure2_others_timing.csv",
    threads: lambda wildcards: workflow.cores
    params:
        work="figure2",
        n_rows=SANDERSON_SIZE.rows.get("figure2", SANDERSON.figure2["n_rows"]),
        setup=SANDERSON.figure2,
        rounds=SANDERSON_SIZE.rounds,
        kmeans_iter=SANDERSON.kmeans_iter,
        floor=SANDERSON.floor,
        seed=SEED,
        code=code("sanderson_times"),
    message:
        "timing Figure 2, k-means and its seeds"
    script:
        "../scripts/sanderson_times.py"


rule sanderson_values:
    """What its claims are judged by, and its tables are made of."""
    input:
        **SANDERSON_LEFT,
    output:
        **SANDERSON_VALUES,
    localrule: True
    params:
        code=code("sanderson_values"),
    message:
        "what the claims of Sanderson and Curtin (2017) are judged by"
    script:
        "../scripts/sanderson_values.py"


rule sanderson_tables:
    input:
        values=list(SANDERSON_VALUES.values()),
        claims="config/claims.csv",
    output:
        csv="results/tables/sanderson.csv",
        md=report(
            "results/tables/sanderson.md",
            category=STUDY.titles["sanderson2017"],
            labels={"table": "likelihoods"},
            caption="../report/sanderson.rst",
        ),
        timing_csv="results/tables/sanderson_timing.csv",
        timing_md=report(
            "results/tables/sanderson_timing.md",
            category=STUDY.titles["sanderson2017"],
            labels={"table": "times"},
            caption="../report/sanderson.rst",
        ),
    localrule: True
    params:
        found=SANDERSON_VALUES,
        settings=SANDERSON,
        code=code("sanderson_tables"),
    message:
        "Table 1 of Sanderson and Curtin (2017), and its times"
    script:
        "../scripts/sanderson_tables.py"


rule sanderson:
    input:
        SANDERSON_RESULTS,
        "results/environment.json",
    localrule: True
    message:
        "Sanderson and Curtin (2017)"
