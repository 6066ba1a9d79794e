# What the papers' rules have named: the ledger, every claim beside what was measured, and the figures.


rule claims:
    input:
        claims="config/claims.csv",
        papers=[f"config/{name}.yaml" for name in EVIDENCE],
        evidence=[path for kinds in EVIDENCE.values() for files in kinds.values() for path in files.values()],
    output:
        csv="results/claims.csv",
        md=report(
            "results/claims.md",
            category="Claims",
            labels={"claims": "all but those about time"},
            caption="../report/claims.rst",
        ),
        timing_csv="results/claims_timing.csv",
        timing_md=report(
            "results/claims_timing.md",
            category="Claims",
            labels={"claims": "about time"},
            caption="../report/claims_timing.rst",
        ),
        measured_csv="results/measured_claims.csv",
        measured_md="results/measured_claims.md",
        readings="results/readings.csv",
    localrule: True
    params:
        title="What the papers claim",
        evidence=EVIDENCE,
        settings=STUDY.papers,
        code=code("claims"),
    message:
        "verdicts on the claims"
    script:
        "../scripts/claims.py"


FIGURES += [f"results/figures/paper_and_here.{suffix}" for suffix in KINDS]


rule dots:
    """Every accuracy against the papers'."""
    input:
        claims="results/claims.csv",
        words=WORDS,
    output:
        report(
            "results/figures/paper_and_here.svg",
            category="Claims",
            labels={"figure": "paper and here"},
            caption="../report/paper_and_here.rst",
        ),
        "results/figures/paper_and_here.pdf",
        "results/figures/paper_and_here.png",
        csv="results/figures/paper_and_here.csv",
    localrule: True
    params:
        code=code("dots"),
    message:
        "drawing every accuracy against the papers'"
    script:
        "../scripts/dots.py"


rule recompute:
    """The ledger of the committed reference, from the values that are committed with it."""
    localrule: True
    params:
        code=code("recompute"),
    message:
        "the ledger of results/reference once more"
    script:
        "../scripts/recompute.py"


rule draw:
    input:
        lambda wildcards: DRAWN[wildcards.figure]["tables"],
    output:
        report(
            "results/figures/{figure}.svg",
            category=lambda wildcards: STUDY.titles[DRAWN[wildcards.figure]["paper"]],
            labels={"figure": "{figure}"},
            caption="../report/draw.rst",
        ),
        "results/figures/{figure}.pdf",
        "results/figures/{figure}.png",
        csv="results/figures/{figure}.csv",
    wildcard_constraints:
        figure="|".join(DRAWN) or "none",
    localrule: True
    params:
        paper=lambda wildcards: DRAWN[wildcards.figure]["paper"],
        settings=lambda wildcards: STUDY.papers[DRAWN[wildcards.figure]["paper"]],
        caption=lambda wildcards: Path(f"workflow/report/{wildcards.figure}.rst").read_text(encoding="utf-8"),
        code=code("draw"),
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/draw.py"
