"""What was measured of the classifier and of those beside it, from its jobs."""

from pathlib import Path

import numpy as np
import pandas as pd

from skem.repro.files import plain_errors, read_arrays, read_table, write_table
from skem.repro.frontier import summary


def together(paths):
    """The tables of several files, those without rows left out."""
    tables = [table for table in map(read_table, paths) if len(table)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


with plain_errors():
    inputs, outputs = snakemake.input, snakemake.output
    predicted, y_test = {}, {}
    for path in map(Path, inputs.predictions):
        arrays = read_arrays(path)
        if arrays:
            predicted[path.parent.name, path.stem] = arrays["predicted"]
            y_test[path.parent.name] = np.unique(arrays["y_test"], return_inverse=True)[1]
    write_table(outputs.images, summary.beside_machine(together(inputs.images), predicted, y_test))
    write_table(outputs.images_timing, together(inputs.seconds))
    write_table(outputs.tables, together(inputs.tables))
    write_table(outputs.tables_timing, together(inputs.tables_seconds))
