"""Principal components of images, from sums over their bytes that have no rounding.

They equal those of `skem.images.pca_recipe` for images that are neither deskewed nor halved, and take a fraction of its
time where sets of training images overlap: the sums over all images less those over the few left out are, to the last
bit, the sums over the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, eigh
from sklearn.utils import gen_batches

CHUNK = 1024
"""Images whose products, of bytes less 128, sum to at most 2^24: float32 has every whole number up to there."""


def _centred(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Bytes less 128, one image a row."""
    return images.reshape(len(images), -1).astype(np.float32) - np.float32(128)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over images of bytes less 128, and of their products (lower triangle): whole numbers, exact in float64."""

    n: int
    total: NDArray[np.float64]
    products: NDArray[np.float64]

    @classmethod
    def of(cls, images: NDArray[np.uint8]) -> Sums:
        """Sum over images of shape (n, h, w) or (n, h, w, channels)."""
        p = int(np.prod(images.shape[1:]))
        total, products = np.zeros(p), np.zeros((p, p), order="F")
        for rows in gen_batches(len(images), CHUNK):
            Z = _centred(images[rows])
            total += Z.sum(axis=0, dtype=np.float64)
            products += blas.ssyrk(1, Z.T, lower=1)
        return cls(len(images), total, products)

    def without(self, other: Sums) -> Sums:
        """Sums over these images without some of them."""
        return Sums(self.n - other.n, self.total - other.total, self.products - other.products)


@dataclass(frozen=True, eq=False)
class Components:
    """Leading components of images standardised by one mean and one standard deviation for all pixels.

    ``axes``, of shape (p, k), are sorted by falling variance, have length 1 / standard deviation, and their largest
    entry is positive.
    """

    mean: NDArray[np.float32]
    axes: NDArray[np.float32]

    @classmethod
    def of(cls, sums: Sums, k: int) -> Components:
        """Compute the first `k` from the sums over the training images."""
        p = len(sums.total)
        mean = sums.total / sums.n
        variance = np.trace(sums.products) / (sums.n * p) - mean.mean() ** 2
        covariance = sums.products / sums.n
        covariance -= np.outer(mean, mean)
        V = eigh(covariance, lower=True, subset_by_index=[p - k, p - 1], overwrite_a=True)[1][:, ::-1]
        sign = np.copysign(1, V[np.abs(V).argmax(axis=0), np.arange(k)])
        sigma = np.sqrt(variance) if variance > 0 else 1.0
        return cls(mean.astype(np.float32), (V * (sign / sigma)).astype(np.float32))

    def scores(self, images: NDArray[Any]) -> NDArray[np.float32]:
        """Scores of images in standard deviations, shape (n, k)."""
        found = np.empty((len(images), self.axes.shape[1]), np.float32)
        for rows in gen_batches(len(images), CHUNK):
            np.matmul(_centred(images[rows]) - self.mean, self.axes, out=found[rows])
        return found
