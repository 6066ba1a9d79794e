"""Select the covariance regularisation with the best mean validation accuracy, at the best validation iteration."""

from skem.repro.files import plain_errors, read_tables, write_table

with plain_errors(snakemake.log):
    history = read_tables(snakemake.input)
    history = history[history["method"] == "reg_covar"]
    trials = ["dataset", "reg_covar", "run", "fold"]
    best = history.groupby(trials)["validation_accuracy"].max().groupby(["dataset", "reg_covar"]).mean()
    table = (100 * best).unstack("dataset").reindex(columns=snakemake.params.datasets).reset_index()
    table["mean"] = table[snakemake.params.datasets].mean(axis=1)
    table["chosen"] = table["mean"] == table["mean"].max()
    write_table(snakemake.output[0], table)
    print(table.round(3).to_string(index=False))
