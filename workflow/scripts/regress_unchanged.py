"""Refuse to make a reference of files that no commit has."""

from skem.repro.files import plain_errors, write_text
from skem.repro.gate import revisions

with plain_errors():
    changed = revisions.changed_files()
    if changed:
        raise ValueError(
            f"uncommitted changes in {', '.join(changed[:5])}{' and others' if len(changed) > 5 else ''}: commit "
            "them first, so that the reference can name the commit it is of"
        )
    write_text(snakemake.output[0], f"{revisions.head()}\n")
