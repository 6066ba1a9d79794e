"""Values and tables of Hayashi and Uchida (2021)."""

from skem.repro.papers.hayashi2021 import tables
from skem.repro.tables import pages

RULES = {
    "hayashi_values": tables.values,
    "hayashi_tables": tables.table1,
    "hayashi_images_values": tables.values,
    "hayashi_images_tables": tables.table2,
}
pages.write(snakemake, RULES[snakemake.rule])
