"""What was measured, as estimates with their spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

LEVEL = 0.95

Claim = Mapping[str, str]
"""A row of the ledger, every cell as printed."""


class NotRun(LookupError):
    """What a claim needs was not part of this run."""


def half_a_digit(printed: str) -> float:
    """Half a unit of the last printed digit: .005 of "97.48", .5 of "26"."""
    digits = printed.lower().partition("e")
    exponent = int(digits[2] or 0) - len(digits[0].partition(".")[2])
    return 0.5 * 10.0**exponent


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
    """

    mean: float
    sd: float = 0.0
    n: int = 1
    runs: pd.Series | None = field(default=None, compare=False)
    protocol: str = ""
    note: str = ""
    dof: float | None = None

    @classmethod
    def of(cls, runs: pd.Series, protocol: str = "", note: str = "") -> Estimate:
        """From the values of runs, indexed by run."""
        sd = float(runs.std(ddof=1)) if len(runs) > 1 else float("nan")
        return cls(float(runs.mean()), sd, len(runs), runs, protocol, note)

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd / np.sqrt(self.n)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of ``sd``."""
        return self.n - 1 if self.dof is None else self.dof

    def _with(self, other: Estimate, combine: Callable[[Any, Any], Any]) -> Estimate:
        protocol = self.protocol or other.protocol
        if self.runs is not None and other.runs is not None:
            common = self.runs.index.intersection(other.runs.index)
            if len(common) > 1:
                return Estimate.of(combine(self.runs[common], other.runs[common]), protocol)
        if self.error == 0 or other.error == 0:
            spread = other if self.error == 0 else self
            return Estimate(
                combine(self.mean, other.mean), spread.sd, spread.n, None, protocol, dof=spread.dof
            )
        error = float(np.hypot(self.error, other.error))
        parts = [(e.error**4 / e.freedom) for e in (self, other) if e.error > 0 and e.freedom > 0]
        satterthwaite = error**4 / sum(parts) if parts else 0.0
        return Estimate(combine(self.mean, other.mean), error, 1, None, protocol, dof=satterthwaite)

    def __sub__(self, other: Estimate) -> Estimate:
        return self._with(other, lambda a, b: a - b)

    def __add__(self, other: Estimate) -> Estimate:
        return self._with(other, lambda a, b: a + b)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Of the mean; NaN where one run does not tell."""
        if self.sd == 0:
            return self.mean, self.mean
        if not self.freedom > 0:
            return float("nan"), float("nan")
        half = stats.t.ppf((1 + level) / 2, self.freedom) * self.error
        return self.mean - half, self.mean + half


def pooled(differences: Sequence[Estimate]) -> list[Estimate]:
    """The same differences with one standard deviation, estimated from all: for many settings of few runs."""
    freedom = sum(d.freedom for d in differences if d.freedom > 0)
    if not freedom:
        return list(differences)
    variance = sum(d.sd**2 * d.freedom for d in differences if d.freedom > 0) / freedom
    return [replace(d, sd=float(np.sqrt(variance)), dof=freedom) for d in differences]


def mean(estimates: Sequence[Estimate]) -> Estimate:
    """Of several estimates, run by run."""
    table = pd.concat([e.runs for e in estimates if e.runs is not None], axis=1)
    if table.shape[1] < len(estimates):
        raise ValueError("the mean of estimates without runs has no spread")
    return Estimate.of(table.dropna().mean(axis=1), estimates[0].protocol)


def maximum(settings: Mapping[str, Estimate], alike: Sequence[str]) -> Estimate:
    """The best of several settings, each tried once, averaged over the runs that all of them have.

    The spread is that of one setting, pooled over those named ``alike``: a few runs do not show that of a maximum,
    which is smaller.
    """
    runs = pd.concat([e.runs for e in settings.values() if e.runs is not None], axis=1).dropna()
    best = runs.max(axis=1)
    spread = [e for e in map(settings.__getitem__, alike) if e.freedom > 0]
    freedom = sum(e.freedom for e in spread)
    sd = float(np.sqrt(sum(e.sd**2 * e.freedom for e in spread) / freedom)) if freedom else float("nan")
    protocol = next(iter(settings.values())).protocol
    return Estimate(float(best.mean()), sd, len(best), None, protocol, dof=freedom)
