"""Hold every claim of Titsias and Likas (2001) against what this run measured."""

import json
from pathlib import Path

from skem import claims, configuration, titsias
from skem.files import plain_errors, read_table, write_table, write_text

with plain_errors():
    stated = claims.read(snakemake.input.claims, configuration.read(snakemake.input.protocols))
    found = titsias.Found(
        read_table(snakemake.input.errors),
        read_table(snakemake.input.examples),
        {Path(path).stem: json.loads(Path(path).read_text()) for path in snakemake.input.records},
        snakemake.params.tables,
    )
    own = stated[stated["paper"] == "titsias2001"]
    table = claims.ledger(own, lambda claim: titsias.judge(found, claim))
    text = claims.to_markdown("What Titsias and Likas (2001) claim", table, ["titsias2001"])
    write_text(snakemake.output.md, text)
    write_table(snakemake.output.csv, table)
