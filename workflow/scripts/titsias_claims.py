"""Hold every claim of Titsias and Likas (2001) against what this run measured."""

from skem.repro.config import documents
from skem.repro.files import plain_errors, write_table, write_text
from skem.repro.ledger import stated_claims, summary, verdicts
from skem.repro.papers.titsias2001 import evidence, judges

with plain_errors():
    stated = stated_claims.read(snakemake.input.claims, documents.read(snakemake.input.protocols))
    found = evidence.found_in(snakemake.input.found, snakemake.input.records, snakemake.params.tables)
    own = stated[stated["paper"] == "titsias2001"]
    table = summary.ledger(own, lambda claim: judges.judge(found, claim))
    timed = table["quantity"].isin(verdicts.TIMED)
    text = summary.to_markdown("What Titsias and Likas (2001) claim", table[~timed], ["titsias2001"])
    write_text(snakemake.output.md, text)
    write_table(snakemake.output.csv, table[~timed])
    write_table(snakemake.output.timing, table[timed])
