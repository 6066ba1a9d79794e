"""Draw a figure of the trade-offs from its tidy tables."""

from pathlib import Path

import matplotlib
import pandas as pd

from skem import plots, threads
from skem.files import plain_errors, read_table, write

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "skem"
threads.limit_process(1)
ARRANGED = {"sequential": "sequential", "interleaved": "interleaved", "random": "random"}
PANELS = {
    "36 features of half-size MNIST": ("mnist_half", "1x36", 40),
    "40 features of MNIST": ("mnist", "1x40", 60),
    "40 features of Fashion-MNIST": ("fashion_mnist", "1x40", 100),
}


def with_whole(table):
    """The unpartitioned model stands in every arrangement's panel."""
    whole = table[(table["method"] == "sequential") & (table["partition"] == "1x36")]
    return pd.concat([table, *(whole.assign(method=m) for m in ("interleaved", "random"))])


def drawn(name, tables, costs):
    if name == "figure1":
        return plots.cost_by_components(costs["arrangements"])
    arrangements = tables["arrangements"]
    if name == "figures2to4":
        shown = arrangements[arrangements["method"].isin(ARRANGED)]
        shown = shown[shown["protocol"].isin(["best-pass", "validated"])]
        return plots.accuracy_by_components(with_whole(shown), titles=ARRANGED, crossing=28)
    if name == "figure5":
        own = arrangements[
            (arrangements["method"] == "sequential") & (arrangements["protocol"] == "best-pass")
        ]
        return plots.sharing_by_components(own).figure
    others = [table for study, table in tables.items() if study.startswith("starts")]
    starts = pd.concat([arrangements[arrangements["method"] == "sequential"], *others])
    starts = starts[starts["protocol"] == "best-pass"]
    if name == "starts":
        own = starts[starts["dataset"] == "mnist_half"]
        titles = {
            start: plots.STARTS[start].replace("\n", " ")
            for start in plots.STARTS
            if start in set(own["method"])
        }
        return plots.accuracy_by_components(own, titles=titles, floor=85)
    there = set(zip(starts["dataset"], starts["n_components"], strict=True))
    panels = {title: panel for title, panel in PANELS.items() if (panel[0], panel[2]) in there}
    if not panels:  # grids cut to their ends
        dataset, k = max(there, key=lambda pair: pair[1])
        panels = {dataset: (dataset, next(p for p in starts["partition"] if p.startswith("1x")), int(k))}
    return plots.advantage(starts, panels)


with plain_errors():
    tables = {Path(path).stem: read_table(path) for path in snakemake.input.tables}
    costs = {Path(path).stem: read_table(path) for path in snakemake.input.costs}
    figure = drawn(snakemake.wildcards.figure, tables, costs)
    for path in snakemake.output:
        kind = Path(path).suffix[1:]
        extra = (
            {"dpi": 150}
            if kind == "png"
            else {"metadata": {"CreationDate" if kind == "pdf" else "Date": None}}
        )
        write(path, lambda file, kind=kind, extra=extra: figure.savefig(file, format=kind, **extra))
