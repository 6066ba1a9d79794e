"""The page of what a run left."""

from pathlib import Path

from skem import report
from skem.files import plain_errors, write_text

with plain_errors():
    path = Path(snakemake.output[0])
    write_text(path, report.write(report.Results(path.parent), "workflow/report"))
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, to be opened in a browser")
