"""Compare the classifier with others on a table of the user's own."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, write_table, write_text
from skem.repro.frontier import figures, own_table

threads.limit_process(1)
with plain_errors(), style():
    params, output = snakemake.params, snakemake.output
    X, y = own_table.read(snakemake.input[0], params.label, params.setup["n_folds"])
    predictions = own_table.compare(X, y, params.methods, params.setup, params.seed)
    table = own_table.summary(predictions)
    about = environment.describe()
    notes = own_table.notes(X, y, params.setup)
    notes += f" Measured on {about['machine']['processor']}, with {environment.versions(about)}."
    text = own_table.markdown(table, params.names, params.title, notes)
    save(figures.accuracy_and_log_loss(table, params.names), [output.svg, output.pdf, output.png])
    write_table(output.predictions, predictions)
    write_text(output.md, text)
    write_table(output.csv, table)
    print(f"\n{text}\n{output.md}\n{output.svg}\n{output.predictions}")
