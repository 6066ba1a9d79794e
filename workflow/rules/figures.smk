# Figures of the papers, each from the tables that the papers' rules name in DRAWN.


rule draw:
    input:
        lambda wildcards: DRAWN[wildcards.figure]["tables"],
    output:
        "results/figures/{figure}.svg",
        "results/figures/{figure}.pdf",
        "results/figures/{figure}.png",
        csv="results/figures/{figure}.csv",
    wildcard_constraints:
        figure="|".join(DRAWN) or "none",
    localrule: True
    params:
        paper=lambda wildcards: DRAWN[wildcards.figure]["paper"],
        settings=lambda wildcards: DRAWN[wildcards.figure].get(
            "settings", STUDY.papers[DRAWN[wildcards.figure]["paper"]]
        ),
        code=code("draw"),
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/draw.py"
