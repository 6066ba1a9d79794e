"""Mahalanobis against Euclidean initialisations, for Sanderson and Curtin (2017)."""

from skem.repro.papers import jobs
from skem.repro.papers.sanderson2017.advice import starts

jobs.run(snakemake, starts)
