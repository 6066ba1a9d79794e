# Other implementations of EM on identical work. Not part of a default run: snakemake peers --cores all
import shlex

from skem.repro.ledger.stated_claims import claim

PEERS = STUDY.peers
PEERS_REPORT = {"category": "Time", "caption": "../report/peers.rst"}
PEERS_PARTS = [*PEERS["sizes"], "scaling", "supervised"]


def peers_environment(wildcards):
    """Arguments of env: variables that other instructions need are unset."""
    environments = PEERS["instructions"]
    unset = [f"-u {name}" for name in sorted(set().union(*environments.values()))]
    chosen = environments[wildcards.instructions].items()
    return " ".join([*unset, *(f"{name}={shlex.quote(value)}" for name, value in chosen)])


def peers_models():
    """The paper's configurations of data sets that this run has."""
    table1 = EXPERIMENTS.get("table1", {"data_sets": {}})["data_sets"]
    models = {}
    for dataset in PEERS["supervised"]["data_sets"]:
        if dataset in DATASETS and dataset in table1:
            configuration = STUDY.settings[dataset, *paper_setting(table1[dataset])]
            models[dataset] = {
                **{name: getattr(configuration, name) for name in ("model", "params", "n_features")},
                "features": feature_files(dataset, ["all"], [0])[0],
                "spec": STUDY.config.datasets[dataset].features,
                "paper_seconds": claim(STUDY.claims, table1[dataset]["paper"]["seconds_per_pass"]),
            }
    return models


def peers_work(wildcards):
    """Sizes, types and implementations of a job."""
    part = wildcards.part
    if part == "supervised":
        return PEERS[part] | {"threads": PEERS["threads"], "seed": SEED, "models": peers_models()}
    if part == "scaling":
        scaling, both = PEERS[part], {"part": part, "dtypes": ["float32"], "threads": [max(PEERS["threads"])]}
        sizes = [{"size": axis, **scaling["base"], axis: value} for axis in "NmK" for value in scaling[axis]]
        return both | {"sizes": sizes, "groups": [scaling]}
    size = PEERS["sizes"][part]
    groups = [
        group
        for group in PEERS["groups"]
        if wildcards.instructions in group.get("instructions", PEERS["instructions"])
        and part in group.get("sizes", PEERS["sizes"])
    ]
    threads = size.get("threads", PEERS["threads"])
    both = {"part": "sizes", "dtypes": ["float64", "float32"], "threads": threads}
    return both | {"sizes": [{"size": part, **size}], "groups": groups}


rule peers_timing:
    """One job per size, one for the scaling, one for supervised models. Runs alone."""
    input:
        lambda wildcards: [model["features"] for model in peers_work(wildcards).get("models", {}).values()],
    output:
        "results/peers/{instructions}/{part}.csv",
    log:
        "results/logs/peers/{instructions}/{part}.log",
    wildcard_constraints:
        instructions="|".join(PEERS["instructions"]),
        part="|".join(PEERS_PARTS),
    threads: lambda wildcards: workflow.cores
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        slurm_extra="--exclusive",
    params:
        environment=peers_environment,
        work=lambda wildcards: shlex.quote(json.dumps(peers_work(wildcards))),
        code=code("peers"),
    message:
        "timing implementations of EM: {wildcards.part}, instructions: {wildcards.instructions}"
    shell:
        "env {params.environment} {sys.executable:q} workflow/scripts/peers.py {params.work} {output} 2>&1 | tee {log}"


rule peers:
    input:
        expand(
            "results/peers/{instructions}/{part}.csv", instructions=PEERS["instructions"], part=PEERS_PARTS
        ),
    output:
        "results/peers.csv",
        "results/peers.pdf",
        report("results/peers.md", labels={"implementations": "table"}, **PEERS_REPORT),
        report("results/peers.svg", labels={"implementations": "figure"}, **PEERS_REPORT),
    localrule: True
    params:
        code=code("peers_table"),
    message:
        "table and figure of the implementations"
    script:
        "../scripts/peers_table.py"
