"""The loops of k-means, compiled: which centre is nearest to each row, and what follows from that.

They read rows as users give them, of shape (n, m), float32 or float64, in C order: x becomes (x - shift) / scale. See
``kernels`` for how rows are worked on in blocks. No loop depends on the number of threads.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import BLOCK, compiled, entry, reduction

CENTRES = 64
"""Centres per matrix product: its result, times ``BLOCK`` rows, stays in the processor's second cache."""

FLOAT64_ROUNDING = 2.0**-29
"""In roundings of float32."""


@compiled
def _smallest(rows, centres, halves, memory, least, second, place):
    """The smallest |c|^2 / 2 - c . x of each row, of what it is, the first of several, and the smallest of the others.

    ``rows`` (n, m), ``centres`` (K, m) and ``halves`` (K,) are of one type, and so are ``memory`` and the results.
    """
    n, K = len(rows), len(centres)
    for t in range(np.uintp(n)):
        least[t] = second[t] = np.inf
        place[t] = 0
    for begin in range(0, K, CENTRES):
        k = min(CENTRES, K - begin)
        products = memory[: k * n].reshape((k, n))
        np.dot(centres[begin : begin + k], rows.T, products)
        for i in range(k):
            # Numbers of centres as numbers of this type: labels and distances then fill vectors of the same length.
            number, half = rows.dtype.type(begin + i), halves[begin + i]
            for t in range(np.uintp(n)):
                distance = half - products[i, t]
                other = least[t] if distance < least[t] else distance
                second[t] = other if other < second[t] else second[t]
                place[t] = number if distance < least[t] else place[t]
                least[t] = distance if distance < least[t] else least[t]


@reduction
def _norm(row):
    total = row.dtype.type(0)
    for i in range(np.uintp(len(row))):
        total += row[i] * row[i]
    return np.sqrt(total)


@reduction
def _squared_distance(row, shift, scale, centre):
    total = 0.0
    for i in range(np.uintp(len(row))):
        deviation = (np.float64(row[i]) - shift[i]) / scale[i] - centre[i]
        total += deviation * deviation
    return total


@compiled
def _nearest(row, shift, scale, centres):
    """The centre at the smallest squared distance, the first of several."""
    place, least = 0, np.inf
    for k in range(len(centres)):
        square = _squared_distance(row, shift, scale, centres[k])
        if square < least:
            place, least = k, square
    return place


@entry
def assign(x, shift, scale, centres, weights, labels, sums, counts, exactly):
    """The nearest centre of each row, the first of several, and the sums of the rows of each centre.

    Products are of float32, and of float64 for rows that have two centres at distances closer than rounding may have put
    them; where that is so of float64, too, differences are squared. An inner product of m terms is off by up to m + 2 roundings
    of |c| |x|, whatever the order of its sum, and |c|^2 / 2 and the difference by one each.

    Parameters
    ----------
    x : ndarray of shape (n, m)
    shift, scale : ndarray of shape (m,)
    centres : ndarray of shape (K, m)
        In the units of (x - shift) / scale.
    weights : ndarray of shape (n,)
    labels : ndarray of int32, shape (n,)
        Overwritten.
    sums : ndarray of shape (K, m)
        The weighted sums of x - shift are added.
    counts : ndarray of shape (K,)
        The weights are.
    exactly : bool
        Take all products in float64.

    Returns
    -------
    tuple of int
        How many labels changed, and for how many rows float32 was not enough.
    """
    n_rows, m = x.shape
    K, block, changed, n_close = len(centres), min(BLOCK, n_rows), 0, 0
    inverse, centres32 = 1.0 / scale, centres.astype(np.float32)
    halves, halves32, longest = np.empty(K), np.empty(K, np.float32), 0.0
    for k in range(K):
        length = _norm(centres[k])
        longest = max(longest, length)
        halves[k] = 0.5 * length * length
        halves32[k] = halves[k]
    # For each of two distances; a hundredth is for what is of second order.
    rounding = 2.02 * 2.0**-24
    per_length, constant = rounding * (m + 6) * longest, rounding * longest * longest
    rows32, memory32 = np.empty((block, m), np.float32), np.empty(min(CENTRES, K) * block, np.float32)
    least32, second32 = np.empty(block, np.float32), np.empty(block, np.float32)
    place32 = np.empty(block, np.float32)
    rows, memory = np.empty((block, m)), np.empty(min(CENTRES, K) * block)
    least, second, place = np.empty(block), np.empty(block), np.empty(block)
    nearest, close = np.empty(block, np.int32), np.empty(block, np.intp)
    for s in range(0, n_rows, block):
        n, found = min(block, n_rows - s), 0
        if exactly:
            for t in range(n):
                close[t] = t
            found = n
        else:
            for t in range(n):
                for i in range(np.uintp(m)):
                    rows32[t, i] = (np.float64(x[s + t, i]) - shift[i]) * inverse[i]
            _smallest(rows32[:n], centres32, halves32, memory32, least32, second32, place32)
            for t in range(n):
                nearest[t] = np.int32(place32[t])
                gap = np.float64(second32[t]) - np.float64(least32[t])
                close[found] = t
                # Not the opposite comparison: what overflowed is not a number.
                found += not gap > per_length * _norm(rows32[t]) + constant
            n_close += found
        for j in range(found):
            for i in range(np.uintp(m)):
                rows[j, i] = (np.float64(x[s + close[j], i]) - shift[i]) / scale[i]
        if found:
            _smallest(rows[:found], centres, halves, memory, least, second, place)
        for j in range(found):
            nearest[close[j]] = np.int32(place[j])
            # Products lose rows that are far from zero and next to each other; differences do not.
            if not second[j] - least[j] > (per_length * _norm(rows[j]) + constant) * FLOAT64_ROUNDING:
                nearest[close[j]] = np.int32(_nearest(x[s + close[j]], shift, scale, centres))
        for t in range(n):
            label, weight = nearest[t], weights[s + t]
            changed += label != labels[s + t]
            labels[s + t] = label
            counts[label] += weight
            for i in range(np.uintp(m)):
                sums[label, i] += weight * (np.float64(x[s + t, i]) - shift[i])
    return changed, n_close


@entry
def deviations(x, shift, scale, centres, weights, labels, farthest, places):
    """The weighted sum of squared distances between rows and their centres, and the farthest row of each centre.

    Parameters
    ----------
    x, shift, scale, centres, weights, labels
        As for `assign`.
    farthest : ndarray of shape (K,)
        The largest squared distance so far; raised.
    places : ndarray of int, shape (K,)
        Where that is, counted from the first row; overwritten where there is a larger one.
    """
    total = 0.0
    for t in range(len(x)):
        label = labels[t]
        square = _squared_distance(x[t], shift, scale, centres[label])
        total += weights[t] * square
        if square > farthest[label]:
            farthest[label] = square
            places[label] = t
    return total


@entry
def closer(x, shift, scale, candidates, squares, closest):
    """The least of ``squares`` (n,) and of the squared distances to each candidate (q, m), written to ``closest`` (q, n)."""
    for t in range(len(x)):
        for q in range(len(candidates)):
            closest[q, t] = min(squares[t], _squared_distance(x[t], shift, scale, candidates[q]))
