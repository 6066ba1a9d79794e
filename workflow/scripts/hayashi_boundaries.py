"""Lines of figures 1, 3 and 6."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.papers.hayashi2021 import boundaries
from skem.repro.training import splits

threads.limit_process(1)
with plain_errors():
    rows = []
    if read_json(snakemake.input[0])["available"]:
        seed = splits.seed(snakemake.params.seed, "hayashi2021", "boundaries")
        setup, model, synthetic = (snakemake.params[name] for name in ("setup", "model", "synthetic"))
        rows = boundaries.panels(setup, model, synthetic, seed)
    write_table(snakemake.output[0], rows)
    environment.record(snakemake.output)
