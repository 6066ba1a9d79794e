"""Likelihoods against the variance floor, for Sanderson and Curtin (2017)."""

from skem.repro.papers import jobs
from skem.repro.papers.sanderson2017.advice import floors

jobs.run(snakemake, floors)
