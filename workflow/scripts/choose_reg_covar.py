"""Select the covariance regularisation with the best mean validation accuracy, at the best validation iteration."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table

with plain_errors():
    history = pd.concat([table for table in map(read_table, snakemake.input) if len(table)])
    history = history[history["setting"].astype(str).isin(snakemake.params.settings)]
    trials = ["dataset", "setting", "run", "fold"]
    best = history.groupby(trials)["validation_accuracy"].max().groupby(["dataset", "setting"]).mean()
    table = (100 * best).unstack("dataset").reindex(columns=snakemake.params.datasets)
    table.insert(0, "reg_covar", [snakemake.params.settings[str(name)] for name in table.index])
    table = table.sort_values("reg_covar")
    table["mean"] = table[snakemake.params.datasets].mean(axis=1)
    table["chosen"] = table["mean"] == table["mean"].max()
    write_table(snakemake.output[0], table.reset_index(drop=True))
    print(table.round(3).to_string(index=False))
