"""Join the measurements of all jobs of a part of the classifier comparison, and make its tables and figures."""

from skem.repro.comparison import results, summary
from skem.repro.drawing import style
from skem.repro.files import plain_errors, write_table

with plain_errors(snakemake.log), style(snakemake.params.columns):
    part, named = snakemake.params.part, dict(snakemake.output.items())
    values = summary.joined(part, snakemake.input)
    for name, path in named.items():
        write_table(path, values[name])
    results.write(part, values, [path for path in snakemake.output if path not in named.values()])
