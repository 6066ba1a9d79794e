"""Likelihoods in Table 1 of Sanderson and Curtin (2017), cross-validated, and against the covariance regularisation."""

from skem.repro.papers import jobs
from skem.repro.papers.sanderson2017 import fits

RULES = {
    "sanderson_fits": fits.fits,
    "sanderson_heldout": fits.heldout,
    "sanderson_regularisation": fits.regularisation,
}
jobs.run(snakemake, RULES[snakemake.rule])
