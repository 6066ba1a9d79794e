# A table of the user's own: snakemake --cores 2 --config table=mine.csv
OWN = str(STUDY.config.table or "no_table")
OWN_DROP = STUDY.config.drop or []
OWN_STEM = "".join(c if c.isalnum() or c in "-_" else "_" for c in Path(OWN).stem)

if "table" in config and not STUDY.config.table:
    stop("--config table= is empty; write table=FILE.csv")
if (STUDY.config.label is not None or OWN_DROP) and not STUDY.config.table:
    stop("label and drop name columns of a table; add table=FILE.csv after --config")
if STUDY.config.table and workflow.is_main_process:
    # Here alone: it imports scikit-learn, which takes as long as all rules.
    from skem.repro.comparison import own_table

    try:
        own_table.raise_if_unsafe(OWN, f"results/own/{OWN_STEM}.md")
        own_table.read(OWN, STUDY.config.label, COMPARISON.tables["n_folds"], OWN_DROP)
    except (ValueError, OSError) as error:
        stop(f"--config table={OWN}: {str(error).removeprefix(OWN).lstrip(':, ')}")
if "{" in OWN or "}" in OWN:
    stop(f"--config table={OWN}: Snakemake reads braces as wildcards; rename the file or its folder")


def own_file(wildcards):
    if not STUDY.config.table:
        raise WorkflowError("compare needs a file: snakemake compare --cores 2 --config table=FILE.csv")
    return OWN


# Packages of the comparison are optional; with one more, the table is compared again.
OWN_JOBS = COMPARISON.parameters("tables")
OWN_ABSENT = [name for name, job in OWN_JOBS.items() if not classifiers.find(job["model"]).is_installed]


rule compare:
    input:
        own_file,
    output:
        csv=f"results/own/{OWN_STEM}.csv",
        md=report(f"results/own/{OWN_STEM}.md", category="A table of your own"),
        # No other table has a point in its stem.
        predictions=f"results/own/{OWN_STEM}.predictions.csv",
        svg=report(f"results/own/{OWN_STEM}.svg", category="A table of your own"),
        pdf=f"results/own/{OWN_STEM}.pdf",
        png=f"results/own/{OWN_STEM}.png",
    log:
        f"results/logs/own/{OWN_STEM}.log",
    params:
        table=OWN,
        label=STUDY.config.label,
        drop=OWN_DROP,
        jobs={name: job for name, job in OWN_JOBS.items() if name not in OWN_ABSENT},
        absent=OWN_ABSENT,
        names=COMPARISON.titles(),
        seed=SEED,
        columns=STUDY.config.figure_columns,
        classifiers=code_of_classifiers(OWN_JOBS),
    message:
        "comparing classifiers on {params.table}"
    script:
        "../scripts/own_table.py"
