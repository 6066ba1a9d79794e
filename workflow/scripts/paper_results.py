"""Make values or tables of a paper from the results of its jobs."""

import pkgutil

from skem.repro.tables import pages

pages.write(snakemake, pkgutil.resolve_name(f"skem.repro.papers.{snakemake.params.function}"))
