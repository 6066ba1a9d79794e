"""Components that remain, appendix B of Hayashi and Uchida (2021)."""

from skem.repro.papers import jobs
from skem.repro.papers.hayashi2021.errors import components

jobs.run(snakemake, components)
