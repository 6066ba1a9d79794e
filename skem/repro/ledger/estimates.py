"""What was measured, as estimates with their spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

LEVEL = 0.95
BY_CHANCE = int(np.log2(2 / (1 - LEVEL)))
"""Test rows by which two models may differ, all in one direction, without McNemar's exact test telling them apart."""

Claim = Mapping[str, str]
"""A row of the ledger, every cell as printed."""


class NotRun(LookupError):
    """What a claim needs was not part of this run."""


def half_a_digit(printed: str) -> float:
    """Half a unit of the last printed digit: .005 of "97.48", .5 of "26"."""
    digits = printed.lower().partition("e")
    exponent = int(digits[2] or 0) - len(digits[0].partition(".")[2])
    return 0.5 * 10.0**exponent


def around(printed: str) -> float:
    """What "around" leaves open: a unit of the last printed digit, of a round number half of one of its last that is not 0.

    So "around 2" is 1 to 3, "around 96" 95 to 97, and "around 50" 45 to 55.
    """
    unit = 2 * half_a_digit(printed)
    digits = printed.lower().partition("e")[0]
    zeros = 0 if "." in digits else len(digits) - len(digits.rstrip("0"))
    return max(unit, 0.5 * unit * 10.0**zeros)


@dataclass(frozen=True)
class Estimate:
    """Something measured over runs.

    Attributes
    ----------
    mean, sd : float
        sd over runs; 0 for what is the same in every run, NaN where one run does not tell.
    n : int
    runs : Series or None
        The values by run, where two estimates with the same runs can be paired.
    protocol : str
    note : str
    dof : float or None
        Degrees of freedom of ``sd``, where they are not n - 1.
    grain : float
        By how much results may differ that are the same in every run and yet not told apart; see `fixed`.
    pool : object or None
        The same object for all estimates whose ``sd`` is one number; see `pooled`.
    """

    mean: float
    sd: float = 0.0
    n: int = 1
    runs: pd.Series | None = field(default=None, compare=False)
    protocol: str = ""
    note: str = ""
    dof: float | None = None
    grain: float = 0.0
    pool: object = field(default=None, compare=False)

    @classmethod
    def of(cls, runs: pd.Series, protocol: str = "", note: str = "") -> Estimate:
        """From the values of runs, indexed by run."""
        sd = float(runs.std(ddof=1)) if len(runs) > 1 else float("nan")
        return cls(float(runs.mean()), sd, len(runs), runs, protocol, note)

    @classmethod
    def fixed(cls, percent: float, n_test: int, protocol: str = "") -> Estimate:
        """Of a method without chance on a fixed test set: a few rows of it tell no two of them apart.

        On how many rows two such models disagree is not known, but on no fewer than their accuracies do. McNemar's
        exact test of so many rows, all in one direction, is the strictest that it can be.
        """
        return cls(percent, 0.0, 1, None, protocol, grain=100 * BY_CHANCE / n_test)

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd / np.sqrt(self.n)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of ``sd``."""
        return self.n - 1 if self.dof is None else self.dof

    def _with(self, other: Estimate, combine: Callable[[Any, Any], Any]) -> Estimate:
        """Paired where both have the same runs, so that the mean is always what the two means give."""
        protocol = self.protocol or other.protocol
        grain = max(self.grain, other.grain)
        if self.runs is not None and other.runs is not None and len(self.runs) > 1:
            common = self.runs.index.intersection(other.runs.index)
            if len(common) == len(self.runs) == len(other.runs):
                return Estimate.of(combine(self.runs[common], other.runs[common]), protocol)
        mean = combine(self.mean, other.mean)
        if self.error == 0 or other.error == 0:
            spread = other if self.error == 0 else self
            return Estimate(
                mean, spread.sd, spread.n, None, protocol, dof=spread.dof, grain=grain, pool=spread.pool
            )
        error = float(np.hypot(self.error, other.error))
        if self.pool is not None and self.pool is other.pool:  # one deviation, however often it is used
            return Estimate(mean, error, 1, None, protocol, dof=self.freedom, grain=grain, pool=self.pool)
        parts = [(e.error**4 / e.freedom) for e in (self, other) if e.error > 0 and e.freedom > 0]
        satterthwaite = error**4 / sum(parts) if parts else 0.0
        return Estimate(mean, error, 1, None, protocol, dof=satterthwaite, grain=grain)

    def __sub__(self, other: Estimate) -> Estimate:
        return self._with(other, lambda a, b: a - b)

    def __add__(self, other: Estimate) -> Estimate:
        return self._with(other, lambda a, b: a + b)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Of the mean; NaN where one run does not tell."""
        if self.sd == 0:
            return self.mean - self.grain, self.mean + self.grain
        if not self.freedom > 0:
            return float("nan"), float("nan")
        half = scipy.stats.t.ppf((1 + level) / 2, self.freedom) * self.error + self.grain
        return self.mean - half, self.mean + half


