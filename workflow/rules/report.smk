# The report shows the results that exist. It trains nothing, so it does not depend on the files of `all`: with another
# configuration that would replace results of hours. A missing part names the command that produces it.


# `--config of=reference` reports the committed results, which a fresh clone has.
REPORTED = "results/reference" if STUDY.config.of else "results"


rule configuration:
    output:
        "results/configuration.yaml",
    log:
        "results/logs/configuration.log",
    localrule: True
    params:
        config={key: value for key, value in config.items() if key not in ("of", "table", "label", "drop")},
    script:
        "../scripts/configuration.py"


rule report:
    input:
        # In one command with `all` the report comes last.
        lambda wildcards: results_of_all(wildcards) if "all" in targets_given() else [],
        templates=sorted(map(str, Path("workflow/report").iterdir())),
        claims=["config/claims.csv", *sorted(map(str, Path("config/claims").iterdir()))],
        citation="CITATION.cff",
    output:
        f"{REPORTED}/report.html",
    log:
        "results/logs/report.log",
    localrule: True
    params:
        started=STARTED,  # results may have changed since the last report
    script:
        "../scripts/report.py"


rule pages:
    """README.md and pages of docs, from docs/templates and the tables of results/reference."""
    log:
        "results/logs/pages.log",
    localrule: True
    script:
        "../scripts/pages.py"
