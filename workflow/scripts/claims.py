"""Hold every claim of some papers, or all of them, against what was measured."""

from functools import partial

from skem.repro import papers
from skem.repro.config import documents
from skem.repro.files import plain_errors, write_table, write_text
from skem.repro.ledger import stated_claims, summary, verdicts

with plain_errors():
    params, output = snakemake.params, snakemake.output
    stated = stated_claims.read(
        snakemake.input.claims, documents.read(snakemake.input.protocols), papers.titles()
    )
    judges = {}
    for name, files in params.evidence.items():
        paper = papers.load(name)
        judges[name] = partial(paper.judge, paper.evidence(files, stated, params.settings[name]))

    def judge(claim):
        if claim["paper"] not in judges:
            return verdicts.Judgement("cited" if claim["external"] == "yes" else "not built")
        return judges[claim["paper"]](claim)

    if params.get("alone"):
        stated = stated[stated["paper"].isin(judges)]
    table = summary.ledger(stated, judge)
    timed = table["quantity"].isin(verdicts.TIMED)
    for part, prefix, title in (
        (table[~timed], "", params.title),
        (table[timed], "timing_", f"{params.title} about time"),
    ):
        if output.get(f"{prefix}md"):
            write_text(output[f"{prefix}md"], summary.to_markdown(title, part, list(judges)))
        write_table(output[f"{prefix}csv"], part)
