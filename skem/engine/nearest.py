"""Compiled loops of k-means: the nearest centre of each sample, sums of the samples of each centre, and seeds.

Entries hold no functions and no slices: numba compiles these loops in half the time.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import entry
from skem.engine.vectors import fma

TILE = 256
"""Samples per tile: up to some 50 features fit into the first-level cache."""

FEATURES, CENTRES = 4, 2
"""Features and centres of one turn of the innermost loop, to whose multiples they are padded with zeros."""

LEAST_GAP = np.float32(1e-30)
"""Minimum difference of two distances: squares of smaller ones may underflow in float32."""

LEAST_REACH = 1e-15
"""Minimum norm of the longest centre: products with smaller ones may underflow in float32."""

DOWN = np.float32(1 - 2.0**-20)
"""Factor of a number after a few operations in float32, so that it is not rounded upwards."""


@entry
def prepare(centres, previous, prepared):
    """Write what `assign` needs of centres (K, m), which were at ``previous`` (K, m) in its last call.

    Parameters
    ----------
    prepared : tuple of arrays
        The centres in float32, padded; halves of their squared norms in float32; the centres in float64 (m, K); and in float32
        upper bounds of what the moves take from the gaps of each centre's samples (K,).

    Returns
    -------
    reach : float
        Norm of the longest centre.
    """
    (K, m), (rounded, halves, exact, moves) = centres.shape, prepared
    longest, farthest = LEAST_REACH * LEAST_REACH, 0.0
    for k in range(K):
        square, move = 0.0, 0.0
        for i in range(m):
            centre = centres[k, i]
            step = centre - previous[k, i]
            rounded[k, i] = exact[i, k] = centre
            square += centre * centre
            move += step * step
        halves[k] = 0.5 * square
        moves[k] = 1.0001 * np.sqrt(move)
        longest = square if square > longest else longest
        farthest = move if move > farthest else farthest
    for k in range(K):
        moves[k] += np.float32(1.0001 * np.sqrt(farthest))
    return np.sqrt(longest)


@entry
def assign(samples, centres, results, scratch):
    """Assign samples to their nearest centres, or to the first of several, and add them to the sums of their centres.

    The gap of a sample is a lower bound of the distance to any other centre less that to the nearest one. A sample keeps its
    label until the moves of the centres add up to its gap. Then distances are computed in float32, and in float64 if the
    rounding of float32 may decide.

    Parameters
    ----------
    samples : tuple of x (n, m), weights (n,), shift (m,) and inverse (m,)
        The features become (x - shift) * inverse.
    centres : tuple
        Arrays of `prepare`. An additional centre is infinitely far. Then in float32 the relative rounding of a squared distance,
        and the norm of the longest centre.
    results : tuple of labels (n,), gaps (n,) and sums (K, m + 1)
        Labels and gaps are updated. Weighted sums of x - shift and, in the last column, the weights are added to ``sums``.
    scratch : tuple of arrays
        A tile (padded, TILE) with zeros in the last rows and six rows (TILE,) in float32, (K,) in float64, (TILE,) in int64.

    Returns
    -------
    n_changed : int
        Number of labels that changed.
    """
    (x, weights, shift, inverse), (rounded, halves, exact, moves, rounding, reach) = samples, centres
    (labels, gaps, sums), (tile, norms, least, second, place, s0, s1, squares, pending) = results, scratch
    (n_samples, m), (even, padded), (_, K), n_changed = x.shape, rounded.shape, exact.shape, 0
    s, stop, two = np.uintp(0), np.uintp(n_samples), np.float32(2)
    for t in range(stop):
        gaps[t] = DOWN * (gaps[t] - moves[np.uintp(labels[t])])
    while s < stop:
        n = np.uintp(0)
        while s < stop and n < np.uintp(TILE):
            pending[n] = s
            n += np.uintp(0 if gaps[s] > LEAST_GAP else 1)
            s += np.uintp(1)
        # All numbers of a vector register are computed, even if some are not used.
        filled = np.uintp((n + 31) // 32 * 32)
        for t in range(filled):
            norms[t] = place[t] = 0
            least[t] = second[t] = np.inf
        for i in range(np.uintp(m)):
            a, b = shift[i], inverse[i]
            for t in range(n):
                tile[i, t] = (np.float64(x[np.uintp(pending[t]), i]) - a) * b
            for t in range(filled):
                norms[t] = fma(tile[i, t], tile[i, t], norms[t])
        for k in range(np.uintp(0), np.uintp(even), np.uintp(CENTRES)):
            k1 = k + np.uintp(1)
            # Scores |c|^2 / 2 - x c, which are half the squared distances but for |x|^2 / 2.
            for t in range(filled):
                s0[t], s1[t] = halves[k], halves[k1]
            for i in range(np.uintp(0), np.uintp(padded), np.uintp(FEATURES)):
                i1, i2, i3 = i + np.uintp(1), i + np.uintp(2), i + np.uintp(3)
                a0, a1, a2, a3 = -rounded[k, i], -rounded[k, i1], -rounded[k, i2], -rounded[k, i3]
                b0, b1, b2, b3 = -rounded[k1, i], -rounded[k1, i1], -rounded[k1, i2], -rounded[k1, i3]
                for t in range(filled):
                    x0, x1, x2, x3 = tile[i, t], tile[i1, t], tile[i2, t], tile[i3, t]
                    s0[t] = fma(a3, x3, fma(a2, x2, fma(a1, x1, fma(a0, x0, s0[t]))))
                    s1[t] = fma(b3, x3, fma(b2, x2, fma(b1, x1, fma(b0, x0, s1[t]))))
            # Float indices keep all vectors at the same length.
            index, next_index = np.float32(k), np.float32(k1)
            for t in range(filled):
                score, next_score, first, other, label = s0[t], s1[t], least[t], second[t], place[t]
                larger, smaller = (first, score) if score < first else (score, first)
                label = index if score < first else label
                other = larger if larger < other else other
                larger, first = (smaller, next_score) if next_score < smaller else (next_score, smaller)
                place[t] = next_index if next_score < smaller else label
                second[t] = larger if larger < other else other
                least[t] = first
        # With u = 2^-24, two scores, or |x|^2 + 2 s, have errors of up to (m + 3) u (|x| + |c|)^2 in all.
        for t in range(filled):
            norm = np.sqrt(norms[t]) + reach
            limit = rounding * (norm * norm)
            distances = np.sqrt(norms[t] + two * least[t] + limit) + np.sqrt(
                norms[t] + two * second[t] + limit
            )
            norms[t] = DOWN * two * (second[t] - least[t] - limit) / distances
        for t in range(n):
            row, label, gap = np.uintp(pending[t]), np.int64(place[t]), norms[t]
            if (
                not gap > LEAST_GAP
            ):  # The negated comparison handles overflow, after which the gap is infinite or NaN.
                for k in range(np.uintp(K)):
                    squares[k] = 0
                for i in range(np.uintp(m)):
                    value = (np.float64(x[row, i]) - shift[i]) * inverse[i]
                    for k in range(np.uintp(K)):
                        difference = value - exact[i, k]
                        squares[k] = fma(difference, difference, squares[k])
                nearest, other = np.inf, 1e76
                for k in range(np.uintp(K)):
                    square = squares[k]
                    if square < nearest:
                        label, other, nearest = np.int64(k), nearest if nearest < other else other, square
                    elif square < other:
                        other = square
                # The rounding is also that of later distances, which are at most twice the second one.
                distance = np.sqrt(other)
                gap = DOWN * np.float32(distance - np.sqrt(nearest) - (m + 8) * 2.0**-49 * distance)
            n_changed += label != labels[row]
            labels[row] = label
            gaps[row] = gap
    for t in range(stop):
        label, weight = np.uintp(labels[t]), weights[t]
        for i in range(np.uintp(m)):
            sums[label, i] += weight * (np.float64(x[t, i]) - shift[i])
        sums[label, m] += weight
    return n_changed


@entry
def closer(samples, candidates, results, scratch):
    """Add each of some candidates to the seeds.

    Parameters
    ----------
    samples : tuple of features (m, n), weights (n,) and the index of the first of them among all N samples
    candidates : ndarray of shape (q, m)
    results : tuple of squares (q + 1, N), nearest and totals (q,)
        Row ``nearest`` of squares has the squared distances to the nearest seed. The other rows are overwritten by those after
        adding a candidate, and totals by their weighted sums.
    scratch : tuple of arrays (TILE,) and (q, TILE)
    """
    (x, weights, start), (squares, nearest, totals), (square, sums) = samples, results, scratch
    (q, m), n_samples = candidates.shape, len(weights)
    for k in range(q):
        for t in range(np.uintp(TILE)):
            sums[k, t] = 0
    for begin in range(0, n_samples, TILE):
        b, s = np.uintp(begin), np.uintp(start + begin)
        n = np.uintp(TILE if begin + TILE < n_samples else n_samples - begin)
        for k in range(q):
            for t in range(n):
                square[t] = 0
            for i in range(0, m - 3, 4):
                c0, c1, c2, c3 = (
                    candidates[k, i],
                    candidates[k, i + 1],
                    candidates[k, i + 2],
                    candidates[k, i + 3],
                )
                for t in range(n):
                    d0, d1, d2, d3 = (
                        x[i, b + t] - c0,
                        x[i + 1, b + t] - c1,
                        x[i + 2, b + t] - c2,
                        x[i + 3, b + t] - c3,
                    )
                    square[t] = fma(d3, d3, fma(d2, d2, fma(d1, d1, fma(d0, d0, square[t]))))
            for i in range(m - m % 4, m):
                c0 = candidates[k, i]
                for t in range(n):
                    square[t] += (x[i, b + t] - c0) * (x[i, b + t] - c0)
            row = k if k < nearest else k + 1
            for t in range(n):
                other = squares[nearest, s + t]
                least = square[t] if square[t] < other else other
                squares[row, s + t] = least
                sums[k, t] += weights[b + t] * least
    for k in range(q):
        totals[k] = 0
        for t in range(np.uintp(TILE)):
            totals[k] += sums[k, t]


@entry
def cumulate(order, weights, squares, sums):
    """Write the cumulative sums of weights times squares (n,), in an order of the samples, to ``sums``."""
    total = 0.0
    for t in range(np.uintp(len(order))):
        s = np.uintp(order[t])
        total += weights[s] * squares[s]
        sums[t] = total
