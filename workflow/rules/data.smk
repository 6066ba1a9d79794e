# Data sets: fetched once into a cache outside the project, verified by content.


def forget_failures():
    """A record of a data set that could not be had is not kept: the next run tries again."""
    for path in Path("results/data").glob("*.json"):
        if not json.loads(path.read_text(encoding="utf-8"))["available"]:
            path.unlink()


if workflow.is_main_process:
    forget_failures()


rule fetch_data:
    output:
        "results/data/{source}.json",
    priority: lambda wildcards: 20 + PRIORITY.get(wildcards.source, 0)
    params:
        sha256=lambda wildcards: configuration.read("config/datasets.yaml")[wildcards.source]["sha256"],
    message:
        "fetching {wildcards.source}"
    script:
        "../scripts/fetch.py"


rule fetch:
    input:
        expand("results/data/{source}.json", source=SOURCES),
    message:
        "the data sets"
    script:
        "../scripts/show_data.py"


rule environment:
    output:
        "results/environment.json",
    params:
        # Looked up again when something of it changes.
        now=environment.describe(),
    message:
        "recording machine and versions"
    script:
        "../scripts/environment.py"
