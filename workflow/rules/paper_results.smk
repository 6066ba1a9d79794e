# Values, tables and targets of the papers in PAPER_RESULTS.
for target, how in PAPER_RESULTS.items():
    paper = how["paper"]

    rule:
        name:
            f"{target}_values"
        input:
            **how["jobs"],
        output:
            **how["values"],
        log:
            f"results/logs/{paper}/{target}_values.log",
        localrule: True
        params:
            script=how["script"],
            settings=STUDY.papers[paper],
        script:
            "../scripts/{params.script}.py"

    rule:
        name:
            f"{target}_tables"
        input:
            **how["inputs"],
            claims="config/claims.csv",
            pages=f"config/tables/{paper}.yaml",
        output:
            **{f"{prefix}csv": f"results/tables/{name}.csv" for prefix, name in how["tables"].items()},
            **{
                f"{prefix}md": reported(
                    f"results/tables/{name}.md", STUDY.titles[paper], ("table", name), target
                )
                for prefix, name in how["tables"].items()
            },
        log:
            f"results/logs/{paper}/{target}_tables.log",
        localrule: True
        params:
            script=how["script"],
            settings=STUDY.papers[paper],
        script:
            "../scripts/{params.script}.py"

    rule:
        name:
            target
        input:
            how["results"],
            "results/environment.json",
        localrule: True
