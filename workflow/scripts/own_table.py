"""Compare classifiers on a table of the user's own."""

from pathlib import Path

from skem.engine import threads
from skem.repro import environment
from skem.repro.comparison import figures, own_table
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, write_table, write_text

threads.limit_process(1)
with plain_errors(snakemake.log), style(snakemake.params.columns):
    params, output = snakemake.params, snakemake.output
    job = next(iter(params.jobs.values()))
    table = own_table.read(params.table, params.label, job["n_folds"], params.drop)
    predictions = own_table.compare(table, params.jobs, params.seed)
    summary = own_table.summary(predictions)
    if params.absent:
        titles = ", ".join(params.names[name] for name in params.absent)
        table.remarks.append(f"Not installed, and left out: {titles} (`pip install -e '.[comparison]'`).")
    about = environment.describe()
    notes = own_table.notes(table, job["max_rows"])
    notes += f"\n\nMeasured on {about['machine']['processor']}, with {environment.versions(about)}."
    text = own_table.markdown(summary, params.names, Path(params.table).stem, notes)
    save(figures.accuracy_and_log_loss(summary, params.names), [output.svg, output.pdf, output.png])
    write_table(output.predictions, predictions)
    write_text(output.md, text)
    write_table(output.csv, summary)
    print(f"\n{text}\n{output.md}\n{output.svg}\n{output.predictions}")