def pooled(settings: Sequence[Estimate]) -> list[Estimate]:
    """The same settings with one standard deviation, estimated from all: for many settings of few runs.

    Each has runs of its own, so degrees of freedom add up. Differences of one setting to many others do not: they share
    its runs, and a difference has no more than the deviation that both share. The pooled settings have no runs left to pair.
    """
    spread = [e for e in settings if e.freedom > 0]
    if not spread:
        return list(settings)
    freedom = sum(e.freedom for e in spread)
    sd = float(np.sqrt(sum(e.sd**2 * e.freedom for e in spread) / freedom))
    pool = object()
    return [replace(e, sd=sd, dof=freedom, runs=None, pool=pool) for e in settings]


def pooled_where_alike(estimate: Estimate, *families: tuple[str, Sequence[Estimate]]) -> Estimate:
    """With the standard deviation of the first family whose members are as spread as each other, and a note of which.

    Members are as spread as each other where a test of Brown and Forsythe does not tell at 5%. They may share their folds:
    degrees of freedom are Satterthwaite's, tr(S)^2 / tr(S^2) for each of S, the covariance of the members over runs,
    which counts what moves together once.

    Parameters
    ----------
    estimate : Estimate
    *families : (str, sequence of Estimate)
        What they have in common, and the members, all with the same runs; the widest family first.
    """
    for name, members in families:
        runs = pd.concat([e.runs for e in members if e.runs is not None], axis=1).dropna()
        if len(members) < 2 or len(runs) < 3:
            continue
        if scipy.stats.levene(*runs.to_numpy().T, center="median").pvalue < 1 - LEVEL:
            continue
        covariance = np.cov(runs.to_numpy(), rowvar=False)
        if not np.trace(covariance) > 0:
            continue
        dof = (len(runs) - 1) * np.trace(covariance) ** 2 / np.sum(covariance**2)
        told = f"spread pooled over {len(members)} results, {name}, {dof:.0f} degrees of freedom"
        note = "; ".join(filter(None, [estimate.note, told]))
        return replace(estimate, sd=float(np.sqrt(np.diag(covariance).mean())), dof=float(dof), note=note)
    return estimate


def mean(estimates: Sequence[Estimate]) -> Estimate:
    """Of several estimates, run by run."""
    table = pd.concat([e.runs for e in estimates if e.runs is not None], axis=1)
    if table.shape[1] < len(estimates):
        raise ValueError("the mean of estimates without runs has no spread")
    return Estimate.of(table.dropna().mean(axis=1), estimates[0].protocol)


def reduction(less: pd.Series, more: pd.Series, protocol: str = "", note: str = "") -> Estimate:
    """By how many percent one mean over runs is below another: 100 (1 - mean(less) / mean(more)).

    The means are taken before their ratio, and the spread is that of the ratio to first order.
    """
    common = less.index.intersection(more.index)
    a, b = less[common], more[common]
    ratio = a.mean() / b.mean()
    by_run = 100 * (1 - ratio - (a - ratio * b) / b.mean())
    return Estimate.of(by_run, protocol, note)


def maximum(settings: Mapping[str, Estimate], alike: Sequence[str]) -> Estimate:
    """The best of several settings, each tried once, averaged over the runs that all of them have.

    The spread is that of one setting, pooled over those named ``alike``: a few runs do not show that of a maximum,
    which is smaller.
    """
    runs = pd.concat([e.runs for e in settings.values() if e.runs is not None], axis=1).dropna()
    best = runs.max(axis=1)
    spread = pooled([settings[name] for name in alike])[0]
    protocol = next(iter(settings.values())).protocol
    return Estimate(float(best.mean()), spread.sd, len(best), None, protocol, dof=spread.freedom)
