"""Tables and figures of a part of the classifier comparison."""

from pathlib import Path

from skem.engine import threads
from skem.repro.comparison import configuration, figures, pages, summary
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table, write_text

threads.limit_process(1)
with plain_errors(snakemake.log), style(snakemake.params.columns):
    settings = configuration.read(snakemake.params.settings)
    part = snakemake.params.part
    values = {name: read_table(path) for name, path in snakemake.input.items()}
    tables = summary.tables(part, values)
    texts = pages.markdown(part, tables, settings)
    drawn = figures.draw(part, tables, settings)
    for path in map(Path, snakemake.output):
        name = path.stem.removeprefix("comparison_")
        if path.suffix == ".csv":
            write_table(path, drawn[name][0] if path.parent.name == "figures" else tables[name])
        elif path.suffix == ".md":
            write_text(path, texts[name])
        else:
            save(drawn[name][1], [path])
