"""Examples of figures 3 to 5 of Titsias and Likas (2001)."""

from skem.repro import jobs
from skem.repro.papers.titsias2001.examples import examples

jobs.run(snakemake, examples)
