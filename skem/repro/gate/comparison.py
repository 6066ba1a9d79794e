"""The regression gate: what this checkout measures beside what the committed reference, or another revision, does.

Accuracies, log-likelihoods and numbers of passes have fixed seeds. On the platform of the reference they have to be
equal, bit for bit. Elsewhere the last digits of sums differ, and EM can end somewhere else: then a mean over runs
may differ by as much as independent starts would make it differ, judged by the spread that the reference recorded.

Times are never compared in seconds. This checkout, a base revision (that of the reference, unless one is named) and
the base once more take turns in fresh processes, and the median of their paired ratios is judged; the base against
itself says how much of it is noise. Where git does not have the base, times in units of a matrix product of the same
process stand beside those of the reference; those differ between machines of one name, so they only warn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
from llvmlite import binding
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t

SCHEMA = 1
"""Version of the reference file's layout."""

LEVEL = 0.99
"""Confidence that a whole table gives no false alarm, and that of each interval of a ratio."""

RESAMPLES = 2000
"""Bootstrap samples."""

COLUMNS = ("kind", "case", "quantity", "reference", "measured", "change", "noise", "verdict", "note")
"""Of the table: ``change`` and ``noise`` in the units of the quantity, for ratios as a share."""

IMPORT, DAG = "from skem import *", "building the DAG"
"""Cases of seconds each, which only warn."""

Record = dict[str, dict[str, list[float]]]
"""From case to quantity to one value per run."""


class RegressionError(ValueError):
    """What keeps the gate from judging, and the way out."""


