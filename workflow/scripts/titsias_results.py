"""Values and tables of Titsias and Likas (2001)."""

from skem.repro.papers.titsias2001 import tables
from skem.repro.tables import pages

RULES = {"titsias_values": tables.values, "titsias_tables": tables.tables}
pages.write(snakemake, RULES[snakemake.rule])
