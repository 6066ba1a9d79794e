"""Likelihoods against the covariance regularisation, for Sanderson and Curtin (2017)."""

from skem.repro.papers import jobs
from skem.repro.papers.sanderson2017.fits import regularisation

jobs.run(snakemake, regularisation)
