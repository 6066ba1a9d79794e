# Data sets: fetched once into a cache outside the project, verified by content.

# Data that were unavailable are fetched again, since their number of attempts differs. It is read here: a job deletes its output.
ATTEMPTS = {source: finished_run.attempts(source) for source in datasets.names()}


rule fetch_data:
    output:
        "results/data/{source}.json",
    log:
        "results/logs/data/{source}.log",
    wildcard_constraints:
        source="|".join(datasets.names()),
    priority: 20
    localrule: True
    params:
        sha256=lambda wildcards: datasets.describe(wildcards.source)["sha256"],
        attempt=lambda wildcards: ATTEMPTS[wildcards.source],
    message:
        "data of {wildcards.source}"
    script:
        "../scripts/fetch.py"


rule fetch:
    input:
        expand("results/data/{source}.json", source=SOURCES),
    log:
        "results/logs/fetch.log",
    localrule: True
    script:
        "../scripts/show_data.py"


rule environment:
    output:
        "results/environment.json",
    log:
        "results/logs/environment.log",
    # Results are made after it: a run that ends well writes it again.
    localrule: True
    script:
        "../scripts/environment.py"
