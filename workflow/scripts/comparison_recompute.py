"""Make tables and figures of the classifier comparison from the committed values."""

from skem.repro.comparison import results
from skem.repro.drawing import style
from skem.repro.files import plain_errors, read_table

with plain_errors(snakemake.log), style():
    for part, paths in snakemake.params.values.items():
        values = {
            name: read_table(path.replace("results/", "results/reference/")) for name, path in paths.items()
        }
        made = [path.replace("results/", "results/recomputed/") for path in snakemake.params.results[part]]
        results.write(part, values, made)
