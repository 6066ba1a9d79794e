"""Estimates of measured quantities, with their spread over runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import scipy

from skem.repro.config.validation import suggestion

LEVEL = 0.95
BY_CHANCE = int(np.log2(2 / (1 - LEVEL)))
"""Test samples by which two models may differ, all in one direction, without significance in McNemar's exact test."""

CERTAIN = round(LEVEL / (1 - LEVEL))
"""Equal runs from which they are no coincidence: of so many and one more, the last is the odd one in at most 1 of 20 cases."""

Claim = Mapping[str, str]
"""A row of the claims table, every cell as printed."""

Name = TypeVar("Name")


def setting_of(claim: Claim) -> dict[str, str]:
    """Return a claim's setting by key: "n_components=4;lambda=0.5"; a word without a value stands for itself."""
    parts = (part.partition("=") for part in claim["setting"].split(";") if part)
    return {key: value or key for key, _, value in parts}


class NotRun(LookupError):
    """Results that a claim needs were not part of this run."""


class Unknown(ValueError):
    """A word in a row that nothing declares."""

    @classmethod
    def word(cls, kind: str, word: str, known: Iterable[str]) -> Unknown:
        """Name the known word that was probably meant."""
        return cls(f"{kind} {word!r} is unknown; {suggestion(word, known)}")


def half_a_digit(printed: str) -> float:
    """Return half a unit of the last printed digit: .005 of "97.48", .5 of "26"."""
    digits = printed.lower().partition("e")
    exponent = int(digits[2] or 0) - len(digits[0].partition(".")[2])
    return 0.5 * 10.0**exponent


def around(printed: str) -> float:
    """Return the half-width of "around": a unit of the last digit; of round numbers, half a unit of the last nonzero digit.

    So "around 2" is 1 to 3, "around 96" 95 to 97, and "around 50" 45 to 55.
    """
    unit = 2 * half_a_digit(printed)
    digits = printed.lower().partition("e")[0]
    zeros = 0 if "." in digits else len(digits) - len(digits.rstrip("0"))
    return max(unit, 0.5 * unit * 10.0**zeros)


