# What the papers' rules have named: the ledger, every claim beside what was measured, and the figures.


def evidence_of(paper, *targets):
    """The files that belong to these targets and to those of the command."""
    found = {"values": {}, "records": {}}
    for target, kinds in EVIDENCE[paper].items():
        if target in ("all", *targets, *TARGETS):
            for kind, paths in kinds.items():
                found[kind] = found.get(kind, {}) | paths
    return found


def paths_of(evidence):
    return [path for kinds in evidence.values() for paths in kinds.values() for path in paths.values()]


JOINED = {paper: evidence_of(paper) for paper in EVIDENCE}


rule claims:
    input:
        claims="config/claims.csv",
        papers=[f"config/{name}.yaml" for name in EVIDENCE],
        evidence=paths_of(JOINED),
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
        evidence=JOINED,
        settings=STUDY.papers,
        code=code("claims"),
    message:
        "verdicts on the claims"
    script:
        "../scripts/claims.py"


# The claims of one paper alone, by the target that makes its results.
for target, paper in {target: paper for paper, (target, *_) in EVIDENCE.items() if target != "all"}.items():
    own = {paper: evidence_of(paper, target)}

    rule:
        name:
            f"{target}_claims"
        input:
            claims="config/claims.csv",
            paper=f"config/{paper}.yaml",
            evidence=paths_of(own),
        output:
            csv=f"results/tables/{target}_claims.csv",
            timing_csv=f"results/{paper}/claims_timing.csv",
            md=report(
                f"results/tables/{target}_claims.md",
                category=STUDY.titles[paper],
                labels={"table": "verdicts"},
                caption="../report/claims.rst",
            ),
        localrule: True
        params:
            alone=True,
            title=f"What {STUDY.titles[paper]} claim",
            evidence=own,
            settings={paper: STUDY.papers[paper]},
            code=code("claims"),
        message:
            f"verdicts on the claims of {STUDY.titles[paper]}"
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
