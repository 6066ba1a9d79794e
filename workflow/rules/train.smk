# Supervised EM and its rivals: one job per data set, method, setting and block of runs, looping inside.
from skem.repro.code_hash import code_of_classifiers

BASELINES = STUDY.config.baselines


def baseline_runs(dataset):
    return list(range(STUDY.config.datasets[dataset].baseline_runs))


def preset_runs(dataset, method):
    runs = STUDY.config.datasets[dataset].baseline_runs
    return list(range(max(runs, BASELINES.preset_runs.get(method, 0) if runs else 0)))


def baseline_jobs(dataset):
    """The methods that each job fits: most take less time than a job takes to start."""
    large = STUDY.config.datasets[dataset].features["recipe"] == "images"
    slow = [name for name in BASELINES.names if large and name in BASELINES.max_rows]
    quick = [name for name in BASELINES.names if name not in slow]
    return {name: [name] for name in slow} | ({"quick": quick} if quick else {})


rule train:
    input:
        lambda wildcards: feature_files(
            wildcards.dataset,
            [rows for setting in unit_of(wildcards) for rows in setting.rows],
            feature_store.runs_of(wildcards.block),
        ),
    output:
        history="results/runs/{dataset}/{method}/{unit}/{block}.csv",
        seconds="results/runs/{dataset}/{method}/{unit}/{block}.seconds.csv",
        predictions="results/runs/{dataset}/{method}/{unit}/{block}.predictions.npz",
    priority: lambda wildcards: PRIORITY.get(wildcards.dataset, 0)
    threads: 1
    params:
        unit=work_of,
        seed=SEED,
        code=code("train"),
        classifiers=lambda wildcards: code_of_classifiers(setting.model for setting in unit_of(wildcards)),
    message:
        "training {wildcards.method} {wildcards.unit} on {wildcards.dataset}, runs {wildcards.block}"
    script:
        "../scripts/train.py"


rule baseline:
    input:
        lambda wildcards: feature_files(wildcards.dataset, ["part"], baseline_runs(wildcards.dataset)),
    output:
        history="results/runs/{dataset}/baselines/{job}.csv",
        seconds="results/runs/{dataset}/baselines/{job}.seconds.csv",
        predictions="results/runs/{dataset}/baselines/{job}.predictions.npz",
    # All methods on a small table take longer than most other jobs.
    priority: lambda wildcards: PRIORITY.get(wildcards.dataset, 1)
    threads: 1
    params:
        runs=lambda wildcards: baseline_runs(wildcards.dataset),
        methods=lambda wildcards: baseline_jobs(wildcards.dataset)[wildcards.job],
        max_rows=BASELINES.max_rows,
        select_rows=BASELINES.select_rows,
        n_features=lambda wildcards: STUDY.config.datasets[wildcards.dataset].baseline_features,
        preset=False,
        spec=lambda wildcards: STUDY.config.datasets[wildcards.dataset].features,
        seed=SEED,
        code=code("baseline"),
        classifiers=lambda wildcards: code_of_classifiers(baseline_jobs(wildcards.dataset)[wildcards.job]),
    message:
        "training {params.methods} on {wildcards.dataset}"
    script:
        "../scripts/baseline.py"


use rule baseline as preset with:
    input:
        lambda wildcards: feature_files(
            wildcards.dataset, ["all"], preset_runs(wildcards.dataset, wildcards.method)
        ),
    output:
        history="results/runs/{dataset}/presets/{method}.csv",
        seconds="results/runs/{dataset}/presets/{method}.seconds.csv",
        predictions="results/runs/{dataset}/presets/{method}.predictions.npz",
    params:
        runs=lambda wildcards: preset_runs(wildcards.dataset, wildcards.method),
        methods=lambda wildcards: [wildcards.method],
        max_rows={},
        select_rows=None,
        n_features=lambda wildcards: STUDY.config.datasets[wildcards.dataset].baseline_features,
        preset=True,
        spec=lambda wildcards: STUDY.config.datasets[wildcards.dataset].features,
        seed=SEED,
        code=code("baseline"),
        classifiers=lambda wildcards: code_of_classifiers([wildcards.method]),
    message:
        "training {wildcards.method} on {wildcards.dataset} as the papers did"


rule time_passes:
    """Runs alone: it takes all cores, and uses one."""
    input:
        lambda wildcards: feature_files(wildcards.dataset, ["all"], [0]),
    output:
        "results/timings/{dataset}/{method}/{unit}.csv",
    threads: lambda wildcards: workflow.cores
    params:
        unit=work_of,
        passes=lambda wildcards: STUDY.config.timing.passes if len(unit_of(wildcards)) == 1 else 6,
        seed=SEED,
        code=code("time_passes"),
    message:
        "timing {wildcards.method} {wildcards.unit} on {wildcards.dataset}"
    script:
        "../scripts/time_passes.py"


def histories(wildcards):
    dataset = wildcards.dataset
    size = DATASETS[dataset].runs_per_job
    found = [
        f"results/runs/{dataset}/{method}/{unit}/{block}"
        for (of, method, unit), settings in STUDY.units.items()
        if of == dataset
        for block in settings[0].blocks(size)
    ]
    if baseline_runs(dataset) and any(dataset in EXPERIMENTS[name]["data_sets"] for name in REPRODUCED):
        found += [f"results/runs/{dataset}/baselines/{job}" for job in baseline_jobs(dataset)]
        found += [f"results/runs/{dataset}/presets/{name}" for name in DATASETS[dataset].presets]
    return found


rule history:
    input:
        history=lambda wildcards: [f"{path}.csv" for path in histories(wildcards)],
        seconds=lambda wildcards: [f"{path}.seconds.csv" for path in histories(wildcards)],
    output:
        history="results/history/{dataset}.csv",
        seconds="results/timings/{dataset}.csv",
        failed="results/failed/{dataset}.csv",
    localrule: True
    params:
        code=code("history"),
    message:
        "history of {wildcards.dataset}"
    script:
        "../scripts/history.py"
