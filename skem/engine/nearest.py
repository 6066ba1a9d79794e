"""Compiled loops of k-means: the nearest centre of each sample, sums of the samples of each centre, and seeds.

Entries hold no functions and no slices: numba compiles these loops in half the time.
"""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import compiled, entry
from skem.engine.vectors import fma, lanes, load, splat, store, transpose

TILE = 256
"""Samples per tile: up to some 50 features fit into the first-level cache."""

LANES = 8
"""Numbers of the longest vector in float64, to whose multiples the sums of a centre are padded, and what `transpose` takes at a time."""

FEATURES, CENTRES = 4, 2
"""Features and centres of one turn of the innermost loop, to whose multiples they are padded with zeros."""

LEAST_GAP = np.float32(1e-30)
"""Minimum difference of two distances: squares of smaller ones may underflow in float32."""

LEAST_REACH = 1e-15
"""Minimum norm of the longest centre: products with smaller ones may underflow in float32."""

DOWN = np.float32(1 - 2.0**-20)
"""Factor of a number after a few operations in float32, so that it is not rounded upwards."""


@entry
def centre(x, shift, rows):
    """Write samples (n, m) less a shift (m,), and a last feature of ones, to ``rows`` (n, m + 1)."""
    n_samples, m = x.shape
    for t in range(np.uintp(n_samples)):
        for i in range(np.uintp(m)):
            rows[t, i] = np.float64(x[t, i]) - shift[i]
        rows[t, m] = 1.0


@compiled
def _move(sums, scale, model):
    """Move each centre to the mean of its samples, if it has any, and return the sum of the squared moves."""
    centres, (K, m), total = model[0], model[0].shape, 0.0
    for k in range(K):
        count = 0.0
        for c in range(len(sums)):
            count += sums[c, k, m]
        for i in range(m if count > 0 else 0):
            mean = 0.0
            for c in range(len(sums)):
                mean += sums[c, k, i]
            mean = mean / scale[i] / count
            total += (mean - centres[k, i]) * (mean - centres[k, i])
            centres[k, i] = mean
    return total


@compiled
def _prepare(model):
    """Write what follows from the centres."""
    centres, assigned, rounded, halves, exact, moves, reach = model
    (K, m), longest, farthest = centres.shape, LEAST_REACH * LEAST_REACH, 0.0
    for k in range(K):
        square, move = 0.0, 0.0
        for i in range(m):
            centre = centres[k, i]
            step = centre - assigned[k, i]
            rounded[k, i] = exact[i, k] = assigned[k, i] = centre
            square += centre * centre
            move += step * step
        halves[k] = 0.5 * square
        moves[k] = 1.0001 * np.sqrt(move)
        longest = square if square > longest else longest
        farthest = move if move > farthest else farthest
    for k in range(K):
        moves[k] += np.float32(1.0001 * np.sqrt(farthest))
    reach[0] = np.sqrt(longest)


