"""A network of Hayashi and Uchida (2021)."""

from skem.repro.papers import jobs
from skem.repro.papers.hayashi2021.images import errors

jobs.run(snakemake, errors)
