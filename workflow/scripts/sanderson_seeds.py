"""Clusters from spread seeds, appendix A of Sanderson and Curtin (2017)."""

from skem.repro.papers import jobs
from skem.repro.papers.sanderson2017.advice import seeds

jobs.run(snakemake, seeds)
