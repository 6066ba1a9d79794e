"""Boundaries of figures 1, 3 and 6 of Hayashi and Uchida (2021)."""

from skem.repro import jobs
from skem.repro.papers.hayashi2021.boundaries import panels

jobs.run(snakemake, panels)
