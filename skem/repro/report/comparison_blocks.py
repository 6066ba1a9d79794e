"""Blocks of Markdown on the comparison with other classifiers: tables of the test group alone, and classes left out."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from skem.repro.comparison import configuration, pages, summary
from skem.repro.comparison.configuration import Part
from skem.repro.comparison.summary import OURS
from skem.repro.render.format import number, table
from skem.repro.report.reference import Reference
from skem.repro.training.classifiers import Classifier, entries

BOOSTING = ("lightgbm_search", "xgboost_search", "catboost", "hist_gradient_boosting")
"""Methods of which the summary has the best by log-loss."""


def _ranks(reference: Reference, part: Part = "test") -> pd.DataFrame:
    ranks = reference.table(f"comparison_{summary.ranks_of(part)}")
    return ranks.assign(rank=pd.to_numeric(ranks["rank"]))


def _titles(reference: Reference) -> dict[str, str]:
    return configuration.read(reference.config / "comparison.yaml").titles()


def test_summary(reference: Reference) -> str:
    """Return average ranks on the test tables of `OURS`, the other method that is best by accuracy, the SVM and the best `BOOSTING`."""
    own = _ranks(reference).pivot(index="method", columns="measure", values="rank")
    boosting = own["log_loss"].reindex(BOOSTING).dropna().sort_values(kind="stable").index[:1]
    other = own["accuracy"].drop(OURS).idxmin()
    own = own.loc[list(dict.fromkeys([OURS, other, summary.SVM, *boosting]))]
    shown = {
        f"rank by {label}": own[measure].map("{:.1f}".format)
        for measure, (label, _) in pages.MEASURES.items()
    }
    lines = pd.DataFrame({"method": own.index.map(_titles(reference)), **shown})
    return table(lines, padded=False)


def average_ranks(reference: Reference, part: Part) -> str:
    """Return average ranks on the tables of a part, and wins, ties and losses against `summary.COMPARED`."""
    blocks = pages.rank_blocks(part, _ranks(reference, part), _titles(reference))
    return "\n\n".join(block if isinstance(block, str) else table(block, padded=False) for block in blocks)


def budgets(reference: Reference) -> str:
    """Return candidates and CPU seconds of all fits of each method, on test tables and on tables with categories."""
    names: dict[Part, str] = {part: f"values/comparison_{part}_timing" for part in ("test", "categories")}
    lines = {}
    for part, name in names.items():
        own = reference.table(name)
        seconds = pd.to_numeric(own["fit"]).groupby(own["method"], sort=False).sum()
        lines[f"seconds, {own['dataset'].nunique()} {pages.GROUP_TITLES[part]}"] = seconds
    seconds, known = pd.DataFrame(lines), entries()
    methods = [name for name in known if name in seconds.index]
    candidates = [_candidates(known[name]) for name in methods]
    shown = seconds.loc[methods].map(partial(number, digits=0))
    shown.insert(0, "candidates", candidates)
    return table(shown.rename(index=_titles(reference)).rename_axis("method").reset_index(), padded=False)


def _candidates(entry: Classifier) -> str:
    """Return the number of candidates of the common search; the classes of this project have searches of their own."""
    if entry.estimator.startswith("skem.estimators.discriminative"):
        return "its own"
    return str(math.prod(len(values) for values in entry.params.get("grid", {}).values()))


def left_out(reference: Reference) -> str:
    """Return the mean area under the ROC curve of each detector for classes left out of training."""
    scores = reference.table("comparison_left_out")
    scores = scores.assign(auroc=pd.to_numeric(scores["auroc"]))
    shown = pages.left_out(scores, _titles(reference))
    return shown if isinstance(shown, str) else table(shown.iloc[:, :3], padded=False)
