"""Strength of the L1 penalty and schedule of the sparse layer, on validation rows of a data set."""

from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.training import splits

with plain_errors():
    from skem.repro.papers.hayashi2021 import images

    images.repeatable()
    rows = []
    if read_json(snakemake.input[0])["available"]:
        seed = splits.seed(snakemake.params.seed, "hayashi2021", snakemake.wildcards.dataset, "choice")
        rows = images.choices(snakemake.params.stated, snakemake.params.entry, seed)
    write_table(snakemake.output[0], rows)
    environment.record(snakemake.output)
