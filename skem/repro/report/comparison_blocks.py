"""Blocks of Markdown on the comparison with other classifiers: tables of the test group alone, and classes left out."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from skem.repro.comparison import configuration, pages, summary
from skem.repro.comparison.configuration import Part
from skem.repro.comparison.pages import NOT_RUN
from skem.repro.comparison.summary import OURS
from skem.repro.render.format import number, table
from skem.repro.report.reference import Reference
from skem.repro.training.classifiers import Classifier, entries

BOOSTING = ("lightgbm_search", "xgboost_search", "catboost", "hist_gradient_boosting")
"""Methods of which the summary has the best by log-loss."""

MEASURES = {"accuracy": "accuracy", "log_loss": "log-loss"}


def _ranks(reference: Reference, part: Part = "test") -> pd.DataFrame:
    name = f"comparison_{summary.ranks_of(part)}"
    ranks = reference.table(name) if reference.has(name) else pd.DataFrame()
    return ranks.assign(rank=pd.to_numeric(ranks["rank"])) if len(ranks) else ranks


def _titles(reference: Reference) -> dict[str, str]:
    return configuration.read(reference.config / "comparison.yaml").titles()


def test_summary(reference: Reference) -> str:
    """Return average ranks of `OURS`, the SVM and the best `BOOSTING` on the test tables."""
    ranks = _ranks(reference)
    if not len(ranks):
        return NOT_RUN
    own = ranks.pivot(index="method", columns="measure", values="rank")
    boosting = own["log_loss"].reindex(BOOSTING).dropna().sort_values(kind="stable").index[:1]
    own = own.loc[[OURS, summary.SVM, *boosting]]
    shown = {f"rank by {label}": own[measure].map("{:.1f}".format) for measure, label in MEASURES.items()}
    lines = pd.DataFrame({"method": own.index.map(_titles(reference)), **shown})
    return table(lines, padded=False)


def average_ranks(reference: Reference, part: Part) -> str:
    """Return average ranks on the tables of a part, and wins, ties and losses against `summary.COMPARED`."""
    ranks, blocks = _ranks(reference, part), []
    if not len(ranks):
        return NOT_RUN
    titles = _titles(reference)
    for measure, label in MEASURES.items():
        own = ranks[ranks["measure"] == measure]
        lines = pd.DataFrame(
            {"method": own["method"].map(titles), "average rank": own["rank"].map(partial(number, digits=1))}
        )
        n_datasets, critical_difference = own.iloc[0][["n_datasets", "critical_difference"]].astype(float)
        head = (
            f"Average rank by {label} on {n_datasets:.0f} {pages.GROUP_TITLES[part]}; differences below "
            f"{critical_difference:.1f}, the critical difference (Nemenyi, 5%), are not significant:"
        )
        blocks += [head, table(lines.join(pages.outcomes(own)), padded=False)]
    return "\n\n".join(blocks)


def budgets(reference: Reference) -> str:
    """Return candidates and CPU seconds of all fits of each method, on test tables and on tables with categories."""
    names: dict[Part, str] = {part: f"values/comparison_{part}_timing" for part in ("test", "categories")}
    if not all(map(reference.has, names.values())):
        return NOT_RUN
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
    scores = (
        reference.table("comparison_left_out") if reference.has("comparison_left_out") else pd.DataFrame()
    )
    if "auroc" not in scores:
        return "The comparison on classes left out has not been run."
    scores = scores.assign(auroc=pd.to_numeric(scores["auroc"]))
    shown = pages.left_out(scores, _titles(reference))
    return shown if isinstance(shown, str) else table(shown.iloc[:, :3], padded=False)
