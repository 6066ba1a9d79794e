"""Likelihoods in Table 1 of Sanderson and Curtin (2017), of training and of held-out samples."""

from skem.repro import jobs
from skem.repro.papers.sanderson2017 import fits

RULES = {"sanderson_fits": fits.fits, "sanderson_heldout": fits.heldout}
jobs.run(snakemake, RULES[snakemake.rule])
