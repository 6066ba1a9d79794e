"""Sharing in the blocks of PSKEM, on images."""

from skem.repro.papers import jobs
from skem.repro.papers.titsias2001.images import sharing

jobs.run(snakemake, sharing)
