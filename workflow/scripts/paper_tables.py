"""Call a function of a paper with the tables that are the input of a rule; write the tables that it returns, and their pages."""

from pathlib import Path
from pkgutil import resolve_name

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.papers.measured import concatenated
from skem.repro.tables import pages

with plain_errors(snakemake.log):
    inputs = {name: [files] if isinstance(files, str) else files for name, files in snakemake.input.items()}
    stated = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in inputs.pop("claims", [])]
    known = pages.read(*inputs.pop("pages", []))
    tables = {name: concatenated(map(read_table, paths)) for name, paths in inputs.items()}
    made = resolve_name(snakemake.params.function)(tables, *stated, snakemake.params.settings)
    for name, path in snakemake.output.items():
        if (page := Path(path)).suffix == ".md":
            write_text(path, pages.render(known[page.stem], made))
        else:
            write_table(path, made[name])
