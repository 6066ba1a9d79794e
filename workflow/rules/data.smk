# Data sets: fetched once into a cache outside the project, verified by content.


def failed(source):
    """Whether the last run wrote down that a data set could not be had."""
    path = Path("results/data", f"{source}.json")
    return path.exists() and not json.loads(path.read_text(encoding="utf-8"))["available"]


rule fetch_data:
    output:
        "results/data/{source}.json",
    wildcard_constraints:
        source="|".join(documents.read_mapping("config/datasets.yaml")),
    priority: lambda wildcards: 20 + PRIORITY.get(wildcards.source, 0)
    params:
        sha256=lambda wildcards: documents.read("config/datasets.yaml")[wildcards.source]["sha256"],
        # What could not be had is tried again by the next run.
        again=lambda wildcards: STARTED if failed(wildcards.source) else None,
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
        code=code("environment"),
    message:
        "recording machine and versions"
    script:
        "../scripts/environment.py"
