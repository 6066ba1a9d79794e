"""The page of what a run left."""

from pathlib import Path

from skem.repro.files import plain_errors, write_text
from skem.repro.report import page

with plain_errors():
    path = Path(snakemake.output[0])
    write_text(path, page.write(page.Results(path.parent), "workflow/report"))
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, to be opened in a browser")
