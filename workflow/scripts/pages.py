"""Render README.md and the pages of docs/templates with the numbers of the committed results."""

from skem.repro.files import plain_errors, write_text
from skem.repro.report import templates

with plain_errors(snakemake.log):
    changed = templates.changed()
    for page, text in changed.items():
        write_text(page, text)
    made = f"rendered {', '.join(map(str, changed))}"
    print(made if changed else "all pages are as their templates and results/reference")
