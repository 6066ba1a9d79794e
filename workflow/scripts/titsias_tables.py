"""Tables I to V beside the paper's."""

from skem import claims_file, configuration, titsias_tables
from skem.files import plain_errors, read_table, write_table, write_text

with plain_errors():
    stated = claims_file.read(snakemake.input.claims, configuration.read("config/protocols.yaml"))
    errors = titsias_tables.gathered(map(read_table, snakemake.input.errors))
    seconds = ["dataset", "n_components", "method", "run", "fold", "seconds"]
    write_table(snakemake.output.errors, errors.drop(columns="seconds", errors="ignore"))
    write_table(snakemake.output.seconds, errors[seconds] if len(errors) else errors)
    params = snakemake.params
    table = titsias_tables.summary(errors, titsias_tables.cells(stated), params.tables, params.n_folds)
    write_text(snakemake.output.md, titsias_tables.to_markdown(table, params.repetitions))
    write_table(snakemake.output.csv, table)
