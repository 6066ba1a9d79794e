"""Cross-validated likelihoods of Sanderson and Curtin (2017)."""

from skem.repro.papers import jobs
from skem.repro.papers.sanderson2017.fits import heldout

jobs.run(snakemake, heldout)
