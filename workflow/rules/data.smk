# Data sets: fetched once into a cache outside the project, verified by content.


def attempt(wildcards):
    """Data that were unavailable are fetched again: their count of attempts is another parameter."""
    return finished_run.attempts(wildcards.source)


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
        attempt=attempt,
    message:
        "fetching {wildcards.source}"
    script:
        "../scripts/fetch.py"


rule fetch:
    input:
        expand("results/data/{source}.json", source=SOURCES),
    log:
        "results/logs/fetch.log",
    localrule: True
    message:
        "the data sets"
    script:
        "../scripts/show_data.py"


rule environment:
    output:
        "results/environment.json",
    log:
        "results/logs/environment.log",
    # Results are made after it: a run that ends well writes it again.
    localrule: True
    params:
        code=code("environment"),
    message:
        "recording machine and versions"
    script:
        "../scripts/environment.py"
