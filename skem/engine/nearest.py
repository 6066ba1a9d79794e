"""The loops of k-means, compiled: which centre is nearest to each row, and what follows from that.

See ``kernels`` for how rows are worked on in blocks. No loop depends on the number of threads.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import BLOCK, entry

CENTRES = 64
"""Centres per matrix product: its result, times ``BLOCK`` rows, stays in the processor's second cache."""


@entry
def assign(x, first, centres, halves, weights, labels, sums):
    """The nearest centre of each row, the first of several, and the sums of the rows of each centre.

    Parameters
    ----------
    x : ndarray of shape (m, N)
    first : int
        The first of n columns of ``x``, which are the rows.
    centres : ndarray of shape (K, m)
    halves : ndarray of shape (K,)
        |c|^2 / 2.
    weights : ndarray of shape (n,), float64
    labels : ndarray of int32, shape (n,)
        Overwritten.
    sums : ndarray of shape (m + 1, K), float64
        The weighted sums of the features are added, and in the last row the weights.

    Returns
    -------
    tuple of int and float
        How many labels changed, and the weighted sum of |c|^2 / 2 - c . x.
    """
    m, N, K = len(x), len(labels), len(centres)
    block, changed, total = min(BLOCK, N), 0, 0.0
    memory, rows = np.empty(min(CENTRES, K) * block, x.dtype), np.empty(m * block, x.dtype)
    least, place = np.empty(block, x.dtype), np.empty(block, x.dtype)
    for s in range(0, N, block):
        n = min(block, N - s)
        tile = rows[: m * n].reshape((m, n))
        for i in range(m):
            for t in range(np.uintp(n)):
                tile[i, t] = x[i, np.uintp(first + s) + t]
        for t in range(np.uintp(n)):
            least[t] = np.inf
            place[t] = 0
        for begin in range(0, K, CENTRES):
            k = min(CENTRES, K - begin)
            products = memory[: k * n].reshape((k, n))
            np.dot(centres[begin : begin + k], tile, products)
            i = 0
            while i + 2 <= k:
                # Numbers of centres as numbers of this type: labels and distances then fill vectors of the same length.
                a, b = x.dtype.type(begin + i), x.dtype.type(begin + i + 1)
                u, v = halves[begin + i], halves[begin + i + 1]
                for t in range(np.uintp(n)):
                    p, q = u - products[i, t], v - products[i + 1, t]
                    number, distance = b if q < p else a, q if q < p else p
                    place[t] = number if distance < least[t] else place[t]
                    least[t] = distance if distance < least[t] else least[t]
                i += 2
            if i < k:
                a, u = x.dtype.type(begin + i), halves[begin + i]
                for t in range(np.uintp(n)):
                    distance = u - products[i, t]
                    place[t] = a if distance < least[t] else place[t]
                    least[t] = distance if distance < least[t] else least[t]
        for t in range(np.uintp(n)):
            label = np.int32(place[t])
            changed += label != labels[s + t]
            labels[s + t] = label
            total += weights[s + t] * np.float64(least[t])
            sums[m, label] += weights[s + t]
        for i in range(m):
            for t in range(np.uintp(n)):
                sums[i, labels[s + t]] += weights[s + t] * np.float64(tile[i, t])
    return changed, total


@entry
def deviations(x, first, centres, weights, labels, farthest, places):
    """The weighted sum of squared distances between rows and their centres, and the farthest row of each centre.

    Parameters
    ----------
    x, first, weights, labels
        As for `assign`.
    centres : ndarray of shape (m, K), float64
    farthest : ndarray of shape (K,)
        The largest squared distance so far; raised.
    places : ndarray of int, shape (K,)
        Where that is, counted from the first row; overwritten where there is a larger one.
    """
    m, N, total = len(x), len(labels), 0.0
    squares = np.empty(min(BLOCK, N))
    for s in range(0, N, BLOCK):
        n = min(BLOCK, N - s)
        for t in range(np.uintp(n)):
            squares[t] = 0.0
        for i in range(m):
            for t in range(np.uintp(n)):
                deviation = np.float64(x[i, np.uintp(first + s) + t]) - centres[i, labels[s + t]]
                squares[t] += deviation * deviation
        for t in range(np.uintp(n)):
            total += weights[s + t] * squares[t]
            label = labels[s + t]
            if squares[t] > farthest[label]:
                farthest[label] = squares[t]
                places[label] = s + t
    return total


@entry
def closer(x, first, candidates, squares, closest):
    """The least of ``squares`` (n,) and of the squared distances to each candidate (q, m), written to ``closest`` (q, n)."""
    m, n = len(x), len(squares)
    for q in range(len(candidates)):
        for t in range(np.uintp(n)):
            closest[q, t] = 0.0
        for i in range(m):
            coordinate = candidates[q, i]
            for t in range(np.uintp(n)):
                deviation = np.float64(x[i, np.uintp(first) + t]) - coordinate
                closest[q, t] += deviation * deviation
        for t in range(np.uintp(n)):
            closest[q, t] = squares[t] if squares[t] < closest[q, t] else closest[q, t]
