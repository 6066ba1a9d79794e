"""Shared, separate and unsupervised kernels on data drawn after the words of figures 3 to 5."""

from skem import splits, threads, titsias_examples
from skem.files import plain_errors, write_table

threads.limit_process(1)
with plain_errors():
    setup, root = snakemake.params.setup, snakemake.params.seed
    rows = [
        {"figure": figure, "run": run} | row
        for figure in titsias_examples.FIGURES
        for run in range(setup["repetitions"])
        for row in titsias_examples.measure(figure, setup["n_rows"], splits.seed(root, figure, run))
    ]
    write_table(snakemake.output[0], rows)
