# Supervised EM and its baselines: one job per data set, method, setting and batch of runs, looping inside.

BASELINES = STUDY.config.baselines


def unit_of(wildcards):
    """The settings that a job fits."""
    return STUDY.units[wildcards.dataset, wildcards.method, wildcards.unit]


def work_of(unit):
    """The settings that a job fits, for any of their runs."""
    return [asdict(setting) | {"runs": []} for setting in unit]


def baseline_job(wildcards):
    """Describe a job: all baselines with hyperparameters selected on validation samples, or one as the papers had it."""
    runs = STUDY.config.datasets[wildcards.dataset].baseline_runs
    if wildcards.kind == "baselines":
        how = {"max_rows": BASELINES.max_rows, "select_rows": BASELINES.select_rows, "preset": False}
        return how | {"methods": BASELINES.names, "runs": list(range(runs))}
    fewest = BASELINES.preset_runs.get(wildcards.job, 0) if runs else 0
    how = {"max_rows": {}, "select_rows": None, "preset": True}
    return how | {"methods": [wildcards.job], "runs": list(range(max(runs, fewest)))}


rule train:
    input:
        lambda wildcards: feature_files(
            wildcards.dataset,
            [rows for setting in unit_of(wildcards) for rows in setting.rows],
            feature_store.runs_of(wildcards.batch),
        ),
    output:
        history="results/runs/{dataset}/{method}/{unit}/{batch}.csv",
        seconds="results/runs/{dataset}/{method}/{unit}/{batch}.seconds.csv",
        predictions="results/runs/{dataset}/{method}/{unit}/{batch}.predictions.npz",
    log:
        "results/logs/runs/{dataset}/{method}/{unit}/{batch}.log",
    priority: by_size
    threads: 1
    params:
        unit=lambda wildcards: work_of(unit_of(wildcards)),
        seed=SEED,
        classifiers=lambda wildcards: code_of_classifiers(setting.model for setting in unit_of(wildcards)),
    message:
        "training {wildcards.method} {wildcards.unit} on {wildcards.dataset}, runs {wildcards.batch}"
    script:
        "../scripts/train.py"


rule baseline:
    input:
        lambda wildcards: feature_files(
            wildcards.dataset,
            ["all" if wildcards.kind == "presets" else "part"],
            baseline_job(wildcards)["runs"],
        ),
    output:
        history="results/runs/{dataset}/{kind}/{job}.csv",
        seconds="results/runs/{dataset}/{kind}/{job}.seconds.csv",
        predictions="results/runs/{dataset}/{kind}/{job}.predictions.npz",
    log:
        "results/logs/runs/{dataset}/{kind}/{job}.log",
    wildcard_constraints:
        kind="baselines|presets",
        job="[^/.]+",
    # All methods on a small table take longer than most other jobs.
    priority: lambda wildcards: max(1, by_size(wildcards))
    params:
        job=baseline_job,
        n_features=lambda wildcards: STUDY.config.datasets[wildcards.dataset].baseline_features,
        spec=spec_of,
        seed=SEED,
        classifiers=lambda wildcards: code_of_classifiers(baseline_job(wildcards)["methods"]),
    message:
        "training {wildcards.kind} {wildcards.job} on {wildcards.dataset}"
    script:
        "../scripts/baseline.py"


def histories(dataset):
    size = DATASETS[dataset].runs_per_job
    found = [
        f"results/runs/{dataset}/{method}/{unit}/{batch}"
        for (of, method, unit), settings in STUDY.units.items()
        if of == dataset
        for batch in settings[0].batches(size)
    ]
    if DATASETS[dataset].baseline_runs and any(
        dataset in EXPERIMENTS[name]["data_sets"] for name in REPRODUCED
    ):
        found.append(f"results/runs/{dataset}/baselines/all")
        found += [f"results/runs/{dataset}/presets/{name}" for name in DATASETS[dataset].presets]
    return found


rule history:
    input:
        history=lambda wildcards: [f"{path}.csv" for path in histories(wildcards.dataset)],
        seconds=lambda wildcards: [f"{path}.seconds.csv" for path in histories(wildcards.dataset)],
    output:
        history="results/history/{dataset}.csv",
        seconds="results/timings/{dataset}.csv",
        failed="results/failed/{dataset}.csv",
    log:
        "results/logs/history/{dataset}.log",
    localrule: True
    message:
        "results on {wildcards.dataset}"
    script:
        "../scripts/history.py"