@dataclass(frozen=True)
class Estimate:
    """A mean over runs."""

    mean: float
    sd: float = 0.0  # over runs; 0 for deterministic results, NaN for a single run
    n: float = 1  # runs; a fraction for a difference of means over other runs, so that `error` is right
    runs: pd.Series | None = field(default=None, compare=False)  # values by run; the same runs are paired
    protocol: str = ""
    note: str = ""
    dof: float | None = None  # degrees of freedom of ``sd``; None for n - 1
    grain: float = 0.0  # difference of deterministic results that is not distinguishable, see `fixed`
    pool: object = field(
        default=None, compare=False
    )  # identifies estimates that share one ``sd``, see `pooled`
    overlap: float = 0.0  # additional variance of the mean in units of ``sd`` squared, see `of_folds`
    # Standard deviation of the paper's trials, if it is not that of the runs; with degrees of freedom.
    spread: Estimate | None = field(default=None, compare=False)

    @classmethod
    def of(cls, runs: pd.Series, protocol: str = "", note: str = "") -> Estimate:
        """Estimate the mean of values, indexed by run."""
        sd = float(runs.std(ddof=1)) if len(runs) > 1 else float("nan")
        return cls(float(runs.mean()), sd, len(runs), runs, protocol, note)

    @classmethod
    def of_folds(cls, folds: pd.Series, protocol: str = "", note: str = "") -> Estimate:
        """Estimate the mean of values, indexed by fold, over all folds of one cross-validation.

        Folds share training samples, so the variance of the mean is larger than that of independent runs: s^2 (1/n + n_test/n_train), of which
        the ratio is 1/(n - 1) (Nadeau and Bengio 2003). Repetitions of a cross-validation are runs, and need no correction.
        """
        return replace(cls.of(folds, protocol, note), overlap=1 / max(len(folds) - 1, 1))

    @classmethod
    def fixed(cls, percent: float, n_test: int, protocol: str = "") -> Estimate:
        """Estimate the accuracy of a deterministic method on a fixed test set.

        The number of test samples on which two such models disagree is unknown, but at least the difference of their
        accuracies. If all are in one direction, McNemar's exact test is the strictest it can be.
        """
        return cls(percent, 0.0, 1, None, protocol, grain=100 * BY_CHANCE / n_test)

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd * np.sqrt(1 / self.n + self.overlap)

    def __format__(self, form: str) -> str:
        return format(self.mean, form)

    @property
    def low(self) -> float:
        """Lower end of `interval`."""
        return self.interval()[0]

    @property
    def high(self) -> float:
        """Upper end of `interval`."""
        return self.interval()[1]

    @property
    def freedom(self) -> float:
        """Degrees of freedom of ``sd``."""
        return self.n - 1 if self.dof is None else self.dof

    @property
    def n_runs(self) -> float:
        """Number of runs; NaN for a constant, and for a number that is derived from several means or spreads."""
        derived, constant = self.dof is not None, self.sd == self.grain == 0
        mixed = isinstance(self.n, float)
        return float("nan") if mixed or (self.n == 1 and (derived or constant)) else self.n

    def _with(self, other: Estimate, combine: Callable[[Any, Any], Any]) -> Estimate:
        """Combine with another estimate, paired if both have the same runs, so that the mean is that of the two means."""
        protocol, grain = self.protocol or other.protocol, max(self.grain, other.grain)
        if self.runs is not None and other.runs is not None and len(self.runs) > 1:
            common = self.runs.index.intersection(other.runs.index)
            if len(common) == len(self.runs) == len(other.runs):
                found = Estimate.of(combine(self.runs[common], other.runs[common]), protocol)
                return replace(found, overlap=max(self.overlap, other.overlap))
        mean = combine(self.mean, other.mean)
        if self.error == 0 or other.error == 0:
            spread = max(self, other, key=lambda e: (e.error != 0, e.n))
            return replace(spread, mean=mean, runs=None, protocol=protocol, note="", grain=grain)
        error, sd = (float(np.hypot(a, b)) for a, b in ((self.error, other.error), (self.sd, other.sd)))
        n, pool, freedom = (sd / error) ** 2, None, self.freedom
        if self.pool is not None and self.pool is other.pool:  # one standard deviation for both
            pool = self.pool
        else:
            parts = [(e.error**4 / e.freedom) for e in (self, other) if e.error > 0 and e.freedom > 0]
            freedom = error**4 / sum(parts) if parts else 0.0
        return Estimate(mean, sd, n, None, protocol, dof=freedom, grain=grain, pool=pool)

    def __sub__(self, other: Estimate) -> Estimate:
        if self is other:
            return Estimate(0.0, protocol=self.protocol)
        return self._with(other, lambda a, b: a - b)

    def __add__(self, other: Estimate) -> Estimate:
        return self._with(other, lambda a, b: a + b)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the confidence interval of the mean; NaN for a single run."""
        half = self.grain
        if self.sd != 0:
            half += float(scipy.special.stdtrit(self.freedom, (1 + level) / 2)) * self.error
        return self.mean - half, self.mean + half


def _by_run(estimates: Sequence[Estimate]) -> pd.DataFrame:
    return pd.concat([e.runs for e in estimates if e.runs is not None], axis=1).dropna()


def pooled(settings: Sequence[Estimate]) -> list[Estimate]:
    """Give estimates one standard deviation, estimated from all: for many configurations of few runs.

    Each has runs of its own, so degrees of freedom add up. Differences of one to many others do not: they share its runs, and
    a difference has no more than the standard deviation that both share. Pooled estimates have no runs left to pair.
    """
    spread = [e for e in settings if e.freedom > 0]
    if not spread:
        return list(settings)
    freedom = sum(e.freedom for e in spread)
    sd = float(np.sqrt(sum(e.sd**2 * e.freedom for e in spread) / freedom))
    pool = object()
    return [replace(e, sd=sd, dof=freedom, runs=None, pool=pool) for e in settings]


def below_best(candidates: Mapping[Name, Estimate], level: float = LEVEL) -> list[Name]:
    """Return the candidates whose mean is certainly below that of the best one.

    The best is only known after the runs, and could have been any of them: the level is shared among all pairs (Bonferroni). So if all
    are equal, one is returned with a probability of 5% at most.
    """
    best = max(candidates, key=lambda name: candidates[name].mean)
    pairs = len(candidates) * (len(candidates) - 1) // 2
    shared = 1 - (1 - level) / max(pairs, 1)
    return [name for name, e in candidates.items() if (candidates[best] - e).interval(shared)[0] > 0]


def mean(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of several estimates, run by run."""
    if any(e.runs is None for e in estimates):
        raise ValueError("the mean of estimates without runs has no spread")
    found = Estimate.of(_by_run(estimates).mean(axis=1), estimates[0].protocol)
    return replace(found, overlap=max(e.overlap for e in estimates))


def ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    """Return the ratio of two means by run, to first order: its mean is the ratio, its spread that of the ratio."""
    a, b = a.align(b, join="inner")
    of_means = a.mean() / b.mean()
    return of_means + (a - of_means * b) / b.mean()


def maximum(settings: Mapping[str, Estimate], pooled_names: Sequence[str]) -> Estimate:
    """Estimate the best of several configurations, each tried once, over the runs that all have.

    The spread is that of one configuration, pooled over those in ``pooled_names``: a few runs do not show the smaller spread of a
    maximum.
    """
    best = _by_run(list(settings.values())).max(axis=1)
    spread = pooled([settings[name] for name in pooled_names])[0]
    protocol = next(iter(settings.values())).protocol
    return Estimate(float(best.mean()), spread.sd, len(best), None, protocol, dof=spread.freedom)
