"""Render the seconds per EM iteration of an experiment beside the paper's, as CSV and Markdown."""

from skem.repro.tables import accuracy, pages

data_sets = snakemake.params.datasets
pages.write(snakemake, lambda found, *others: accuracy.times(data_sets, found["seconds"], *others), "times")
