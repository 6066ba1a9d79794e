"""Comparison of accuracies with the reference, and of times with a base revision.

A comparison is a table with one row per case and quantity, and one outcome per row:

- "same": equal bits, or a difference within the tolerance;
- "changed": other bits but the same mean, on the platform of the reference;
- "flipped": a decision that rounding can flip, on another platform;
- "differs", for the worse or the better: with the same seeds a fault looks better as often as worse, and an improvement belongs in the
  reference;
- "slower", "faster";
- "not decided": the interval of a ratio of times is too wide;
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

from skem.repro.environment import numeric

LEVEL = 0.99
"""Confidence of an interval of a ratio of times."""

RESAMPLES = 2000
"""Bootstrap samples."""

COLUMNS = ["kind", "case", "quantity", "reference", "measured", "change", "noise", "outcome", "note"]
"""Columns of a comparison; ``change`` and ``noise`` are fractions for times, else in units of the quantity."""

MARGIN = 0.10
"""Change of a time that must not pass as none."""

SAFETY = 10.0
"""The tolerance over the largest difference between platforms that was measured for a quantity."""

LEAST_ROUNDING = 1e-8
"""Difference between platforms that a continuous quantity may have, relative to numbers above one. Some quantities of images differ by
more between kernels of OpenBLAS; these have a measured difference in the reference."""

FLIPPED_RUNS = 0.5
"""Share of the runs of a case in which rounding may flip a decision. The reference has the largest difference of those that it flips in more."""

CONTINUOUS = ("features", "inertia", "log_likelihood", "log_loss", "objective", "temperature")
"""Quantities that rounding changes by rounding. The others count decisions, and a fault that changes decisions alone changes the
log-loss or log-likelihood of the same case, too."""

PASSING = ("same", "changed", "flipped", "faster")

Record = dict[str, dict[str, list[float]]]
"""From case to quantity to one value per run."""

Roundings = Mapping[str, Mapping[str, float]]
"""From case to quantity to the largest difference between platforms in one run."""


def failed(table: pd.DataFrame, allowed: tuple[str, ...] = ()) -> bool:
    """True if an accuracy differs, a time is slower, or one was not compared, unless its outcome is ``allowed``."""
    return not table["outcome"].isin([*PASSING, *allowed]).all()


def platform_of(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Properties of `environment.describe` that determine the last bits of a result.

    numba compiles for a microarchitecture: with the same instructions, an Intel Xeon sums in shorter vectors than an AMD EPYC.
    All generations of Zen agree.
    """
    described = numeric(environment)
    compiled_for = numba.config.CPU_NAME or binding.get_host_cpu_name()  # type: ignore[attr-defined]
    simd = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[call-overload]
    return {
        **{key: described[key] for key in ("system", "packages")},
        "blas": sorted(
            f"{library['internal_api']} {library['version']} {library['architecture']}"
            for library in environment["libraries"]
            if library["user_api"] == "blas"
        ),
        "simd": sorted(simd.get("found", [])),
        "compiled for": re.sub(r"(?<=znver)\d+", "", compiled_for),
    }


def compare_accuracies(
    reference: Record, measured: Record, same_platform: bool, roundings: Roundings | None = None
) -> pd.DataFrame:
    """Compare each quantity run by run: to the bit on the same platform, else within `SAFETY` times the rounding.

    Both sides have the same seeds, so two correct builds differ by rounding. It is the larger of `LEAST_ROUNDING` and
    ``roundings``. A decision (a prediction, an iteration more) may flip in `FLIPPED_RUNS` of the runs, or by as much as ``roundings`` allow.
    """
    rows = []
    cases = reference | {case: values for case, values in measured.items() if case not in reference}
    for case in cases:
        before, after = reference.get(case, {}), measured.get(case, {})
        for quantity in before | after:
            a, b = (np.array(record.get(quantity, [np.nan])) for record in (before, after))
            noise, outcome = 0.0, "new" if quantity in after else "not measured"
            if quantity in before and quantity in after:
                if len(a) != len(b):
                    raise ValueError(
                        f"{case}: {len(b)} runs, but the reference has {len(a)}; make it with snakemake regress_update "
                        "--cores all"
                    )
                if not same_platform:
                    rounding = (roundings or {}).get(case, {}).get(quantity, 0.0)
                    noise = rounding
                    if quantity in CONTINUOUS:
                        noise = SAFETY * max(rounding, LEAST_ROUNDING * np.maximum(1.0, np.abs(a)).max())
                outcome = _outcome(quantity, a, b, noise, same_platform)
            rows.append(("accuracy", case, quantity, a.mean(), b.mean(), (b - a).mean(), noise, outcome, ""))
    return pd.DataFrame(rows, columns=COLUMNS)


def is_seldom(differences: NDArray[np.float64]) -> bool:
    """True if a decision differs in few runs, as rounding may cause in any case."""
    return bool((differences != 0).mean() <= FLIPPED_RUNS)


def _outcome(
    quantity: str, a: NDArray[np.float64], b: NDArray[np.float64], noise: float, same_platform: bool
) -> str:
    """Outcome on the runs ``b`` (n,) of a quantity beside those of the reference, ``a``."""
    differences = b - a
    if np.abs(differences).max() <= noise * (quantity in CONTINUOUS):
        return "same"
    if same_platform and differences.mean() == 0:
        return "changed"
    may_flip = is_seldom(differences) or np.abs(differences).max() <= noise
    if not same_platform and quantity not in CONTINUOUS and may_flip:
        return "flipped"
    return "differs"


def compare_times(times: pd.DataFrame) -> pd.DataFrame:
    """Compare the CPU times of `timing.measure` by the median of ratios, head / geometric mean of base and control.

    "slower" needs an interval above 1 + `MARGIN` / 2, and "same" another one below 1 + `MARGIN`. Anything else is "not decided", and so is a
    case whose control / base has no value within `MARGIN` / 2 of 1 in its interval. ``noise`` is the largest deviation from 1 in that interval.
    """
    rows = []
    for case, part in times.groupby("case", sort=False):
        seconds = part.pivot(index=["round", "pair"], columns="side", values="seconds")
        base = np.sqrt(seconds["base"] * seconds["control"])
        ratios = {
            "head / base": seconds["head"] / base,
            "control / base": seconds["control"] / seconds["base"],
        }
        (change, low, high), (_, control_low, control_high) = (
            interval_of_median(ratio.unstack("pair").to_numpy()) for ratio in ratios.values()
        )
        outcome = "not decided"
        if control_low <= 1 + MARGIN / 2 and control_high >= 1 - MARGIN / 2:
            if low > 1 + MARGIN / 2:
                outcome = "slower"
            elif high < 1 + MARGIN:
                outcome = "faster" if high < 1 - MARGIN / 2 else "same"
        noise = max(abs(control_low - 1), abs(control_high - 1))
        note = (
            f"head / base [{low:.3f}, {high:.3f}], control / base [{control_low:.3f}, {control_high:.3f}], "
            f"{len(seconds)} pairs"
        )
        median = base.median(), seconds["head"].median()
        rows.append(("time", case, "seconds", *median, change - 1, noise, outcome, note))
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
