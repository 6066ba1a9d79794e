"""Partition of features into blocks (Pulford 2022, sections 2.3 and 3.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skem.engine.given_start import checked_indices

ARRANGEMENTS = ("sequential", "interleaved", "random")


def blocks(
    n_features: int,
    n_blocks: int,
    arrangement: str | Sequence[Sequence[int]],
    random_state: np.random.RandomState,
    block_size: int | None = None,
) -> list[np.ndarray]:
    """Return the feature indices of each block.

    Parameters
    ----------
    n_features : int
    n_blocks : int
        Number of blocks R. The first blocks get one feature more if R does not divide the number of features.
    arrangement : {"sequential", "interleaved", "random"}, list of index lists or array of shape (R, m)
        Index lists may overlap or leave features out; ``n_blocks`` is then ignored.
    random_state : RandomState
        Source of randomness of "random".
    block_size : int or None
        Number of features per block, for "random" only. Blocks overlap if R times this number exceeds ``n_features``.

    Returns
    -------
    list of ndarray of int

    Raises
    ------
    ValueError
        More blocks than features without ``block_size``; blocks that are empty, too large, or name unknown features or a
        feature twice; ``block_size`` with another arrangement than "random".
    """
    if block_size is not None:
        if not isinstance(arrangement, str) or arrangement != "random":
            raise ValueError(
                f'block_size={block_size} requires arrangement="random"; set that, or block_size=None.'
            )
        return _random_blocks(n_features, n_blocks, block_size, random_state)
    if not isinstance(arrangement, str):
        if len(arrangement) == 0:
            raise ValueError("arrangement is an empty list; give the feature indices of at least one block.")
        return [
            checked_indices(f"arrangement: block {r}", block, n_features)
            for r, block in enumerate(arrangement)
        ]
    if n_blocks > n_features:
        raise ValueError(f"n_blocks={n_blocks} exceeds the {n_features} features; use at most {n_features}.")
    if arrangement == "interleaved":
        return [np.arange(r, n_features, n_blocks) for r in range(n_blocks)]
    order = random_state.permutation(n_features) if arrangement == "random" else np.arange(n_features)
    return np.array_split(order, n_blocks)


def _random_blocks(
    n_features: int, n_blocks: int, block_size: int, random_state: np.random.RandomState
) -> list[np.ndarray]:
    """Draw blocks of random features; the numbers of blocks that hold two features differ by at most one."""
    if block_size > n_features:
        raise ValueError(
            f"block_size={block_size} exceeds the {n_features} features; use at most {n_features}."
        )
    n_uses = np.zeros(n_features, dtype=int)
    result = []
    for _ in range(n_blocks):
        # Take the least used features, ties in random order.
        block = np.lexsort((random_state.permutation(n_features), n_uses))[:block_size]
        n_uses[block] += 1
        result.append(np.sort(block))
    return result
