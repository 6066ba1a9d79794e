"""Which feature goes to which block (Pulford 2022, sections 2.3 and 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np

ARRANGEMENTS = ("sequential", "interleaved", "random")


def blocks(
    n_features: int,
    n_blocks: int,
    arrangement: str | Sequence[Sequence[int]],
    random_state: np.random.RandomState,
    block_size: int | None = None,
) -> list[np.ndarray]:
    """Feature indices of each block.

    Parameters
    ----------
    n_features : int
    n_blocks : int
        R; without ``block_size`` at most one block per feature is made, and where R does not divide the number of
        features, the first blocks get one feature more.
    arrangement : {"sequential", "interleaved", "random"}, list of index lists or array of shape (R, m)
        Index lists are the user's choice: they may overlap or leave features out, and ``n_blocks`` is
        then not used. A block may not be empty or name a feature twice.
    random_state : RandomState
        Used by "random" only.
    block_size : int or None
        With "random": features of each block, which overlap where R times as many are more than there are.

    Returns
    -------
    list of ndarray of int

    Raises
    ------
    ValueError
        Blocks that are empty, too large, name features that are not there, or the same twice; ``block_size`` beside an
        arrangement that says how large blocks are.
    """
    if block_size is not None:
        if not isinstance(arrangement, str) or arrangement != "random":
            raise ValueError(
                'block_size is for blocks drawn at random: give arrangement="random" with it, or leave it None'
            )
        return _drawn(n_features, n_blocks, block_size, random_state)
    n_blocks = min(n_blocks, n_features)
    if isinstance(arrangement, str):
        if arrangement not in ARRANGEMENTS:
            raise ValueError(
                f"arrangement must be one of {ARRANGEMENTS} or a list of index lists, got {arrangement!r}"
            )
        if arrangement == "interleaved":
            return [np.arange(r, n_features, n_blocks) for r in range(n_blocks)]
        order = random_state.permutation(n_features) if arrangement == "random" else np.arange(n_features)
        return np.array_split(order, n_blocks)
    if len(arrangement) == 0:
        raise ValueError("arrangement: the list of blocks is empty")
    return [_checked(block, r, n_features) for r, block in enumerate(arrangement)]


def _drawn(
    n_features: int, n_blocks: int, block_size: int, random_state: np.random.RandomState
) -> list[np.ndarray]:
    """Blocks of random features; the numbers of blocks that two features are in differ by one at most."""
    if block_size > n_features:
        raise ValueError(f"block_size={block_size} is more than the number of features, {n_features}")
    used = np.zeros(n_features, dtype=int)
    drawn = []
    for _ in range(n_blocks):
        # Those used least come first, in random order.
        block = np.lexsort((random_state.permutation(n_features), used))[:block_size]
        used[block] += 1
        drawn.append(np.sort(block))
    return drawn


def _checked(block: Sequence[int], r: int, n_features: int) -> np.ndarray:
    try:
        indices = list(block)
    except TypeError:
        raise ValueError(f"arrangement: block {r} must be a list of feature indices, got {block!r}") from None
    if not indices:
        raise ValueError(f"arrangement: block {r} is empty")
    if not all(isinstance(i, Integral) and not isinstance(i, bool) for i in indices):
        raise ValueError(f"arrangement: block {r} must hold feature indices (integers), got {indices}")
    missing = sorted({int(i) for i in indices if not 0 <= i < n_features})
    if missing:
        raise ValueError(
            f"arrangement: block {r} names feature {missing[0]}, but there are {n_features} (0 to {n_features - 1})"
        )
    repeated = sorted({int(i) for i in indices if indices.count(i) > 1})
    if repeated:
        raise ValueError(f"arrangement: block {r} repeats feature {repeated[0]}")
    return np.array(indices, dtype=int)
