# EM by others on identical work. Not part of a default run: snakemake peers --cores all
import shlex

from skem.repro.peers.processor import WITHOUT_AVX512

PEERS = STUDY.peers


def with_kernel(kernel):
    """The environment of a process whose libraries use all instructions they find, or none beyond AVX2."""
    unset = [f"-u {variable.partition('=')[0]}" for variable in WITHOUT_AVX512]
    return " ".join(["env", *unset, *(WITHOUT_AVX512 if kernel == "AVX2" else [])])


def groups_of(kernel, size):
    return [
        group
        for group in PEERS["groups"]
        if kernel in group.get("kernels", PEERS["kernels"]) and size in group.get("sizes", PEERS["sizes"])
    ]


def data_of(size):
    """What is drawn of a size."""
    return {name: value for name, value in PEERS["sizes"][size].items() if name != "threads"}


def in_table1(dataset):
    """Whether this run has the paper's setting of a data set."""
    return dataset in EXPERIMENTS.get("table1", {"data_sets": []})["data_sets"] and dataset in DATASETS


def paper_features(dataset):
    """The features that the paper's setting of a data set reads, if this run has it."""
    return feature_files(dataset, ["all"], [0]) if in_table1(dataset) else []


def paper_work(dataset):
    """The paper's setting of a data set and the features it reads, None where this run does not have it."""
    if not in_table1(dataset):
        return {"features": None}
    entry = EXPERIMENTS["table1"]["data_sets"][dataset]
    setting = STUDY.settings[dataset, *paper_setting(entry)]
    return {
        "model": setting.model,
        "params": setting.params,
        "n_features": setting.n_features,
        "features": paper_features(dataset)[0],
        "spec": STUDY.config.datasets[dataset].features,
        "paper_seconds": entry["paper"]["seconds_per_pass"],
    }


rule peers_size:
    """Runs alone, like all that is timed."""
    output:
        "results/peers/{kernel}/{size}.csv",
    wildcard_constraints:
        size="|".join(PEERS["sizes"]),
    threads: lambda wildcards: workflow.cores
    params:
        kernel=lambda wildcards: with_kernel(wildcards.kernel),
        work=lambda wildcards: shlex.quote(
            json.dumps(
                {
                    "sizes": {wildcards.size: data_of(wildcards.size)},
                    "threads": PEERS["sizes"][wildcards.size].get("threads", PEERS["threads"]),
                    "groups": groups_of(wildcards.kernel, wildcards.size),
                }
            )
        ),
        code=code("peers"),
    message:
        "timing engines at size {wildcards.size}, {wildcards.kernel} kernel"
    shell:
        "{params.kernel} {sys.executable:q} workflow/scripts/peers.py sizes {params.work} {output}"


rule peers_scaling:
    output:
        "results/peers/{kernel}/scaling.csv",
    threads: lambda wildcards: workflow.cores
    params:
        kernel=lambda wildcards: with_kernel(wildcards.kernel),
        work=shlex.quote(
            json.dumps(PEERS["scaling"] | {"base": data_of("A"), "threads": max(PEERS["threads"])})
        ),
        code=code("peers"),
    message:
        "timing engines against N, m and K, {wildcards.kernel} kernel"
    shell:
        "{params.kernel} {sys.executable:q} workflow/scripts/peers.py scaling {params.work} {output}"


rule peers_supervised:
    input:
        [path for dataset in PEERS["supervised"]["data_sets"] for path in paper_features(dataset)],
    output:
        "results/peers/{kernel}/supervised.csv",
    threads: lambda wildcards: workflow.cores
    params:
        kernel=lambda wildcards: with_kernel(wildcards.kernel),
        work=lambda wildcards: shlex.quote(
            json.dumps(
                PEERS["supervised"]
                | {
                    "threads": PEERS["threads"],
                    "seed": SEED,
                    "settings": {
                        dataset: paper_work(dataset) for dataset in PEERS["supervised"]["data_sets"]
                    },
                }
            )
        ),
        code=code("peers"),
    message:
        "timing supervised EM at the settings of Table 1, {wildcards.kernel} kernel"
    shell:
        "{params.kernel} {sys.executable:q} workflow/scripts/peers.py supervised {params.work} {output}"


rule peers_beside:
    input:
        [path for dataset in PEERS["beside"]["data_sets"] for path in paper_features(dataset)],
    output:
        "results/peers/{kernel}/beside.csv",
    threads: lambda wildcards: workflow.cores
    params:
        kernel=lambda wildcards: with_kernel(wildcards.kernel),
        work=lambda wildcards: shlex.quote(
            json.dumps(
                PEERS["beside"]
                | {
                    "supervised_passes": PEERS["supervised"]["passes"],
                    "threads": PEERS["threads"],
                    "seed": SEED,
                    "settings": {dataset: paper_work(dataset) for dataset in PEERS["beside"]["data_sets"]},
                }
            )
        ),
        code=code("peers"),
    message:
        "timing supervised EM beside an engine without classes, {wildcards.kernel} kernel"
    shell:
        "{params.kernel} {sys.executable:q} workflow/scripts/peers.py beside {params.work} {output}"


rule peers:
    input:
        sizes=expand("results/peers/{kernel}/{size}.csv", kernel=PEERS["kernels"], size=PEERS["sizes"]),
        scaling=expand("results/peers/{kernel}/scaling.csv", kernel=PEERS["kernels"]),
        supervised=expand("results/peers/{kernel}/supervised.csv", kernel=PEERS["kernels"]),
        beside=expand("results/peers/{kernel}/beside.csv", kernel=PEERS["kernels"]),
        claims="config/claims.csv",
    output:
        csv="results/peers.csv",
        md=report(
            "results/peers.md", category="Time", labels={"engines": "table"}, caption="../report/peers.rst"
        ),
        figure=report(
            "results/peers.svg", category="Time", labels={"engines": "figure"}, caption="../report/peers.rst"
        ),
        pdf="results/peers.pdf",
    localrule: True
    params:
        code=code("peers_table"),
    message:
        "table and figure of the engines"
    script:
        "../scripts/peers_table.py"
