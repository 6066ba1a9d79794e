"""Compiled loops of k-means: the nearest centre of each sample, and sums of the samples of each centre."""

from __future__ import annotations

import numpy as np

from skem.engine.kernels import compiled, entry

TILE = 128
"""Samples per tile. Up to some 60 features fit into the first-level cache. Of 64 to 512 samples with 2 to 784 features, this
size was always close to the fastest."""

FEATURES = 4
"""Number of features whose squared differences are summed at a time; it divides the number of columns of ``centres``."""


@entry
def assign(samples, centres, limits, tile, results):
    """Assign samples to their nearest centres, or to the first of several, and add them to the sums of their centres.

    Parameters
    ----------
    samples : tuple of x (n, m), weights (n,), shift (m,) and inverse (m,)
        The features become (x - shift) * inverse.
    centres : ndarray of shape (K, padded)
        Centres in these units, padded with zeros. Their dtype is the precision of the distances.
    limits : tuple of three floats
        Relative rounding of a distance (zero decides all samples), twice the largest norm of a centre, and the minimum
        difference of squared distances. Let d be the distance to the second nearest centre and r = limits[0] * (d +
        limits[1]). A sample is undecided unless the squared distances differ by more than r (d + r) + limits[2].
    tile : ndarray of shape (padded + 4, TILE)
        Zeros in the dtype of the centres; overwritten.
    results : tuple of labels (n,) and sums (K, m + 1)
        The loop overwrites labels by the index of the nearest centre, or by -1 for an undecided sample. It adds weighted
        sums of x - shift and, in the last column, the weights of the decided samples to ``sums``.
    """
    (x, weights, shift, inverse), (rounding, reach, least_gap), (labels, sums) = samples, limits, results
    (n_samples, m), (K, padded) = x.shape, centres.shape
    square, least, second, place = tile[padded], tile[padded + 1], tile[padded + 2], tile[padded + 3]
    for begin in range(0, n_samples, TILE):
        n = np.uintp(min(TILE, n_samples - begin))
        for i in range(np.uintp(m)):
            for t in range(n):
                tile[i, t] = (np.float64(x[begin + t, i]) - shift[i]) * inverse[i]
        for t in range(n):
            place[t] = 0
            least[t] = second[t] = np.inf
        for k in range(K):
            for t in range(n):
                square[t] = 0
            for i in range(0, padded, FEATURES):
                a, b, c, d = centres[k, i], centres[k, i + 1], centres[k, i + 2], centres[k, i + 3]
                for t in range(n):
                    d0, d1, d2, d3 = (
                        tile[i, t] - a,
                        tile[i + 1, t] - b,
                        tile[i + 2, t] - c,
                        tile[i + 3, t] - d,
                    )
                    square[t] += d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
            # A float index keeps all vectors at the same length.
            index = centres.dtype.type(k)
            for t in range(n):
                s = square[t]
                closer = s < least[t]
                other = least[t] if closer else s
                second[t] = other if other < second[t] else second[t]
                place[t] = index if closer else place[t]
                least[t] = s if closer else least[t]
        for t in range(n):
            distance, label = np.sqrt(np.float64(second[t])), np.int32(place[t])
            gap, r = np.float64(second[t]) - np.float64(least[t]), rounding * (distance + reach)
            # The negated comparison handles overflow, after which the gap is infinite or NaN.
            if rounding > 0 and not gap > r * (distance + r) + least_gap:
                labels[begin + t] = -1
                continue
            labels[begin + t] = label
            weight = weights[begin + t]
            for i in range(np.uintp(m)):
                sums[label, i] += weight * (np.float64(x[begin + t, i]) - shift[i])
            sums[label, m] += weight


@compiled
def _squared_distance(sample, shift, scale, centre):
    square = 0.0
    for i in range(np.uintp(len(sample))):
        difference = (np.float64(sample[i]) - shift[i]) / scale[i] - centre[i]
        square += difference * difference
    return square


@entry
def squared_distances(x, units, centres, labels, squares):
    """Write the squared distance of each sample to its centre to ``squares`` (n,); ``units`` are shift and scale."""
    shift, scale = units
    for t in range(len(x)):
        squares[t] = _squared_distance(x[t], shift, scale, centres[labels[t]])
