"""The smallest number of iterations that is enough, and how well the runs determine it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from skem.repro.ledger.decisions import Comparison
from skem.repro.ledger.estimates import Estimate


class Enough(NamedTuple):
    """The smallest number that is enough, and its 95% interval, among the numbers tried."""

    number: float
    low: float
    high: float

    def __str__(self) -> str:
        interval = f" ({self.low:g} to {self.high:g})" if self.low < self.high else ""
        return f"{self.number:g}{interval}"


def enough(curve: Mapping[int, Estimate]) -> Enough:
    """Return the smallest number from which no larger one gains as much as another initialisation does.

    The margin is one standard deviation over initialisations, pooled over the curve. A number is shown to be enough if the gain
    of each larger one is below the margin at 95%, and shown to fall short if one of them is above it (Bonferroni). The
    interval runs from the smallest number that is not shown to fall short to the smallest that is shown to be enough.
    ``curve`` has results by number, over the same initialisations.
    """
    margin = Estimate(float(np.sqrt(np.mean([e.sd**2 for e in curve.values()]))))
    numbers = sorted(curve)

    def short_of(n: int) -> list[Comparison]:
        return [Comparison(margin - (curve[m] - curve[n])) for m in numbers if m > n]

    def first(holds: Sequence[bool]) -> int:
        return numbers[holds.index(True)]

    others = [short_of(n) for n in numbers]
    return Enough(
        first([all(c.difference.mean > 0 for c in larger) for larger in others]),
        first([not any(c.fails(len(larger)) for c in larger) for larger in others]),
        first([all(c.holds() for c in larger) for larger in others]),
    )


def typical(found: Sequence[Enough]) -> Enough:
    """Return the number that is enough on more than half of the data sets."""
    numbers, lows, highs = (sorted(values) for values in zip(*found, strict=True))
    return Enough(float(np.median(numbers)), lows[(len(found) - 1) // 2], highs[len(found) // 2])


def smallest(found: Sequence[Enough]) -> Enough:
    """Return the number that is enough on at least one data set."""
    return Enough(*(min(values) for values in zip(*found, strict=True)))
