"""Difference between two classifiers on the same test samples, from all of their runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

Predictions: TypeAlias = Mapping[str, NDArray[Any]]
"""Predictions and true classes of trials, as `skem.repro.training.histories.Histories` keeps them."""


def paired_test(gains: ArrayLike, discordant: ArrayLike, n_test: int) -> tuple[float, float]:
    """Test that two classifiers are equally accurate on average over runs; return the mean gain and a two-sided p.

    With one run this is McNemar's (1947) z = (b - c) / sqrt(b + c). Runs share the n test samples, so their counts are averaged and not
    added, and the spread over runs adds to the variance: mean(b + c) / n^2 + s^2 / R; p by Student's t with Satterthwaite's degrees
    of freedom. By run, ``gains`` are differences of accuracies as fractions, ``discordant`` the b + c samples that only one of the two
    classifies correctly (NaN where unknown).
    """
    gains = np.asarray(gains, dtype=float)
    gain, n_runs = float(gains.mean()), len(gains)
    known = np.asarray(discordant, dtype=float)
    known = known[~np.isnan(known)]
    over_samples = float(known.mean()) / n_test**2 if len(known) else np.nan
    over_runs = float(gains.var(ddof=1)) / n_runs if n_runs > 1 else 0.0
    variance = over_samples + over_runs
    if not variance:
        return gain, 1.0
    freedom = variance**2 * (n_runs - 1) / over_runs**2 if over_runs else np.inf
    return gain, float(2 * stdtr(freedom, -abs(gain) / np.sqrt(variance)))


def mcnemar_over_runs(ours: Predictions, best: Predictions, *, is_fixed: bool) -> dict[str, float]:
    """McNemar's counts, averaged over runs, and the p of `paired_test`.

    Runs with the same folds are paired. On a fixed test set (``is_fixed``) runs of ours that ``best`` does not have are paired
    with its first one.
    """
    first, second = _right(ours), _right(best)
    rest = second[min(second)] if is_fixed else None
    pairs = [(a, b) for run, a in first.items() if (b := second.get(run, rest)) is not None]
    ours_wrong = np.array([np.count_nonzero(~a & b) for a, b in pairs])
    best_wrong = np.array([np.count_nonzero(a & ~b) for a, b in pairs])
    n_test = len(pairs[0][0])
    p = paired_test((best_wrong - ours_wrong) / n_test, ours_wrong + best_wrong, n_test)[1]
    means = {"mcnemar_ours_wrong": ours_wrong.mean(), "mcnemar_best_wrong": best_wrong.mean()}
    return {name: float(mean) for name, mean in means.items()} | {"mcnemar_p": p}


def _right(found: Predictions) -> dict[int, NDArray[np.bool_]]:
    """Decisions that are correct, by run, over all folds; of models trained without the validation samples if there are any."""
    kind = "part" if any(name.startswith("part-") for name in found) else "all"
    trials = sorted(tuple(map(int, name.split("-")[1:])) for name in found if name.startswith(f"{kind}-"))
    right: dict[int, list[NDArray[np.bool_]]] = {}
    for run, fold in trials:
        right.setdefault(run, []).append(found[f"{kind}-{run}-{fold}"] == found[f"y-{run}-{fold}"])
    return {run: np.concatenate(folds) for run, folds in right.items()}
