"""Errors of every method of Hayashi and Uchida (2021) on some splits."""

from skem.repro.papers import jobs
from skem.repro.papers.hayashi2021.errors import errors

jobs.run(snakemake, errors)
