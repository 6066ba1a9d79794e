"""Evaluators of Table 2, Figure 5 and the sentences about networks in Hayashi and Uchida (2021)."""

from __future__ import annotations

from dataclasses import replace

from skem.repro.ledger.estimates import Claim, Estimate
from skem.repro.ledger.stated_claims import setting_of
from skem.repro.ledger.verdicts import NOT_COMPARABLE, Comparison, Evaluation, all_of, greater, listed
from skem.repro.papers.hayashi2021.evaluators import DUPLICATES, EVALUATORS, beats, evaluates, measures
from skem.repro.papers.hayashi2021.evidence import Evidence
from skem.repro.papers.hayashi2021.settings import NETWORKS
from skem.repro.papers.measured import exactly

NEAR = 0.25
"""Relative difference within which errors count as of the same level."""

BASELINES = ("softmax", "softmax_l1", "large_margin_softmax")

# Statements about the last layer of any network are tested with ours; numbers, and statements about all six columns, are not.
EVALUATORS.not_comparable(
    "the paper gives neither the widths of this network nor its training",
    "table2.mnist_*",
    "table2.fashion_mnist.*",
)
EVALUATORS.not_comparable(
    "about all six columns of Table 2",
    *("sec4-2-2.beats_softmax", "sec4-2-2.best_on_average"),
)
_SIX = "about all six columns of Table 2, of which three are trained, with a network of our own"
EVALUATORS.settles(NOT_COMPARABLE, {"table2.mean.*": _SIX, "sec4-2-2.n_worse_than_dgmm": _SIX})


def _remark(evidence: Evidence) -> str:
    return (
        f"on {len(evidence.paper.images['data_sets'])} of the six columns of Table 2; {evidence.own_network}"
    )


@measures("table2.mean.sdgm")
def _by_definition(evidence: Evidence) -> Estimate:
    return exactly(1.0)


@measures("table2.*")
def _cell(evidence: Evidence, claim: Claim) -> Estimate:
    n_features, column = setting_of(claim).get("n_features"), claim["dataset"]
    for name, entry in evidence.paper.images["data_sets"].items():
        if (entry["source"], str(entry["n_features"])) == (claim["dataset"], n_features):
            column = name
    return evidence.network(column, claim["method"], "error")


def _differs(evidence: Evidence, column: str, method: str, measure: str = "error") -> Comparison:
    """Another last layer has more of a measure than SDGM."""
    ours, theirs = (evidence.network(column, name, measure) for name in ("sdgm", method))
    title = evidence.paper.images["data_sets"][column]["title"]
    return greater(theirs, ours, f"{measure} of {NETWORKS[method]} on {title}")


@evaluates("sec1.beats_fc_softmax", "sec4-2-2.beats_softmax", "sec5.beats_softmax")
def _beats_softmax(evidence: Evidence) -> Evaluation:
    """In each column that is run."""
    comparisons = [_differs(evidence, column, "softmax") for column in evidence.paper.images["data_sets"]]
    return all_of(comparisons, _remark(evidence))


def _beats_on_average(evidence: Evidence, *baselines: str) -> Evaluation:
    return beats(evidence.network_ratio, *baselines, form="{:.2f}", note=_remark(evidence))


evaluates("abstract.beats_softmax")(lambda e: _beats_on_average(e, *BASELINES))
evaluates("sec4-2-2.best_on_average")(lambda e: _beats_on_average(e, *BASELINES, "dgmm"))


@evaluates("sec4-2-2.same_level_sparse")
def _same_level(evidence: Evidence) -> Evaluation:
    """Errors like those of large-margin softmax and the mixture without elimination, and fewer weights than the latter."""
    comparisons = []
    for column in evidence.paper.images["data_sets"]:
        for method in ("large_margin_softmax", "dgmm"):
            theirs, difference = (
                evidence.network(column, method, "error"),
                _differs(evidence, column, method),
            )
            margin = Estimate((1 + NEAR) * theirs.mean - theirs.mean)
            comparisons.append(
                replace(difference, difference=difference.difference + margin, shown=difference.difference)
            )
        comparisons.append(_differs(evidence, column, "dgmm", "weights"))
    return all_of(
        comparisons,
        f"same level: error not larger by more than {NEAR:.0%}; fewer weights than the mixture that drops none; "
        f"{_remark(evidence)}",
    )


@evaluates("sec5.sparsity")
def _sparsity(evidence: Evidence) -> Evaluation:
    """Fewer weights, and on average smaller errors, than the dense counterparts.

    These are the dense form of SDGM in Table 1, which stands for MGP as well, and the discriminative GMM in Table 2.
    """
    weights = [
        greater(
            evidence.initial_weights(name, "mgp"), evidence.of(name, "sdgm", "weights"), f"weights on {name}"
        )
        for name in evidence.paper.data_sets
        if name != DUPLICATES
    ]
    weights += [
        _differs(evidence, column, "dgmm", "weights") for column in evidence.paper.images["data_sets"]
    ]
    tables = {
        "dense SDGM, Table 1": (evidence.relative("mgp"), evidence.relative("sdgm")),
        "discriminative GMM, Table 2": (evidence.network_ratio("dgmm"), evidence.network_ratio("sdgm")),
    }
    errors = [greater(dense, ours, name) for name, (dense, ours) in tables.items()]
    ratios = listed({name: dense for name, (dense, _) in tables.items()}, "{:.3f}")
    note = f"mean ratio of errors to SDGM's: {ratios}"
    return all_of([*errors, *weights], f"{note}; {_remark(evidence)}")


@evaluates("fig5.feature_shape")
def _shapes(evidence: Evidence) -> Evaluation:
    """Under softmax classes lie along rays from the origin, more than under SDGM, and overlap more."""
    comparisons, means = [], []
    for measure, title, more in (
        ("radial", "alignment with rays", "softmax"),
        ("silhouette", "silhouette", "sdgm"),
    ):
        both = {method: evidence.network("mnist_d2", method, measure) for method in ("softmax", "sdgm")}
        means.append(f"{title} {both['softmax'].mean:.2f} and {both['sdgm'].mean:.2f}")
        less = both.keys() - {more}
        comparisons.append(greater(both[more], both[less.pop()], title))
    return all_of(
        comparisons, f"of softmax and SDGM, means over seeds: {', '.join(means)}; {evidence.own_network}"
    )
