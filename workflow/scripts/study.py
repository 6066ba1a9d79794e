"""The table of a study, and its Markdown."""

from skem.repro.papers.pulford2022.tables import study
from skem.repro.tables import pages

name, experiment = snakemake.wildcards.study, snakemake.params.experiment
pages.write(snakemake, lambda found, *others: study(name, experiment, found["history"], *others), "curves")
