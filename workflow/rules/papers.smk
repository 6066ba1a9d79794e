# Claims of every paper, and figures, from the files that the papers' rules name.


def evidence_of(paper, *targets):
    """The tables of values of these targets and of those of the command, by name."""
    found = {}
    for target, paths in EVIDENCE[paper].items():
        if target in ("all", *targets, *TARGETS):
            found |= paths
    return found


def claims_of(paper):
    """The files that the claims of a paper are written to."""
    target = next(iter(EVIDENCE[paper]))
    stem = f"results/tables/{paper if target == 'all' else target}_claims"
    return {
        "csv": f"{stem}.csv",
        "timing_csv": f"results/{paper}/claims_timing.csv",
        "interpretations": f"results/{paper}/interpretations.csv",
        "md": f"{stem}.md",
    }


# The claims of a paper are evaluated on all results of its first target.
for paper in EVIDENCE:
    target = next(iter(EVIDENCE[paper]))
    own, files = evidence_of(paper, target), claims_of(paper)

    rule:
        name:
            f"{paper if target == 'all' else target}_claims"
        input:
            claims="config/claims.csv",
            paper=[f"config/{paper}.yaml", f"config/claims/{paper}.yaml"],
            evidence=own.values(),
        output:
            csv=files["csv"],
            timing_csv=files["timing_csv"],
            interpretations=files["interpretations"],
            md=report(
                files["md"],
                category=STUDY.titles[paper],
                labels={"table": "verdicts"},
                caption="../report/claims.rst",
            ),
        localrule: True
        params:
            title=f"Claims of {STUDY.titles[paper]}",
            paper=paper,
            evidence=own,
            settings=STUDY.papers[paper],
            code=code("claims"),
        message:
            f"verdicts on the claims of {STUDY.titles[paper]}"
        script:
            "../scripts/claims.py"


ASKED = [paper for paper in EVIDENCE if next(iter(EVIDENCE[paper])) in ("all", *TARGETS)]


rule claims:
    """Join the claims of all papers; those whose target is not part of the command are not run."""
    input:
        **{
            key: [claims_of(paper)[key] for paper in ASKED]
            for key in ("csv", "timing_csv", "interpretations")
        },
        claims="config/claims.csv",
        papers=[f"config/{folder}{paper}.yaml" for paper in EVIDENCE for folder in ("", "claims/")],
        evidence=[path for paper in EVIDENCE if paper not in ASKED for path in evidence_of(paper).values()],
    output:
        csv="results/claims.csv",
        md=report(
            "results/claims.md",
            category="Claims",
            labels={"claims": "all"},
            caption="../report/claims.rst",
        ),
        timing_csv="results/claims_timing.csv",
        timing_md=report(
            "results/claims_timing.md",
            category="Claims",
            labels={"claims": "about time"},
            caption="../report/claims_timing.rst",
        ),
        interpretations="results/interpretations.csv",
        summary="results/summary.json",
    localrule: True
    params:
        asked=ASKED,
        evidence={paper: evidence_of(paper) for paper in EVIDENCE},
        settings=STUDY.papers,
        code=code("join_claims"),
    message:
        "verdicts on the claims"
    script:
        "../scripts/join_claims.py"


CLAIMS_FIGURES = ("answers", "paper_and_ours")
FIGURES += expand("results/figures/{name}.{suffix}", name=CLAIMS_FIGURES, suffix=KINDS)


rule claims_figures:
    """Draw the totals, and every accuracy beside the papers'."""
    input:
        claims="results/claims.csv",
        summary="results/summary.json",
        words=WORDS,
        papers=[f"config/{paper}.yaml" for paper in EVIDENCE],
    output:
        [
            report(
                f"results/figures/{name}.svg",
                category="Claims",
                labels={"figure": name},
                caption="../report/figure.rst",
            )
            for name in CLAIMS_FIGURES
        ],
        expand(
            "results/figures/{name}.{suffix}",
            name=CLAIMS_FIGURES,
            suffix=[kind for kind in KINDS if kind != "svg"],
        ),
    localrule: True
    params:
        caption=lambda wildcards: "\n\n".join(CAPTIONS[name] for name in CLAIMS_FIGURES),
        code=code("claims_figures"),
    message:
        "drawing the claims"
    script:
        "../scripts/claims_figures.py"


rule recompute:
    """Evaluate all claims of results/reference from the values that are committed with it."""
    localrule: True
    params:
        code=code("recompute"),
    message:
        "claims of results/reference from its values"
    script:
        "../scripts/recompute.py"
