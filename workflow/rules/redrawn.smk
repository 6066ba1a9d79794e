# The tables of the papers in their own layout, from the claims table.
from skem.repro.tables.pages import layouts

REDRAWN = {paper: list(layouts(paper)) for paper in papers.names()}

for paper in papers.names():
    if REDRAWN[paper]:

        rule:
            name:
                f"redrawn_{paper}"
            input:
                claims="results/claims.csv",
                stated="config/claims.csv",
                layouts=f"config/redrawn/{paper}.yaml",
            output:
                [
                    reported(f"results/figures/{name}.svg", STUDY.titles[paper], ("figure", name), "figure")
                    for name in REDRAWN[paper]
                ],
                expand(
                    "results/figures/{name}.{suffix}",
                    name=REDRAWN[paper],
                    suffix=[k for k in KINDS if k != "svg"],
                ),
            log:
                f"results/logs/figures/redrawn_{paper}.log",
            localrule: True
            params:
                papers=[paper],
                results=lambda wildcards, output: Path(output[0]).parents[1],
                caption="\n\n".join(CAPTIONS[name] for name in REDRAWN[paper]),
                columns=STUDY.config.figure_columns,
            message:
                f"tables of {STUDY.titles[paper]}, redrawn"
            script:
                "../scripts/redrawn.py"


def all_figures():
    """Figures of this run; those of a paper's tables where the command has its target."""
    asked = [paper for paper in EVIDENCE if {"all", *targets_given()} & {next(iter(EVIDENCE[paper]))}]
    names = [name for paper in asked for name in REDRAWN[paper]]
    return [*FIGURES, *expand("results/figures/{name}.{suffix}", name=names, suffix=KINDS)]


def results_of_all(wildcards):
    return [
        *TABLES,
        *all_figures(),
        *expand("results/history/{dataset}.csv", dataset=DATASETS),
        *("results/claims.csv", "results/environment.json", "results/configuration.yaml"),
    ]


rule redraw:
    """Draw the papers' tables and the totals again from the claims table of results/reference."""
    log:
        "results/logs/redraw.log",
    localrule: True
    params:
        papers=papers.names(),
        results="results/reference",
        totals=True,
    script:
        "../scripts/redrawn.py"
