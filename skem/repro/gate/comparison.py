"""Comparison of accuracies with the reference, and of times with a base revision.

A comparison is a table with one row per case and quantity, and one verdict per row:

- "same": equal bits, or a difference within the noise;
- "changed": other bits but the same mean, on the platform of the reference;
- "worse", "better", "differs" (neither direction is better), "slower", "faster";
- "inconclusive": times of the base differ from each other;
- "new" (not in the reference), "not measured".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
import pandas as pd
from llvmlite import binding
from numpy.typing import NDArray
from scipy.stats import t

LEVEL = 0.99
"""Confidence that a table of accuracies gives no false alarm, and of each interval of a ratio of times."""

RESAMPLES = 2000
"""Bootstrap samples."""

COLUMNS = ["kind", "case", "quantity", "reference", "measured", "change", "noise", "verdict", "note"]
"""Columns of a comparison; ``change`` and ``noise`` are fractions for times, else in units of the quantity."""

RATIOS = (("head", "base"), ("head", "control"), ("control", "base"))
"""Compared sides of a timing."""

FAILING = ("worse", "differs", "slower", "not measured")
LESS_IS_BETTER = ("inertia", "iterations", "log_loss")
NEITHER_IS_BETTER = ("features", "n_components", "temperature")

Record = dict[str, dict[str, list[float]]]
"""From case to quantity to one value per run."""


def failed(table: pd.DataFrame) -> bool:
    """True if a quantity is worse or was not measured."""
    return bool(table["verdict"].isin(FAILING).any())


def platform_of(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Properties of `environment.describe` that determine the last bits of a result.

    numba compiles for a microarchitecture: with the same instructions, an Intel Xeon sums in shorter vectors than an AMD EPYC.
    All generations of Zen agree.
    """
    system, *_, instructions = environment["machine"]["system"].split()
    compiled_for = numba.config.CPU_NAME or binding.get_host_cpu_name()  # type: ignore[attr-defined]
    simd = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[call-overload]
    return {
        "system": f"{system} {instructions}",
        "packages": {
            name: environment["packages"][name] for name in ("numpy", "scipy", "scikit-learn", "numba")
        },
        "blas": sorted(
            f"{library['internal_api']} {library['version']} {library['architecture']}"
            for library in environment["libraries"]
            if library["user_api"] == "blas"
        ),
        "simd": sorted(simd.get("found", [])),
        "compiled for": re.sub(r"(?<=znver)\d+", "", compiled_for),
    }


def compare_accuracies(reference: Record, measured: Record, same_platform: bool) -> pd.DataFrame:
    """Compare each quantity run by run: to the bit on the same platform, else the means within a tolerance.

    On another platform EM may converge to another local optimum. The tolerance for n runs is t_{n-1} s sqrt(2 / n), where s is
    the standard deviation of the reference's runs: the difference of independent initialisations. t is the two-sided
    quantile at `LEVEL` for all comparisons together.
    """
    before, after = (
        {(case, quantity): np.array(x) for case, values in record.items() for quantity, x in values.items()}
        for record in (reference, measured)
    )
    alpha = (1 - LEVEL) / max(len(before.keys() & after.keys()), 1)
    rows = []
    for case, quantity in before | after:
        a, b = (record.get((case, quantity), np.array([np.nan])) for record in (before, after))
        if (case, quantity) not in before or (case, quantity) not in after:
            noise, verdict = 0.0, "new" if (case, quantity) in after else "not measured"
        elif len(a) != len(b):
            raise ValueError(
                f"{case}: {len(b)} runs, but the reference has {len(a)}; make it with snakemake regress_update --cores all"
            )
        else:
            n = len(a)
            tolerance = t.ppf(1 - alpha / 2, n - 1) * a.std(ddof=1) * np.sqrt(2 / n)
            noise = 0.0 if same_platform else tolerance
            verdict = _verdict(quantity, b - a, noise, same_platform)
        rows.append(("accuracy", case, quantity, a.mean(), b.mean(), (b - a).mean(), noise, verdict, ""))
    return pd.DataFrame(rows, columns=COLUMNS)


def _verdict(quantity: str, differences: NDArray[np.float64], noise: float, same_platform: bool) -> str:
    change = differences.mean()
    if abs(change) <= noise:
        return "changed" if same_platform and differences.any() else "same"
    if quantity in NEITHER_IS_BETTER:
        return "differs"
    return "better" if (change < 0) == (quantity in LESS_IS_BETTER) else "worse"


def compare_times(times: pd.DataFrame) -> pd.DataFrame:
    """Compare the times of `timing.measure` by medians of paired ratios.

    "slower" and "faster" need intervals of head / base and of head / control that exclude 1. ``noise`` is the largest deviation
    from 1 in the interval of control / base.

    On a busy machine (standard deviations: 3% between processes, 5% between times), 4 rounds of 4 pairs call equal code slower in
    one case in 500 and detect 15% more time in 86 of 100; with 8 more rounds for cases that look slower, in one in 2000 and 85.
    """
    rows = []
    for case, part in times.groupby("case", sort=False):
        seconds = part.pivot(index=["round", "pair"], columns="side", values="seconds")
        ratios = [seconds[a] / seconds[b] for a, b in RATIOS]
        medians, lows, highs = np.transpose(
            [interval_of_median(r.unstack("pair").to_numpy()) for r in ratios]
        )
        verdict = "same"
        if not lows[2] <= 1 <= highs[2]:
            verdict = "inconclusive"
        elif lows[:2].min() > 1:
            verdict = "slower"
        elif highs[:2].max() < 1:
            verdict = "faster"
        noise = max(abs(lows[2] - 1), abs(highs[2] - 1))
        base, head = seconds["base"].median(), seconds["head"].median()
        note = [
            f"{a} / {b} [{low:.3f}, {high:.3f}]"
            for (a, b), low, high in zip(RATIOS, lows, highs, strict=True)
        ]
        note.append(f"{len(seconds)} pairs")
        rows.append(("time", case, "seconds", base, head, medians[0] - 1, noise, verdict, ", ".join(note)))
    return pd.DataFrame(rows, columns=COLUMNS)


def interval_of_median(ratios: NDArray[np.float64]) -> tuple[float, float, float]:
    """Median of ratios of shape (n_rounds, n_pairs), and its bootstrap interval at `LEVEL`.

    Rounds are drawn first, then pairs within them: processes differ more than times within a process.
    """
    rng = np.random.default_rng(0)
    n_rounds, n_pairs = ratios.shape
    rounds = rng.integers(n_rounds, size=(RESAMPLES, n_rounds, 1))
    pairs = rng.integers(n_pairs, size=(RESAMPLES, n_rounds, n_pairs))
    medians = np.median(ratios[rounds, pairs], axis=(1, 2))
    low, high = np.quantile(medians, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(np.median(ratios)), float(low), float(high)
