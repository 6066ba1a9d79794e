"""Blocks of Markdown on the comparison with other classifiers: tables of the test group alone, and classes left out."""

from __future__ import annotations

import pandas as pd

from skem.repro.comparison import configuration, pages, summary
from skem.repro.render.format import number, table
from skem.repro.report.reference import Reference

RANKS = "comparison_test_ranks"
OURS = "discriminative_pskem_cv"
"""Method of the sentence, fixed before the test tables were run."""

BASELINES = {summary.BASELINES[name]: title for name, title in pages.BASELINE_TITLES.items()}
MEASURES = {"accuracy": "accuracy", "log_loss": "log-loss"}
NOT_RUN = "The comparison on test tables has not been run."


def _ranks(reference: Reference) -> pd.DataFrame:
    ranks = reference.table(RANKS) if reference.has(RANKS) else pd.DataFrame()
    return ranks.assign(rank=ranks["rank"].astype(float)) if len(ranks) else ranks


def _titles(reference: Reference) -> dict[str, str]:
    return configuration.read(reference.config / "comparison.yaml").titles()


def _critical(ranks: pd.DataFrame) -> str:
    critical = number(float(ranks["critical_difference"].iloc[0]), 1)
    return f"differences below {critical}, the critical difference (Nemenyi, 5%), are not significant"


def test_summary(reference: Reference) -> str:
    """Return sentences on `OURS` and `BASELINES` on the test tables, with the critical difference, wins, ties and losses."""
    ranks = _ranks(reference)
    if not len(ranks):
        return NOT_RUN
    names = {OURS: _titles(reference)[OURS]} | BASELINES
    parts, counts = [], []
    for measure, label in MEASURES.items():
        own = ranks[ranks["measure"] == measure].set_index("method")
        shown = [
            f"{number(own['rank'][name], 1)} ({title})" for name, title in names.items() if name in own.index
        ]
        parts.append(f"by {label} {', '.join(shown)}")
        won = pages.outcomes(own).reindex([OURS]).dropna(axis=1)
        against = [f"{cell} {column.split(maxsplit=1)[1]}" for column, cell in won.iloc[0].items()]
        counts += [f"by {label} {' and '.join(against)}"] if against else []
    n, k = ranks["n_datasets"].iloc[0], ranks["method"].nunique()
    sentence = f"Average ranks of {k} methods on {n} test tables: {'; '.join(parts)}; {_critical(ranks)}."
    return f"{sentence} Wins-ties-losses of {names[OURS]}: {'; '.join(counts)}." if counts else sentence


def test_ranks(reference: Reference) -> str:
    """Return average ranks on the test tables, and wins, ties and losses against `BASELINES`."""
    ranks, blocks = _ranks(reference), []
    if not len(ranks):
        return NOT_RUN
    titles = _titles(reference)
    for measure, label in MEASURES.items():
        own = ranks[ranks["measure"] == measure]
        lines = pd.DataFrame(
            {"method": own["method"].map(titles), "average rank": own["rank"].map("{:.1f}".format)}
        )
        head = f"Average rank by {label} on {own['n_datasets'].iloc[0]} test tables; {_critical(own)}:"
        blocks += [head, table(lines.join(pages.outcomes(own)), padded=False)]
    return "\n\n".join(blocks)


def left_out(reference: Reference) -> str:
    """Return the mean area under the ROC curve of each detector for classes left out of training."""
    scores = (
        reference.table("comparison_left_out") if reference.has("comparison_left_out") else pd.DataFrame()
    )
    if "auroc" not in scores:
        return "The comparison on classes left out has not been run."
    scores = scores.assign(auroc=pd.to_numeric(scores["auroc"]))
    shown = pages.left_out(scores, _titles(reference))
    return shown if isinstance(shown, str) else table(shown.iloc[:, :3], padded=False)
