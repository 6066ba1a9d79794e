"""Hold every claim of Titsias and Likas (2001) against what this run measured."""

from skem import claims, claims_file, configuration, titsias
from skem.files import plain_errors, write_table, write_text

with plain_errors():
    stated = claims_file.read(snakemake.input.claims, configuration.read(snakemake.input.protocols))
    found = titsias.found_in(snakemake.input.found, snakemake.input.records, snakemake.params.tables)
    own = stated[stated["paper"] == "titsias2001"]
    table = claims.ledger(own, lambda claim: titsias.judge(found, claim))
    timed = table["quantity"].isin(claims.TIMED)
    text = claims.to_markdown("What Titsias and Likas (2001) claim", table[~timed], ["titsias2001"])
    write_text(snakemake.output.md, text)
    write_table(snakemake.output.csv, table[~timed])
    write_table(snakemake.output.timing, table[timed])
