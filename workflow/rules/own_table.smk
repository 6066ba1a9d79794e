# A table of the user's own: snakemake --cores 2 --config table=mine.csv
OWN = Path(STUDY.config.table or "no_table")
OWN_STEM = "".join(c if c.isalnum() or c in "-_" else "_" for c in OWN.stem)

if "compare" in TARGETS and not STUDY.config.table:
    stop("compare needs a file: snakemake compare --cores 2 --config table=FILE.csv")
if STUDY.config.table and not OWN.is_file():
    stop(f"--config table={OWN}: there is no such file")
if "{" in str(OWN) or "}" in str(OWN):
    stop(f"--config table={OWN}: Snakemake reads braces as wildcards; rename the file or its folder")
if STUDY.config.label is not None and not STUDY.config.table:
    stop("label names a column of a table; add table=FILE.csv after --config")


rule compare:
    input:
        lambda wildcards: [str(OWN)],
    output:
        csv=f"results/own/{OWN_STEM}.csv",
        md=report(f"results/own/{OWN_STEM}.md", category="A table of your own"),
        predictions=f"results/own/{OWN_STEM}_predictions.csv",
        svg=report(f"results/own/{OWN_STEM}.svg", category="A table of your own"),
        pdf=f"results/own/{OWN_STEM}.pdf",
        png=f"results/own/{OWN_STEM}.png",
    threads: 1
    params:
        label=lambda wildcards: None if STUDY.config.label is None else str(STUDY.config.label),
        methods=FRONTIER["tables"]["methods"],
        names=FRONTIER["names"],
        setup={name: FRONTIER["tables"][name] for name in ("n_folds", "max_rows")},
        title=lambda wildcards: OWN.stem,
        seed=SEED,
        code=code("own_table"),
        classifiers=lambda wildcards: classifiers_of(FRONTIER["tables"]["methods"]),
    message:
        "comparing classifiers on a table"
    script:
        "../scripts/own_table.py"
