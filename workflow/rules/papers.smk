# Claims of every paper, and figures, from the files that the papers' rules name.


def evidence_of(paper, *targets):
    """The tables of values of these targets and of those of the command, by name."""
    found = {}
    for target, paths in EVIDENCE[paper].items():
        if target in ("all", *targets, *targets_given()):
            found |= paths
    return found


# The claims of a paper are evaluated on all results of its first target.
for paper in EVIDENCE:
    target = next(iter(EVIDENCE[paper]))
    stem = f"{paper if target == 'all' else target}_claims"

    rule:
        name:
            stem
        input:
            claims="config/claims.csv",
            paper=[f"config/{paper}.yaml", f"config/claims/{paper}.yaml"],
            evidence=lambda wildcards, paper=paper, target=target: evidence_of(paper, target).values(),
        output:
            csv=f"results/tables/{stem}.csv",
            md=reported(f"results/tables/{stem}.md", STUDY.titles[paper], ("table", "claims"), "claims"),
        log:
            f"results/logs/{stem}.log",
        localrule: True
        params:
            title=f"Claims of {STUDY.titles[paper]}",
            papers=[paper],
            evidence=lambda wildcards, paper=paper, target=target: {paper: evidence_of(paper, target)},
            settings={paper: STUDY.papers[paper]},
        script:
            "../scripts/claims.py"


rule claims:
    """Evaluate the claims of all papers; those whose target is not part of the command are not run."""
    input:
        claims="config/claims.csv",
        papers=[f"config/{folder}{paper}.yaml" for paper in EVIDENCE for folder in ("", "claims/")],
        evidence=lambda wildcards: [path for paper in EVIDENCE for path in evidence_of(paper).values()],
    output:
        csv="results/claims.csv",
        md=reported("results/claims.md", "Claims", ("claims", "all"), "claims"),
        timing_csv="results/claims_timing.csv",
        timing_md=reported("results/claims_timing.md", "Claims", ("claims", "about time"), "claims_timing"),
        interpretations="results/interpretations.csv",
        summary="results/summary.json",
    log:
        "results/logs/claims.log",
    localrule: True
    params:
        title="Claims of the papers",
        papers=papers.in_order(),
        evidence=lambda wildcards: {paper: evidence_of(paper) for paper in EVIDENCE},
        settings=STUDY.papers,
    message:
        "claims of the papers"
    script:
        "../scripts/claims.py"


FIGURES += expand("results/figures/outcomes.{suffix}", suffix=KINDS)


rule claims_figures:
    """Draw the totals."""
    input:
        summary="results/summary.json",
        papers=[f"config/{paper}.yaml" for paper in EVIDENCE],
    output:
        reported("results/figures/outcomes.svg", "Claims", ("figure", "outcomes"), "figure"),
        expand("results/figures/outcomes.{suffix}", suffix=[kind for kind in KINDS if kind != "svg"]),
    log:
        "results/logs/figures/claims.log",
    localrule: True
    params:
        caption=lambda wildcards: CAPTIONS["outcomes"],
        papers=[],
        results=lambda wildcards, output: Path(output[0]).parents[1],
        totals=True,
        columns=STUDY.config.figure_columns,
    message:
        "figure of the outcomes of all claims"
    script:
        "../scripts/redrawn.py"


rule recompute:
    """Evaluate all claims of results/reference from the values that are committed with it."""
    log:
        "results/logs/recompute.log",
    localrule: True
    script:
        "../scripts/recompute.py"
