"""Shared, separate and unsupervised kernels on data drawn after the words of figures 3 to 5, measured and to be drawn."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.papers.titsias2001 import examples, figures
from skem.repro.training import splits

threads.limit_process(1)
with plain_errors():
    setup, root = snakemake.params.setup, snakemake.params.seed
    rows = [
        {"figure": figure, "run": run} | row
        for figure in examples.FIGURES
        for run in range(setup["repetitions"])
        for row in examples.measure(figure, setup["n_rows"], splits.seed(root, figure, run))
    ]
    write_table(snakemake.output.measured, rows)
    seeds = {name: splits.seed(root, name, 0) for name in figures.PANELS}
    write_table(snakemake.output.panels, figures.panels(setup["drawn_rows"], seeds))
    environment.record(snakemake.output)
