# The rules of a paper whose jobs call functions of skem.repro.papers add to PAPER_RESULTS, by target:
#   paper, jobs (files of its jobs, by name), values (names of tables for its claims), tables (by prefix of an output of the
#   function that makes them, in the paper's module tables), and figures (with the files they are drawn from).
PAPER_RESULTS = {}


def calls(script, function):
    """Parameters of a rule whose script calls a function of a paper, "paper.module:name": its name, and hashes of the code."""
    path = f"skem/repro/papers/{function.partition(':')[0].replace('.', '/')}.py"
    return {"function": function, "code": [code(script), code_of(path)]}


def values_of(paper, names):
    """Files of values by name."""
    return {name: f"results/values/{paper}_{name}.csv" for name in names}


def add_results(target, paper, values, tables, figures, **how):
    """Add to PAPER_RESULTS, and to the claims, figures and reference."""
    EVIDENCE.setdefault(paper, {})[target] = values
    DRAWN.update({name: {"paper": paper, "tables": files} for name, files in figures.items()})
    claims = [f"{target}_claims"] if len(EVIDENCE[paper]) == 1 else []
    results = expand("results/tables/{name}.{suffix}", name=[*tables.values(), *claims], suffix=("csv", "md"))
    results += expand("results/figures/{name}.{suffix}", name=figures, suffix=KINDS)
    REFERENCE_TOO.extend([*results, *values.values()])
    about = {"paper": paper, "values": values, "tables": tables, "results": results}
    PAPER_RESULTS[target] = {"function": "tables"} | about | how
