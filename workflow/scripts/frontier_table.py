"""Every method on every fold of a table."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.frontier import tabular

threads.limit_process(1)
with plain_errors():
    name, params = snakemake.wildcards.dataset, snakemake.params
    scores, seconds = [], []
    if all(read_json(path)["available"] for path in snakemake.input):
        scores, seconds = tabular.fit(name, params.methods, params.setup, params.seed)
    write_table(snakemake.output.scores, scores)
    write_table(snakemake.output.seconds, seconds)
    environment.record(snakemake.output)
