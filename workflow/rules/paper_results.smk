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
            **runs(how["script"]),
            settings=STUDY.papers[paper],
        message:
            f"values of {STUDY.titles[paper]}"
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
                f"{prefix}md": report(
                    f"results/tables/{name}.md",
                    category=STUDY.titles[paper],
                    labels={"table": name},
                    caption=f"../report/{target}.rst",
                )
                for prefix, name in how["tables"].items()
            },
        log:
            f"results/logs/{paper}/{target}_tables.log",
        localrule: True
        params:
            **runs(how["script"]),
            settings=STUDY.papers[paper],
        message:
            f"tables of {STUDY.titles[paper]}"
        script:
            "../scripts/{params.script}.py"

    rule:
        name:
            target
        input:
            how["results"],
            "results/environment.json",
        localrule: True
        message:
            STUDY.titles[paper]
