# One page of what runs left. It trains nothing, so it does not ask for what `all` makes: under another configuration
# than theirs that would throw results of hours away. What is not there leaves a gap that names the command for it.


# `--config of=reference`: of the results that are committed, which a fresh clone has.
REPORTED = "results/reference" if STUDY.config.of else "results"


def seen(wildcards):
    """What a report would show: it is made anew when that is something else."""
    from skem.repro.report.page import fingerprint

    return fingerprint(REPORTED)


rule configuration:
    output:
        "results/configuration.yaml",
    localrule: True
    params:
        config={
            key: value for key, value in config.items() if key not in ("of", "reference", "table", "label")
        },
        code=code("configuration"),
    message:
        "recording the configuration"
    script:
        "../scripts/configuration.py"


rule report:
    input:
        # In one command with `all` it comes last.
        lambda wildcards: rules.all.input if "all" in workflow.dag_settings.targets else [],
        templates=sorted(map(str, Path("workflow/report").iterdir())),
        claims=["config/claims.csv", *WORDS],
        citation="CITATION.cff",
    output:
        f"{REPORTED}/report.html",
    localrule: True
    params:
        seen=seen,
        code=code("report"),
    message:
        "the report"
    script:
        "../scripts/report.py"


rule findings:
    """The numbers in README.md and docs/reproduce/findings, from the tables of results/reference."""
    localrule: True
    params:
        code=code("findings"),
    message:
        "the numbers of the findings"
    script:
        "../scripts/findings.py"
