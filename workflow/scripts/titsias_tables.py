"""Tables I to V beside the paper's."""

from skem.repro.config import documents
from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.ledger import stated_claims
from skem.repro.papers.titsias2001 import tables

with plain_errors():
    stated = stated_claims.read(snakemake.input.claims, documents.read("config/protocols.yaml"))
    errors = tables.gathered(map(read_table, snakemake.input.errors))
    write_table(snakemake.output.errors, errors)
    write_table(snakemake.output.seconds, tables.gathered(map(read_table, snakemake.input.seconds)))
    params = snakemake.params
    table = tables.summary(errors, tables.cells(stated), params.tables, params.n_folds)
    write_text(snakemake.output.md, tables.to_markdown(table, params.repetitions))
    write_table(snakemake.output.csv, table)