def read_reference(path: str | Path) -> dict[str, Any]:
    """The committed reference.

    Returns
    -------
    dict
        schema, commit, platform, processor, accuracy (a `Record`), and timing: from case to one list of times in
        units of a matrix product per process.

    Raises
    ------
    RegressionError
        If it is missing, no JSON, or has another version's layout.
    """
    path = Path(path)
    if not path.exists():
        raise RegressionError(
            f"there is no {path}: make it with snakemake regress_update --cores all, and commit it"
        )
    try:
        reference = json.loads(path.read_text(encoding="utf-8"))
        schema = reference["schema"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise RegressionError(
            f"{path} is not a reference of the gate ({error}): restore it with git checkout -- {path}"
        ) from None
    if schema != SCHEMA:
        raise RegressionError(
            f"{path} has layout {schema}, this version reads {SCHEMA}: "
            "make it again with snakemake regress_update --cores all"
        )
    return reference


def platform_of(environment: Mapping[str, Any]) -> dict[str, Any]:
    """What the bits of a result depend on, from what `environment.describe` says.

    Two runs with the same platform agree to the last bit. numba compiles for the processor it finds, and one sums in vectors
    that are half as long as another's with the same instructions; all Zen are alike. Neither its exact name nor its number
    of cores counts.
    """
    packages = environment["packages"]
    compiled_for = numba.config.CPU_NAME or binding.get_host_cpu_name()  # type: ignore[attr-defined]
    simd = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[call-overload]
    return {
        "system": environment["machine"]["system"].split()[0]
        + " "
        + environment["machine"]["system"].split()[-1],
        "packages": {name: packages[name] for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "blas": sorted(
            f"{library['internal_api']} {library['version']} {library['architecture']}"
            for library in environment["libraries"]
            if library["user_api"] == "blas"
        ),
        "simd": sorted(simd.get("found", [])),
        "compiled for": re.sub(r"(?<=znver)\d+", "", compiled_for),
    }


def better_if(quantity: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither is."""
    if quantity in ("features", "n_components", "temperature"):
        return 0
    return -1 if quantity in ("inertia", "passes") or quantity.endswith("log_loss") else 1


def compare_accuracy(reference: Record, measured: Record, same_platform: bool) -> pd.DataFrame:
    """A verdict on each quantity of each case.

    Parameters
    ----------
    reference, measured : dict
        From case to quantity to one value per run, in the same order of runs.
    same_platform : bool
        Whether every bit has to be the same.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per case and quantity: "same" (to the bit, or within the noise), "changed" (other bits,
        the same mean), "worse", "better", "differs" (where neither more nor less is better), "new" (not in the
        reference), "not measured" (not in this run).

    Notes
    -----
    On another platform means of n runs may differ by t_{n-1} s sqrt(2 / n), with the s of the reference's runs: as
    if every start were drawn anew, which is more than rounding does. t is two-sided, at `LEVEL` over all
    comparisons of the table together.
    """
    pairs = [
        (case, quantity)
        for case in dict.fromkeys([*reference, *measured])
        for quantity in dict.fromkeys([*reference.get(case, {}), *measured.get(case, {})])
    ]
    both = [
        (case, quantity)
        for case, quantity in pairs
        if quantity in reference.get(case, {}) and quantity in measured.get(case, {})
    ]
    noise = {} if same_platform else _noise(reference, both)
    rows = []
    for case, quantity in pairs:
        before, now = (np.array(record.get(case, {}).get(quantity, [])) for record in (reference, measured))
        row: dict[str, Any] = {"kind": "accuracy", "case": case, "quantity": quantity, "note": ""}
        row |= {"reference": before.mean() if len(before) else np.nan}
        row |= {"measured": now.mean() if len(now) else np.nan, "noise": noise.get((case, quantity), 0.0)}
        row["change"] = np.nan
        if (case, quantity) not in both:
            row["verdict"] = "new" if len(now) else "not measured"
        elif len(before) != len(now):
            raise RegressionError(
                f"{case}: {len(now)} runs, the reference has {len(before)}: "
                "make it again with snakemake regress_update --cores all"
            )
        else:
            row["change"] = float((now - before).mean())
            row["verdict"] = _verdict(before, now, better_if(quantity), row["noise"], same_platform)
        rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _verdict(before: NDArray, now: NDArray, sign: int, noise: float, same_platform: bool) -> str:
    if np.array_equal(before, now):
        return "same"
    change = float((now - before).mean())
    if abs(change) <= noise:
        return "changed" if same_platform else "same"
    if sign == 0:
        return "differs"
    return "better" if sign * change > 0 else "worse"


def _noise(reference: Record, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Largest difference of two means that starts drawn anew explain."""
    alpha = (1 - LEVEL) / max(len(pairs), 1)
    noise = {}
    for case, quantity in pairs:
        values = np.array(reference[case][quantity])
        n = len(values)
        noise[case, quantity] = float(t.ppf(1 - alpha / 2, n - 1) * values.std(ddof=1) * np.sqrt(2 / n))
    return noise


def interval_of_median(rounds: ArrayLike, random_state: int = 0) -> tuple[float, float, float]:
    """Median of all values and its bootstrap interval at `LEVEL`.

    Parameters
    ----------
    rounds : array-like of shape (n_rounds, n_pairs)
        Rounds are drawn first, then values within them: processes differ from each other by more than passes
        within one do.
    random_state : int

    Returns
    -------
    median, low, high : float
    """
    rng = np.random.default_rng(random_state)
    values = np.asarray(rounds, dtype=float)
    n_rounds, n_pairs = values.shape
    drawn = rng.integers(n_rounds, size=(RESAMPLES, n_rounds, 1))
    within = rng.integers(n_pairs, size=(RESAMPLES, n_rounds, n_pairs))
    medians = np.median(values[drawn, within], axis=(1, 2))
    low, high = np.quantile(medians, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(np.median(values)), float(low), float(high)


def compare_times(times: pd.DataFrame, warn_only: Iterable[str] = ()) -> pd.DataFrame:
    """Base against head, case by case.

    Parameters
    ----------
    times : DataFrame
        round, pair, case, side ("base", "head" or "control", which is the base once more), seconds. Cases
        that only warn need no control.
    warn_only : iterable of str
        Cases whose slowdown is told and fails nothing.

    Returns
    -------
    DataFrame
        `COLUMNS`: ``change`` is the median of head / base - 1, ``noise`` the farthest that the interval of
        control / base is from 1. "slower" or "faster" where head differs from base and from the control, each time by
        the whole interval of their ratio; "inconclusive" where the control differs from its own equal, else "same".
        Seconds are medians.

    Raises
    ------
    RegressionError
        Where a pair lacks a side.

    Notes
    -----
    Two sides that are equal differ from a third by chance more often than from two. With the noise of a machine at
    work (processes that differ by 3%, passes by 5%) equal code is called slower in one case in 500 after 4 rounds of
    4 pairs, and 15% more time is seen in 86 of 100. The gate then adds 8 rounds of what looks slower, and judges all
    12: that leaves fewer than one false alarm in 2000, and 85 of 100 seen.
    """
    warn_only = set(warn_only)
    rows = []
    for case, part in times.groupby("case", sort=False):
        wide = _paired(case, part)

        def interval(side: str, other: str, wide: pd.DataFrame = wide) -> tuple[float, float, float]:
            return interval_of_median((wide[side] / wide[other]).unstack("pair").to_numpy())

        change, low, high = interval("head", "base")
        lows, highs, control_low, control_high = [low], [high], 1.0, 1.0
        if "control" in wide:
            _, control_low, control_high = interval("control", "base")
            _, other_low, other_high = interval("head", "control")
            lows.append(other_low)
            highs.append(other_high)
        verdict = "same"
        if not control_low <= 1 <= control_high:
            verdict = "inconclusive"
        elif min(lows) > 1:
            verdict = "slower (warning)" if case in warn_only else "slower"
        elif max(highs) < 1:
            verdict = "faster"
        noise = max(abs(control_low - 1), abs(control_high - 1))
        row: dict[str, Any] = {
            "kind": "time",
            "case": case,
            "quantity": "seconds",
            "noise": noise,
            "verdict": verdict,
        }
        row |= {"reference": wide["base"].median(), "measured": wide["head"].median(), "change": change - 1}
        note = f"head / base [{low:.3f}, {high:.3f}]"
        if "control" in wide:
            note += f", once more [{lows[1]:.3f}, {highs[1]:.3f}], base / base [{control_low:.3f}, {control_high:.3f}]"
        rows.append(row | {"note": f"{note}, {len(wide)} pairs"})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _paired(case: object, part: pd.DataFrame) -> pd.DataFrame:
    """Seconds of one case, a row per round and pair, a column per side; none may be missing."""
    wide = part.pivot(index=["round", "pair"], columns="side", values="seconds")
    pairs = pd.MultiIndex.from_product(
        [np.unique(part["round"]), np.unique(part["pair"])], names=wide.index.names
    )
    wide = wide.reindex(index=pairs, columns=sorted({"base", "head", *wide.columns}))
    for side, missing in wide.isna().sum().items():
        if missing:
            raise RegressionError(
                f"{case}: {missing} of {len(wide)} times of {side} are missing: run snakemake regress --cores all again"
            )
    return wide


def rates(times: pd.DataFrame) -> dict[str, list[float]]:
    """Times in units of a matrix product: per case, the median over pairs of each process.

    Parameters
    ----------
    times : DataFrame
        As for `compare_times`, with the product as "base".
    """
    found = {}
    for case, part in times.groupby("case", sort=False):
        wide = _paired(case, part)
        found[str(case)] = (wide["head"] / wide["base"]).groupby(level="round").median().tolist()
    return found


def compare_rates(
    reference: Mapping[str, Sequence[float]], measured: Mapping[str, Sequence[float]], same_machine: bool
) -> pd.DataFrame:
    """Times in units of a matrix product against those of the reference, one value per process.

    Parameters
    ----------
    reference, measured : mapping of str to sequence of float
    same_machine : bool
        Whether processor and platform have the names of the reference's; on others nothing is said.

    Returns
    -------
    DataFrame
        `COLUMNS`: "slower (warning)" where every process is slower than all of the reference, "faster" where every
        one is faster than all; ``noise`` is the largest of the reference over its median, less 1. n among N + n
        processes of one machine are so with probability 1 / binom(N + n, n), but a machine of the same name may have
        other caches and other neighbours: equal code was 10% slower there.
    """
    rows = []
    for case in dict.fromkeys([*reference, *measured]):
        before, now = (np.array(values.get(case, []), dtype=float) for values in (reference, measured))
        row: dict[str, Any] = {"kind": "time", "case": case, "quantity": "products", "note": ""}
        row |= {"reference": np.median(before) if len(before) else np.nan}
        row |= {"measured": np.median(now) if len(now) else np.nan}
        row["change"] = row["measured"] / row["reference"] - 1
        row["noise"] = before.max() / row["reference"] - 1 if len(before) else np.nan
        if not len(before) or not len(now):
            row["verdict"] = "new" if len(now) else "not measured"
        elif not same_machine:
            row |= {"verdict": "not judged", "note": "the reference is from another machine"}
        else:
            row["verdict"] = "slower (warning)" if now.min() > before.max() else "same"
            if now.max() < before.min():
                row["verdict"] = "faster"
        rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))
