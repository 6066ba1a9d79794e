"""A network with one of the last layers, from one seed: its errors, and two features of test images."""

from skem.repro import environment
from skem.repro.files import plain_errors, read_json, read_table, write_table
from skem.repro.training import splits

with plain_errors():
    from skem.repro.papers.hayashi2021 import images

    images.repeatable()
    dataset, method, run = (snakemake.wildcards[name] for name in ("dataset", "method", "run"))
    errors, features = [], []
    if read_json(snakemake.input.data)["available"]:
        chosen = [row for path in snakemake.input.choice for row in read_table(path).to_dict("records")]
        seed = splits.seed(snakemake.params.seed, "hayashi2021", dataset, run)
        row, features = images.errors(snakemake.params.stated, snakemake.params.entry, method, chosen, seed)
        errors = [{"dataset": dataset, "run": int(run), "method": method} | row]
    write_table(snakemake.output.features, features)
    write_table(snakemake.output.errors, errors)
    environment.record(snakemake.output)
