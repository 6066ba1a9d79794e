"""Seconds per pass of engines that take turns on the same work."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from skem.engine.threads import Workers
from skem.repro.peers.engines import ENGINES, LOG_LIKELIHOOD_ROWS, Start, Work, mean_log_likelihood

ENOUGH_SECONDS, MOST_FITS = 0.3, 50
"""How long an engine is timed within a round: a fit of milliseconds alone says little."""


def compare(
    X: NDArray[Any],
    start: Start,
    n_threads: int,
    engines: Sequence[str],
    *,
    rounds: int,
    passes: tuple[int, int],
) -> list[dict[str, Any]]:
    """Seconds per pass of every engine, each beside the first one's.

    Parameters
    ----------
    X, start
        As ``draw`` returns them.
    n_threads : int
    engines : sequence of str
        Names in ``ENGINES``; they take turns, in an order that rotates.
    rounds : int
    passes : tuple of two ints
        Lengths of the short and the long fit.

    Returns
    -------
    list of dict
        One per engine, with a note alone where it failed; else seconds per pass, and the ratio to the first engine's in the same round, both as the
        median with its 95% interval; log_likelihood after the long fit.
    """
    work = Work(X, start, n_threads)
    short, long = passes
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    fitted: dict[str, Start] = {}
    failures: dict[str, str] = {}
    for name in engines:  # warms up, so that no engine is timed cold
        try:
            ENGINES[name].fit(work, long)
        except Exception as error:
            if name == engines[0]:
                raise
            failures[name] = failure(error)
    engines = [name for name in engines if name not in failures]
    for turn in range(rounds):
        for place in range(len(engines)):
            name = engines[(turn + place) % len(engines)]
            one, fitted[name] = time_a_pass(name, work, short, long)
            seconds[name].append(one)
    rows = []
    for name in engines:
        spent, first = np.array(seconds[name]), np.array(seconds[engines[0]])
        rows.append(
            {"engine": name}
            | median("seconds_per_pass", spent)
            | median("ratio", spent / first)
            | {"log_likelihood": mean_log_likelihood(X[:LOG_LIKELIHOOD_ROWS], fitted[name])}
        )
    return rows + [{"engine": name, "note": note} for name, note in failures.items()]


def failure(error: Exception) -> str:
    """The note on an engine that failed."""
    return f"failed: {(str(error).strip() or type(error).__name__).splitlines()[0]}"


def time_a_pass(engine: str, work: Work, short: int, long: int) -> tuple[float, Start]:
    """Seconds per pass, from fits of two lengths, and the parameters of the longer ones.

    Short fits are repeated until they have taken ``ENOUGH_SECONDS``: the median of their differences counts.
    """
    fit = ENGINES[engine].fit
    passes: list[float] = []
    spent = 0.0
    while not passes or (spent < ENOUGH_SECONDS and len(passes) < MOST_FITS):
        before = fit(work, short)[0]
        after, fitted = fit(work, long)
        passes.append((after - before) / (long - short))
        spent += before + after
    return float(np.median(passes)), fitted


def median(name: str, values: NDArray[np.float64]) -> dict[str, float]:
    """The median and the order statistics that hold it with 95% (all values, where there are few)."""
    ordered = np.sort(values)
    rank = max(int(binom.ppf(0.025, len(values), 0.5)) - 1, 0)
    return {
        name: float(np.median(values)),
        f"{name}_low": float(ordered[rank]),
        f"{name}_high": float(ordered[-1 - rank]),
    }


def seconds_per_pass(estimator: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    """Mean seconds of the passes of a fit, but for the first, which sets up, and the last, which does less."""
    fit = estimator.fit_passes(X, y)
    next(fit)
    begin = perf_counter()
    for _ in range(estimator.max_iter - 2):
        next(fit)
    seconds = perf_counter() - begin
    fit.close()
    return seconds / (estimator.max_iter - 2)


def product_rate(K: int, H: int, n_rows: int, dtype: str, n_threads: int, repeats: int = 5) -> float:
    """Floating-point operations per second of BLAS on as many operations as an iteration has: a limit to compare engines with.

    Products (K, H) by (H, block) and (K, block) by (block, H) of quadratic features, which ours does not make, by as many
    workers; the best of ``repeats``.
    """
    block = 512  # fastest of 256 to 3072 with 15 to 64 features
    blocks, turns = max(n_rows // block, 4 * n_threads), 8
    rng = np.random.default_rng(0)
    phi = [rng.standard_normal((H, block)).astype(dtype) for _ in range(2 * n_threads)]
    w = rng.standard_normal((K, H)).astype(dtype)

    def products(chunk: int) -> None:
        features = phi[chunk % len(phi)]
        for _ in range(turns):
            (w @ features) @ features.T

    best = np.inf
    with Workers(n_threads) as workers:
        for _ in range(repeats):
            begin = perf_counter()
            workers.map(products, range(-(-blocks // turns)))
            best = min(best, perf_counter() - begin)
    return 4.0 * K * H * block * turns * -(-blocks // turns) / best


def operations(N: int, m: int, K: int) -> float:
    """Floating-point operations of the two products of a pass: 4 N K H, H = 1 + m + m(m+1)/2."""
    return 4.0 * N * K * (1 + m + m * (m + 1) // 2)
