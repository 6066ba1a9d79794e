# Data sets: fetched once into a cache outside the project, verified by content.


def failed(source):
    """Whether the last run wrote down that a data set could not be had."""
    path = Path("results/data", f"{source}.json")
    try:
        return path.exists() and not files.read_json(path)["available"]
    except ValueError:
        return False  # damaged: the rule that reads it says so


if workflow.is_main_process:
    # Unavailable data sets are tried again by the next run.
    for path in Path("results/data").glob("*.json"):
        if failed(path.stem):
            records.mark_unfinished(path.as_posix())


rule fetch_data:
    output:
        "results/data/{source}.json",
    wildcard_constraints:
        source="|".join(STUDY.described),
    priority: lambda wildcards: 20 + PRIORITY.get(wildcards.source, 0)
    localrule: True
    params:
        sha256=lambda wildcards: STUDY.described[wildcards.source]["sha256"],
    message:
        "fetching {wildcards.source}"
    script:
        "../scripts/fetch.py"


rule fetch:
    input:
        expand("results/data/{source}.json", source=SOURCES),
    localrule: True
    message:
        "the data sets"
    script:
        "../scripts/show_data.py"


rule environment:
    output:
        "results/environment.json",
    # Results are made after it: a run that ends well writes it again.
    localrule: True
    params:
        code=code("environment"),
    message:
        "recording machine and versions"
    script:
        "../scripts/environment.py"
