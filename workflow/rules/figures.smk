# Figures of the papers, each from the tables that the papers' rules name in DRAWN.
from skem.repro.drawing import captions

CAPTIONS = {name: "**{title}**\n\n{text}".format(**caption) for name, caption in captions().items()}


rule draw:
    input:
        lambda wildcards: DRAWN[wildcards.figure]["tables"],
    output:
        reported(
            "results/figures/{figure}.svg",
            lambda wildcards: STUDY.titles[DRAWN[wildcards.figure]["paper"]],
            ("figure", "{figure}"),
            "figure",
        ),
        "results/figures/{figure}.pdf",
        "results/figures/{figure}.png",
        csv="results/figures/{figure}.csv",
    log:
        "results/logs/figures/{figure}.log",
    wildcard_constraints:
        figure="|".join(DRAWN) or "none",
    localrule: True
    params:
        paper=lambda wildcards: DRAWN[wildcards.figure]["paper"],
        settings=lambda wildcards: DRAWN[wildcards.figure].get(
            "settings", STUDY.papers[DRAWN[wildcards.figure]["paper"]]
        ),
        columns=STUDY.config.figure_columns,
        caption=lambda wildcards: CAPTIONS[wildcards.figure],
    message:
        "figure {wildcards.figure}"
    script:
        "../scripts/draw.py"
