"""Render the results of a folder as one page."""

from pathlib import Path

from skem.repro.files import plain_errors, write_text
from skem.repro.report import page

with plain_errors(snakemake.log):
    path = Path(snakemake.output[0])
    write_text(path, page.write(page.Results(path.parent)))
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB; open it in a browser")
