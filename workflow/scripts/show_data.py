"""Print what data there is."""

from skem import datasets
from skem.repro.files import read_json

print(datasets.format_table(read_json(path) for path in snakemake.input))
