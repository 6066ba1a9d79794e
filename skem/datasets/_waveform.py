"""Waves with noise: data that have a definition instead of a source (Breiman and others 1984, section 2.6.2)."""

from __future__ import annotations

import numpy as np

WAVES = ((0, 1), (0, 2), (1, 2))
"""The two waves that each of the three classes mixes; wave 0 has its peak in the middle."""


def waveform(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 21 features, and whether each is of the first class, which mixes the middle wave with the right one.

    x = u h_a + (1 - u) h_b + noise, with u uniform on [0, 1] and noise N(0, 1), rounded to two decimals: so the content is
    the same whatever the last digit of a logarithm.

    Parameters
    ----------
    n, seed : int

    Returns
    -------
    data : ndarray of shape (n, 21)
    target : ndarray of int, shape (n,)
        One for the first class, zero for the two others.
    """
    rng = np.random.RandomState(seed)
    position = np.arange(1, 22)
    waves = np.array([np.maximum(6 - np.abs(position - peak), 0) for peak in (11, 15, 7)])
    kind, share = rng.randint(3, size=n), rng.uniform(size=(n, 1))
    first, second = waves[np.array(WAVES)[kind].T]
    data = share * first + (1 - share) * second + rng.normal(size=(n, 21))
    return np.round(data, 2) + 0.0, (kind == 0).astype(np.int64)
