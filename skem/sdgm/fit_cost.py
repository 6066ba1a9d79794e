"""Memory and time of a sparse Bayesian fit, checked before it begins."""

from __future__ import annotations

from skem.engine.warn import warn
from skem.sdgm.memory import available_memory
from skem.sdgm.precision import operations_of_factor, takes_blocks
from skem.sdgm.sparse_bayes import LARGE

LONG = 60.0
"""Expected seconds from which a fit warns before it begins."""

SECONDS_PER_OPERATION = 8e-9
"""Seconds of a fit per operation of its first factor: measured, on one core, with 846 x 18 and 360 x 90 samples of 4 and 15 classes."""


def refuse_more_than_memory(
    n: int, n_columns: int, rank: int, n_components: int, other: tuple[str, int, int] | None
) -> None:
    """Raise MemoryError, with the size, where the first Newton step would not fit into the memory that is left.

    Parameters
    ----------
    n, n_columns, rank, n_components : int
        Samples, H, the most columns of a component's design, and S.
    other : tuple of str, int and int, or None
        Name, H and most columns of the other form of the same kernel.
    """
    memory, needed = available_memory(), _bytes_needed(n, n_columns, rank, n_components)
    if memory is None or needed <= memory:
        return
    advice = "train on fewer samples, or with fewer components or features"
    if other is not None and _bytes_needed(n, *other[1:], n_components) <= memory:
        advice = f'set form="{other[0]}", which fits'
    raise MemoryError(
        f"{(n_components - 1) * min(rank, n_columns)} weights of {n_components - 1} components for {n} samples take about "
        f"{needed / 2**30:.1f} GiB, and {memory / 2**30:.1f} are available: {advice}"
    )


def _bytes_needed(n: int, n_columns: int, rank: int, n_components: int) -> float:
    live = (n_components - 1) * min(rank, n_columns)
    factors = 3 * live**2
    if live > LARGE and takes_blocks(n, [rank] * (n_components - 1)):
        factors = 2 * live * rank + 3 * n**2
    return 8 * (n * n_columns + 2 * n * live + factors + 4 * n_components * n_columns)


def warn_of_long_fit(name: str, n: int, n_columns: int, rank: int, n_components: int) -> None:
    """Warn if the operations of the first Newton step promise a long fit; numbers as of `refuse_more_than_memory`."""
    seconds = SECONDS_PER_OPERATION * operations_of_factor(n, [rank] * (n_components - 1))
    if seconds > LONG:
        warn(
            f"{name} starts with {(n_components - 1) * n_columns} weights of {n_components - 1} components "
            f"for {n} samples, so the fit may take {seconds / 60:.0f} min or more of one core: use fewer components, fewer "
            'features (a PCA before it) or fewer samples. logging.basicConfig(level="INFO") shows its progress.',
        )
