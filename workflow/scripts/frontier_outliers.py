"""What finds the rows of another data set, trained on one."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.frontier import images, outliers

threads.limit_process(1)
with plain_errors():
    params, table = snakemake.params, []
    if all(read_json(path)["available"] for path in snakemake.input):
        rows = images.features(params.entry["features"], params.entry["outside"])
        table = outliers.compare(snakemake.wildcards.dataset, params.methods, rows, params.seed)
    write_table(snakemake.output[0], table)
    environment.record(snakemake.output)
