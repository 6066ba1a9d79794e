"""The advice of Sanderson and Curtin (2017) on iterations and samples."""

from skem.repro.papers import jobs
from skem.repro.papers.sanderson2017.advice import advice

jobs.run(snakemake, advice)
