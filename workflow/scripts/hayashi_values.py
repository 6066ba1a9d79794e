"""What the claims are judged by: results, and seconds apart."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table

with plain_errors():
    tables = {
        name: pd.concat([read_table(path) for path in snakemake.input[name]], ignore_index=True)
        for name in ("errors", "components", "components_raw")
    }
    for name, table in tables.items():
        write_table(snakemake.output[name], table.drop(columns="seconds", errors="ignore"))
    errors = tables["errors"]
    timing = errors[["dataset", "run", "method", "seconds"]] if len(errors) else errors
    write_table(snakemake.output["timing"], timing)
