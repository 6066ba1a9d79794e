"""Hold every claim against what this run measured."""

import json
from pathlib import Path

import pandas as pd

from skem.repro.config import documents
from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.ledger import stated_claims, summary, verdicts
from skem.repro.papers.pulford2022 import judges as pulford
from skem.repro.papers.pulford2022.evidence import Evidence
from skem.repro.papers.titsias2001 import judges as titsias
from skem.repro.papers.titsias2001.evidence import found_in

with plain_errors():
    stated = stated_claims.read(snakemake.input.claims, documents.read(snakemake.input.protocols))
    names = snakemake.params.datasets
    timed = [table for table in map(read_table, snakemake.input.timed) if len(table)]
    evidence = Evidence(
        dict(zip(names, map(read_table, snakemake.input.history), strict=True)),
        dict(zip(names, map(read_table, snakemake.input.seconds), strict=True)),
        pd.concat(timed, ignore_index=True) if timed else pd.DataFrame(),
        {Path(path).stem: json.loads(Path(path).read_text()) for path in snakemake.input.records},
        {row["id"]: float(row["value"]) for row in stated.to_dict("records") if row["kind"] == "number"},
    )

    found = found_in(snakemake.input.titsias, snakemake.input.titsias_records, snakemake.params.tables)
    built = {
        "pulford2022": lambda claim: pulford.judge(evidence, claim),
        "titsias2001": lambda claim: titsias.judge(found, claim),
    }

    def judge(claim):
        if claim["paper"] not in built:
            return verdicts.Judgement("cited" if claim["external"] == "yes" else "not built")
        return built[claim["paper"]](claim)

    table = summary.ledger(stated, judge)
    timing = table["quantity"].isin(verdicts.TIMED)
    for part, csv, md, title in (
        (table[~timing], snakemake.output.csv, snakemake.output.md, "What the papers claim"),
        (
            table[timing],
            snakemake.output.timing_csv,
            snakemake.output.timing_md,
            "What the papers claim about time",
        ),
    ):
        write_text(md, summary.to_markdown(title, part, list(built)))
        write_table(csv, part)
