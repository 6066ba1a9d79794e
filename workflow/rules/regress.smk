# Regression test: snakemake regress --cores all, or with --config base=REVISION. Every run measures everything again.
from skem.repro.gate import revisions

REFERENCE_QUANTITIES = "results/reference/regress.json"
REGRESS_ACCURACY = expand(
    "results/regress/accuracy/{dataset}.json",
    dataset=[*dict.fromkeys(setting.dataset for setting in STUDY.regress_settings), "estimators"],
)

try:
    # Commit that times are compared with, or None.
    REGRESS_BASE = revisions.base(STUDY.config.base, REFERENCE_QUANTITIES)
except ValueError as error:
    stop(error)


def regress_times_compared(wildcards):
    revisions.read_reference(REFERENCE_QUANTITIES)
    if STUDY.config.gate == "accuracy":
        return []
    if REGRESS_BASE is None:
        raise WorkflowError(
            "times cannot be compared: git does not have the commit of the reference; git fetch --unshallow, name another "
            "with --config base=REVISION, or compare accuracies only with --config gate=accuracy"
        )
    return ["results/regress/times.csv"]


def regress_updated_from(wildcards):
    revisions.raise_if_uncommitted()
    return REGRESS_ACCURACY


def regress_work(wildcards):
    """Fits of a data set; None for those of estimators, which need no data."""
    return None if wildcards.dataset == "estimators" else STUDY.regress_work(wildcards.dataset)


rule regress_accuracy:
    input:
        lambda wildcards: [
            f"results/data/{work['spec']['source']}.json" for work in [regress_work(wildcards)] if work
        ],
    output:
        "results/regress/accuracy/{dataset}.json",
    log:
        "results/logs/regress/{dataset}.log",
    wildcard_constraints:
        dataset="[a-z0-9_]+",
    priority: lambda wildcards: wildcards.dataset == "mnist_half"  # the longest job first
    params:
        work=regress_work,
        again=STARTED,
    message:
        "fits of the regression test on {wildcards.dataset}"
    script:
        "../scripts/regress_accuracy.py"


rule regress_times:
    """Runs alone."""
    output:
        "results/regress/times.csv",
    log:
        "results/logs/regress/times.log",
    threads: lambda wildcards: workflow.cores
    resources:
        slurm_extra="'--exclusive'",
    params:
        base=REGRESS_BASE,
        undecided=STUDY.config.undecided,
        again=STARTED,
    message:
        "timing this checkout and {params.base} for the regression test"
    script:
        "../scripts/regress_times.py"


rule regress:
    """Ends with an error if an accuracy differs or a time is slower."""
    input:
        accuracy=REGRESS_ACCURACY if STUDY.config.gate != "timing" else [],
        times=regress_times_compared,
    log:
        "results/logs/regress/comparison.log",
    localrule: True
    params:
        base=REGRESS_BASE,
        reference=REFERENCE_QUANTITIES,
        # Not an output, which Snakemake deletes when the job fails.
        path="results/regress.csv",
        allowed=("not decided",) if STUDY.config.undecided else (),
    script:
        "../scripts/regress.py"


rule regress_update:
    """Writes the reference, one file to review and commit; regress_rounding adds what this platform rounds otherwise."""
    input:
        regress_updated_from,
    log:
        "results/logs/regress/update.log",
    localrule: True
    params:
        reference=REFERENCE_QUANTITIES,
        again=STARTED,
    script:
        "../scripts/regress_reference.py"


use rule regress_update as regress_rounding with:
    input:
        REGRESS_ACCURACY,
    log:
        "results/logs/regress/rounding.log",
