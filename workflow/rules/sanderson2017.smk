# Sanderson and Curtin (2017). Not part of a default run: snakemake sanderson --cores 2

SANDERSON = STUDY.papers["sanderson2017"]
SANDERSON_SIZE = SANDERSON.sizes[SANDERSON.size]
SANDERSON_EM = {key: getattr(SANDERSON, key) for key in ("kmeans_iter", "em_iter", "floor")}
# By kind of job: its data sets, and what its function takes besides the samples of one.
SANDERSON_JOBS = {
    "fits": (
        SANDERSON_SIZE.runs,
        lambda dataset: {"em": SANDERSON_EM, "methods": SANDERSON.runs_of(dataset)},
    ),
    "heldout": (
        SANDERSON.heldout["data_sets"],
        lambda dataset: {
            "em": SANDERSON_EM,
            "methods": SANDERSON.heldout["data_sets"][dataset],
            "n_folds": SANDERSON.heldout["n_folds"],
        },
    ),
    "advice": (SANDERSON.advice["data_sets"], lambda dataset: {"setup": SANDERSON.advice}),
    "floors": (
        SANDERSON.floors["data_sets"],
        lambda dataset: {"em": SANDERSON_EM, "setup": SANDERSON.floors},
    ),
    "seeds": (SANDERSON.seeds["data_sets"], lambda dataset: {"setup": SANDERSON.seeds}),
    "starts": (
        [SANDERSON.starts["data_set"]],
        lambda dataset: {"setup": SANDERSON.starts, "reg_covar": SANDERSON.floor},
    ),
}
SANDERSON_TIMED = [*SANDERSON_SIZE.timed, "figure2"]
SANDERSON_VALUES = values_of("sanderson2017", [*SANDERSON_JOBS, "timing", "timing_others"])
add_results(
    "sanderson",
    "sanderson2017",
    values=SANDERSON_VALUES,
    tables={"": "sanderson", "timing_": "sanderson_timing"},
    figures={"sanderson_figure2_timing": ["results/tables/sanderson_timing.csv"]},
    script="sanderson_results",
    inputs={name: SANDERSON_VALUES[name] for name in ("fits", "heldout", "timing")},
    jobs={
        kind: expand(f"results/sanderson2017/{kind}/{{name}}.csv", name=names)
        for kind, (names, _) in SANDERSON_JOBS.items()
    }
    | {
        "timing": expand("results/sanderson2017/times/{name}_timing.csv", name=SANDERSON_TIMED),
        "timing_others": expand("results/sanderson2017/times/{name}_others_timing.csv", name=SANDERSON_TIMED),
    },
)


def sanderson_record(wildcards):
    """The record of a data set; none of drawn samples."""
    entry = SANDERSON.data_sets.get(wildcards.dataset, {})
    return [f"results/data/{entry['source']}.json"] if "source" in entry else []


def sanderson_samples(dataset, rows):
    """The arguments that describe the samples of a data set."""
    return {
        "dataset": dataset,
        "entry": SANDERSON.data_sets[dataset],
        "n_rows": rows.get(dataset),
        "seed": SEED,
    }


def sanderson_arguments(further):
    """The arguments of a kind of job."""
    return lambda wildcards: sanderson_samples(wildcards.dataset, SANDERSON_SIZE.rows) | further(
        wildcards.dataset
    )


# One job per kind and data set; an engine that is not installed leaves a row that states it.
for kind, (_, further) in SANDERSON_JOBS.items():

    rule:
        name:
            f"sanderson_{kind}"
        input:
            data=sanderson_record,
        output:
            rows=f"results/sanderson2017/{kind}/{{dataset}}.csv",
        log:
            f"results/logs/sanderson2017/{kind}/{{dataset}}.log",
        wildcard_constraints:
            dataset="|".join(SANDERSON.available),
        priority: {"fits": 200, "heldout": 100}.get(kind, 0)
        params:
            script=f"sanderson_{'fits' if kind in ('fits', 'heldout') else 'advice'}",
            arguments=sanderson_arguments(further),
        script:
            "../scripts/{params.script}.py"


rule sanderson_times:
    """Runs alone, like all timed jobs."""
    input:
        data=sanderson_record,
    output:
        fits="results/sanderson2017/times/{dataset}_timing.csv",
        others="results/sanderson2017/times/{dataset}_others_timing.csv",
    log:
        "results/logs/sanderson2017/times/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(SANDERSON.available),
    threads: lambda wildcards: workflow.cores
    resources:
        slurm_extra="--exclusive",
    params:
        arguments=lambda wildcards: sanderson_samples(
            wildcards.dataset, SANDERSON_SIZE.rows | SANDERSON_SIZE.timed_rows
        )
        | {
            "em": SANDERSON_EM,
            "iterations": SANDERSON_SIZE.timed_iterations.get(wildcards.dataset, SANDERSON.em_iter),
            "rounds": SANDERSON_SIZE.more_rounds.get(wildcards.dataset, SANDERSON_SIZE.rounds),
        },
    script:
        "../scripts/sanderson_times.py"


use rule sanderson_times as sanderson_figure2 with:
    input:
        data=[],
    output:
        fits="results/sanderson2017/times/figure2_timing.csv",
        others="results/sanderson2017/times/figure2_others_timing.csv",
    log:
        "results/logs/sanderson2017/times/figure2.log",
    params:
        arguments={
            "setup": SANDERSON.figure2,
            "n_rows": SANDERSON_SIZE.rows.get("figure2", SANDERSON.figure2["n_rows"]),
            "em": SANDERSON_EM,
            "rounds": SANDERSON_SIZE.rounds,
            "seed": SEED,
        },
