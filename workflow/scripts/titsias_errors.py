"""Errors of every method on a table of Titsias and Likas (2001)."""

from skem.repro import jobs
from skem.repro.papers.titsias2001.errors import errors

jobs.run(snakemake, errors)
