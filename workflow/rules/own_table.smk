# A table of the user's own: snakemake --cores 2 --config table=mine.csv
OWN = Path(str(config.get("table", "no_table")))
OWN_STEM = "".join(c if c.isalnum() or c in "-_" else "_" for c in OWN.stem)

if "compare" in TARGETS and "table" not in config:
    stop("compare needs a file: snakemake compare --cores 2 --config table=FILE.csv")
if "table" in config and not OWN.is_file():
    stop(f"--config table={OWN}: there is no such file")
if "{" in str(OWN) or "}" in str(OWN):
    stop(f"--config table={OWN}: Snakemake reads braces as wildcards; rename the file or its folder")
if "label" in config and "table" not in config:
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
        label=lambda wildcards: str(config["label"]) if "label" in config else None,
        methods=FRONTIER["tables"]["methods"],
        names=FRONTIER["names"],
        setup={name: FRONTIER["tables"][name] for name in ("n_folds", "max_rows")},
        title=lambda wildcards: OWN.stem,
        seed=SEED,
        code=code("own_table"),
    message:
        "comparing classifiers on a table"
    script:
        "../scripts/own_table.py"