@entry
def iterate(samples, model, results, limits, scratch):
    """Assign samples to their nearest centres, or to the first of several, after moving these to the means of their samples.

    The gap of a sample is a lower bound of the distance to any other centre less that to the nearest one. A sample keeps its
    label until the moves of the centres add up to its gap. Then distances are computed in float32, and in float64 if the
    rounding of float32 may decide.

    Parameters
    ----------
    samples : tuple
        Rows (n, m + 1) of `centre`, in memory that goes on for a vector; weights (n,); inverse (m or more,) and scale (m,).
    model : tuple
        Centres (K, m); those of the last assignment; in float32, padded, with an additional centre infinitely far, the centres and
        halves of their squared norms; the centres in float64 (m, K); and in float32 upper bounds of what the moves take from the gaps
        of each centre's samples (K,), and the norm of the longest centre (1,). All follow from the first.
    results : tuple
        Labels (n,), gaps (n,), and of each chunk the sums of w (x - shift) and w, (C, K, m + 1 or more), or (C, K, 0) for none. Updated.
    limits : tuple
        Number of iterations; zero if the centres are new, and stay, and -1 if the model has them. The sum of squared moves at which
        iterations end; they also end if no label changes, or a centre has no samples. Samples per chunk.
    scratch : tuple of arrays
        A tile (m or more, TILE) and six rows (TILE,) in float32, (K,) in float64, (TILE,) in int64. "Or more" is up to a multiple of LANES.

    Returns
    -------
    n_iter, n_changed, moved
        Iterations done, number of labels that changed and sum of the centres' squared moves in the last.
    """
    (x, weights, inverse, scale), (_, _, rounded, halves, exact, moves, reach) = samples, model
    (labels, gaps, sums), (n_iter, tol, size), n_samples = results, limits, len(results[0])
    tile, norms, least, second, place, s0, s1, squares, pending = scratch
    (even, padded), (m, K), done, moved = rounded.shape, exact.shape, 0, np.inf
    two, rounding, L = np.float32(2), np.float32(1.01 * 2.0**-24 * (m + 8)), lanes(sums)
    with_sums = sums.shape[2] > 0
    while True:
        if n_iter > 0:
            moved = _move(sums, scale, model)
            done += 1
        if n_iter >= 0:
            _prepare(model)
        n_changed, any_empty = 0, False
        for c in range(len(sums)):
            begin, stop = np.uintp(min(n_samples, c * size)), np.uintp(min(n_samples, (c + 1) * size))
            s = begin
            while s < stop:
                n = np.uintp(0)
                while s < stop and n < np.uintp(TILE):
                    gap = DOWN * (gaps[s] - moves[np.uintp(labels[s])])
                    gaps[s], pending[n] = gap, s
                    n += np.uintp(0 if gap > LEAST_GAP else 1)
                    s += np.uintp(1)
                # All numbers of a vector register are computed, even if some are not used.
                filled = np.uintp((n + 31) // 32 * 32)
                for t in range(filled):
                    norms[t] = place[t] = 0
                    least[t] = second[t] = np.inf
                for t in range(n, filled):
                    pending[t] = begin  # any sample
                for t in range(np.uintp(0), filled, np.uintp(LANES)):
                    for i in range(np.uintp(0), np.uintp(m), np.uintp(LANES)):
                        transpose(x, pending, t, i, inverse, np.uintp(m), tile)
                for i in range(np.uintp(m)):
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
                        larger, first = (
                            (smaller, next_score) if next_score < smaller else (next_score, smaller)
                        )
                        place[t] = next_index if next_score < smaller else label
                        second[t] = larger if larger < other else other
                        least[t] = first
                # With u = 2^-24, two scores, or |x|^2 + 2 s, have errors of up to (m + 3) u (|x| + |c|)^2 in all.
                for t in range(filled):
                    norm = np.sqrt(norms[t]) + reach[0]
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
                            value = x[row, i] * inverse[i]
                            for k in range(np.uintp(K)):
                                difference = value - exact[i, k]
                                squares[k] = fma(difference, difference, squares[k])
                        nearest, other = np.inf, 1e76
                        for k in range(np.uintp(K)):
                            square = squares[k]
                            if square < nearest:
                                label, other, nearest = (
                                    np.int64(k),
                                    nearest if nearest < other else other,
                                    square,
                                )
                            elif square < other:
                                other = square
                        # The rounding is also that of later distances, which are at most twice the second one.
                        distance = np.sqrt(other)
                        gap = DOWN * np.float32(distance - np.sqrt(nearest) - (m + 8) * 2.0**-49 * distance)
                    n_changed += label != labels[row]
                    labels[row] = label
                    gaps[row] = gap
            for k in range(K):
                for i in range(sums.shape[2]):
                    sums[c, k, i] = 0.0
            for t in range(begin, stop if with_sums else begin):
                label, weight = labels[t], splat(weights[t])
                for i in range(0, m + 1, L):
                    # The last vector reaches into the next sample, and nothing reads these sums.
                    store(sums[c], label, i, load(sums[c], label, i) + weight * load(x, t, i))
        for k in range(K if with_sums else 0):
            count = 0.0
            for c in range(len(sums)):
                count += sums[c, k, m]
            any_empty |= count == 0
        if done >= n_iter or n_changed == 0 or moved <= tol or any_empty:
            return done, n_changed, moved


@entry
def squared_distances(rows, scale, centres, labels, result):
    """Write the squared distance of each sample, of rows (n, m + 1), to its centre, of (K, m), to ``result`` (n,)."""
    for t in range(np.uintp(len(labels))):
        k, total = np.uintp(labels[t]), 0.0
        for i in range(np.uintp(len(scale))):
            difference = centres[k, i] - rows[t, i] / scale[i]
            total += difference * difference
        result[t] = total


@compiled
def _squares(x, b, n, centre, square):
    """Write the squared distances of n samples, x[:, b : b + n], to a centre (m,) to ``square`` (n,)."""
    m = len(x)
    for t in range(n):
        square[t] = 0
    for i in range(0, m - 3, 4):
        c0, c1, c2, c3 = centre[i], centre[i + 1], centre[i + 2], centre[i + 3]
        for t in range(n):
            d0, d1, d2, d3 = (
                x[i, b + t] - c0,
                x[i + 1, b + t] - c1,
                x[i + 2, b + t] - c2,
                x[i + 3, b + t] - c3,
            )
            square[t] = fma(d3, d3, fma(d2, d2, fma(d1, d1, fma(d0, d0, square[t]))))
    for i in range(m - m % 4, m):
        c0 = centre[i]
        for t in range(n):
            square[t] += (x[i, b + t] - c0) * (x[i, b + t] - c0)


@entry
def distances(x, centres, result, square):
    """Write the distances of samples (m, n) to centres (K, m) to ``result`` (n, K); ``square`` (TILE,) is memory."""
    for begin in range(0, len(result), TILE):
        b, n = np.uintp(begin), np.uintp(min(TILE, len(result) - begin))
        for k in range(len(centres)):
            _squares(x, b, n, centres[k], square)
            for t in range(n):
                result[b + t, k] = np.sqrt(square[t])


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
    q, n_samples = len(candidates), len(weights)
    for k in range(q):
        for t in range(np.uintp(TILE)):
            sums[k, t] = 0
    for begin in range(0, n_samples, TILE):
        b, s = np.uintp(begin), np.uintp(start + begin)
        n = np.uintp(TILE if begin + TILE < n_samples else n_samples - begin)
        for k in range(q):
            _squares(x, b, n, candidates[k], square)
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
