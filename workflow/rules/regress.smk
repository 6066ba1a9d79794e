# The regression gate: snakemake regress --cores all, or regress --config base=main. Measured again every time. Times
# stand beside those of the base or, where none is given, of the commit that the reference is of.
from skem.repro.gate import revisions

REFERENCE = "results/reference/regress.json"

GATE = STUDY.regress
# A reference names its commit, so uncommitted changes are refused before anything is measured.
if "regress_update" in TARGETS:
    try:
        revisions.refuse_changes()
    except ValueError as error:
        stop(error)

GATE_ACCURACY = [f"results/regress/accuracy/{dataset}.json" for dataset in GATE["accuracy"]["runs"]]
GATE_ACCURACY.append("results/regress/estimators.json")
GATE_TIMES = ["results/regress/times.csv"]
# What only warns is left out of half a gate, and where nobody named a base.
if STUDY.config.base and not STUDY.config.gate:
    GATE_TIMES.append("results/regress/processes.csv")


def gate_work(dataset):
    return {
        "spec": STUDY.regress_features[dataset],
        "seed": GATE["accuracy"]["seed"],
        "runs": GATE["accuracy"]["runs"][dataset],
        "mixtures": GATE["accuracy"]["mixtures"].get(dataset),
        "settings": [asdict(setting) for setting in STUDY.regress_settings if setting.dataset == dataset],
    }


rule regress_plan:
    """What to compare with; without it nothing is measured."""
    output:
        temp("results/regress/plan.json"),
    # What cannot be compared is told at once, and the longest jobs start first.
    priority: 30
    localrule: True
    params:
        base=str(STUDY.config.base or ""),
        reference=REFERENCE,
        again=STARTED,
    message:
        "looking for what to compare with"
    script:
        "../scripts/regress_plan.py"


rule regress_accuracy:
    input:
        lambda wildcards: f"results/data/{STUDY.regress_features[wildcards.dataset]['source']}.json",
    output:
        "results/regress/accuracy/{dataset}.json",
    # The longest job starts first, so that both cores are busy to the end; what is timed runs alone after it.
    priority: lambda wildcards: 25 if wildcards.dataset == "mnist_half" else 10
    params:
        work=lambda wildcards: gate_work(wildcards.dataset),
        again=STARTED,
    message:
        "fitting {wildcards.dataset} for the gate"
    script:
        "../scripts/regress_accuracy.py"


rule regress_estimators:
    """Small fits of the estimators that no experiment trains."""
    output:
        "results/regress/estimators.json",
    priority: 20
    params:
        again=STARTED,
    message:
        "fitting every estimator for the gate"
    script:
        "../scripts/regress_estimators.py"


rule regress_times:
    """Runs alone."""
    input:
        plan="results/regress/plan.json",
    output:
        "results/regress/times.csv",
    threads: lambda wildcards: workflow.cores
    params:
        rounds=GATE["timing"]["rounds"],
        pairs=GATE["timing"]["pairs"],
        again=STARTED,
    message:
        "timing passes for the gate"
    script:
        "../scripts/regress_times.py"


rule regress_processes:
    """Only warns, so it may run beside other jobs."""
    input:
        plan="results/regress/plan.json",
    output:
        "results/regress/processes.csv",
    priority: 20
    params:
        pairs=GATE["timing"]["process_pairs"],
        again=STARTED,
    message:
        "timing the import and the DAG for the gate"
    script:
        "../scripts/regress_processes.py"


rule regress:
    """Exits non-zero where something got worse."""
    input:
        plan="results/regress/plan.json",
        accuracy=GATE_ACCURACY if STUDY.config.gate != "timing" else [],
        times=GATE_TIMES if STUDY.config.gate != "accuracy" else [],
    localrule: True
    params:
        reference=REFERENCE,
        table="results/regress.csv",
        md="results/regress.md",
        history="results/regress_history.csv",
        figure="results/regress_history.svg",
    message:
        "comparing"
    script:
        "../scripts/regress.py"


use rule regress_times as regress_times_update with:
    input:
        plan=[],
    output:
        "results/regress/times_update.csv",
    params:
        # The more processes the reference has seen, the better it knows its own noise.
        rounds=3 * GATE["timing"]["rounds"],
        pairs=GATE["timing"]["pairs"],
        again=STARTED,


rule regress_update:
    """The reference anew: one file, to be reviewed and committed."""
    input:
        accuracy=GATE_ACCURACY,
        times="results/regress/times_update.csv",
    localrule: True
    params:
        reference=REFERENCE,
        again=STARTED,
    message:
        "writing {params.reference}"
    script:
        "../scripts/regress_update.py"
