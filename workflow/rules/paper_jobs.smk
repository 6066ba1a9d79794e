# The rules of a paper whose jobs call functions of skem.repro.papers add to PAPER_RESULTS, by target:
#   paper, jobs (files of its jobs, by name), values (names of tables for its claims), tables (by prefix of an output of its
#   script), figures (with the files they are drawn from), and the script that makes values and tables.
PAPER_RESULTS = {}


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
    PAPER_RESULTS[target] = about | how
