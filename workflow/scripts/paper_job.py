"""Call a function of a paper, and write the tables that it returns."""

from skem.repro.papers import jobs

jobs.run(snakemake)
