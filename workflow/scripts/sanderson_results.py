"""Values and tables of Sanderson and Curtin (2017)."""

from skem.repro.papers.sanderson2017 import tables
from skem.repro.tables import pages

RULES = {"sanderson_values": tables.values, "sanderson_tables": tables.tables}
pages.write(snakemake, RULES[snakemake.rule])
