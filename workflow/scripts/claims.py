"""Hold every claim against what this run measured."""

import json
from pathlib import Path

import pandas as pd

from skem import claims, claims_file, configuration, pulford, titsias
from skem.evidence import Evidence
from skem.files import plain_errors, read_table, write_table, write_text

with plain_errors():
    stated = claims_file.read(snakemake.input.claims, configuration.read(snakemake.input.protocols))
    names = snakemake.params.datasets
    timed = [table for table in map(read_table, snakemake.input.timed) if len(table)]
    evidence = Evidence(
        dict(zip(names, map(read_table, snakemake.input.history), strict=True)),
        dict(zip(names, map(read_table, snakemake.input.seconds), strict=True)),
        pd.concat(timed, ignore_index=True) if timed else pd.DataFrame(),
        {Path(path).stem: json.loads(Path(path).read_text()) for path in snakemake.input.records},
        {row["id"]: float(row["value"]) for row in stated.to_dict("records") if row["kind"] == "number"},
    )

    found = titsias.found_in(
        snakemake.input.titsias, snakemake.input.titsias_records, snakemake.params.tables
    )
    built = {
        "pulford2022": lambda claim: pulford.judge(evidence, claim),
        "titsias2001": lambda claim: titsias.judge(found, claim),
    }

    def judge(claim):
        if claim["paper"] not in built:
            return claims.Judgement("cited" if claim["external"] == "yes" else "not built")
        return built[claim["paper"]](claim)

    table = claims.ledger(stated, judge)
    timing = table["quantity"].isin(claims.TIMED)
    for part, csv, md, title in (
        (table[~timing], snakemake.output.csv, snakemake.output.md, "What the papers claim"),
        (
            table[timing],
            snakemake.output.timing_csv,
            snakemake.output.timing_md,
            "What the papers claim about time",
        ),
    ):
        write_text(md, claims.to_markdown(title, part, list(built)))
        write_table(csv, part)
