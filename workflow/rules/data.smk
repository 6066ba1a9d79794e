# Data sets: fetched once into a cache outside the project, verified by content.


def failed(source):
    """Whether the last run wrote down that a data set could not be had."""
    path = Path("results/data", f"{source}.json")
    try:
        return path.exists() and not files.read_json(path)["available"]
    except ValueError:
        return False  # damaged, and named already


if workflow.is_main_process:
    # Unavailable data sets are tried again by the next run.
    for path in Path("results/data").glob("*.json"):
        if failed(path.stem):
            records.mark_unfinished(path.as_posix())


rule fetch_data:
    output:
        "results/data/{source}.json",
    wildcard_constraints:
        source="|".join(documents.read_mapping("config/datasets.yaml")),
    priority: lambda wildcards: 20 + PRIORITY.get(wildcards.source, 0)
    params:
        sha256=lambda wildcards: documents.read("config/datasets.yaml")[wildcards.source]["sha256"],
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
    # Results are made after it: a run that ends well writes it again.
    params:
        code=code("environment"),
    message:
        "recording machine and versions"
    script:
        "../scripts/environment.py"
