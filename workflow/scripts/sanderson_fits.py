"""Likelihoods in Table 1 of Sanderson and Curtin (2017)."""

from skem.repro.papers import jobs
from skem.repro.papers.sanderson2017.fits import fits

jobs.run(snakemake, fits)
