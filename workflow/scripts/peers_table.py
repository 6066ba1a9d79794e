"""The engines' tables as one CSV and as Markdown, and the figure of their scaling."""

import pandas as pd

from skem import plots
from skem.engine import threads
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.ledger.stated_claims import claim
from skem.repro.peers import tables

threads.limit_process(1)
with plain_errors(), style():
    sizes, scaling, supervised, beside = (
        pd.concat([read_table(path) for path in snakemake.input[name]], ignore_index=True)
        for name in ("sizes", "scaling", "supervised", "beside")
    )
    named = scaling["engine"] + scaling["kernels"].map({"AVX2": ", AVX2"}).fillna("")
    scaling["engine"] = named
    if len(supervised):
        claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
        supervised["paper_seconds"] = [claim(claims, name) for name in supervised["paper_seconds"]]
        for bound, of in (("", ""), ("_low", "_high"), ("_high", "_low")):
            supervised[f"ratio{bound}"] = supervised["paper_seconds"] / supervised[f"seconds_per_pass{of}"]
    exponents = tables.exponents(scaling)
    parts = {"sizes": sizes, "scaling": scaling, "exponents": exponents}
    parts |= {"supervised": supervised, "beside": beside}
    table = pd.concat([part.assign(part=name) for name, part in parts.items()])
    write_table(snakemake.output.csv, table)
    write_text(snakemake.output.md, tables.to_markdown(sizes, exponents, supervised, beside))
    save(plots.engine_scaling(table), [snakemake.output.figure, snakemake.output.pdf])
