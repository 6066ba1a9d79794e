"""Accuracy against pass, a panel for each data set, and the tidy table it is drawn from."""

import pandas as pd

from skem.engine import threads
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.ledger.stated_claims import claim
from skem.repro.tables import passes

threads.limit_process(1)
with plain_errors(), style():
    claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
    parts = []
    for dataset, path in zip(snakemake.params.datasets, snakemake.input.history, strict=True):
        entry = snakemake.params.experiment["data_sets"][dataset]
        setting = entry["paper"]["setting"]
        method = next(name for name, how in entry["methods"].items() if setting in how.get("settings", {}))
        history = read_table(path)
        own = history
        if len(history):
            own = history[(history["method"] == method) & (history["setting"] == setting)]
        if len(own):
            curves = passes.by_pass(own)
        else:  # not available, or failed
            none = dict.fromkeys(("pass", "accuracy", "low", "high"), float("nan"))
            curves = pd.DataFrame([{"curve": ""} | none])
        paper = claim(claims, entry["paper"]["accuracy"])
        parts.append(curves.assign(dataset=dataset, setting=setting, paper=paper))
    table = pd.concat(parts, ignore_index=True)
    write_table(snakemake.output.csv, table)
    save(passes.draw(table), [path for path in snakemake.output if path != snakemake.output.csv])
