"""Exact sums over pixels, and the principal components that follow."""

import numpy as np
import pytest

from skem.images import pca_recipe
from skem.repro.training.pixels import Components, Sums


def pictures(n, *shape):
    rng = np.random.default_rng(n)
    smooth = np.cumsum(rng.normal(size=(n, *shape)), axis=1) * 30 + 100
    return np.clip(smooth, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("extreme", [0, 255])
def test_sums_are_whole_numbers_also_of_what_is_left_out(extreme):
    X = pictures(3000, 4, 5)
    X[:2000] = extreme
    Z = X.reshape(len(X), -1).astype(np.int64) - 128
    sums = Sums.of(X)
    np.testing.assert_array_equal(sums.total, Z.sum(axis=0))
    np.testing.assert_array_equal(sums.products, np.tril(Z.T @ Z))
    short, kept = sums.without(Sums.of(X[::7])), np.delete(X, np.s_[::7], axis=0)
    assert short.n == len(kept)
    np.testing.assert_array_equal(short.total, Sums.of(kept).total)
    np.testing.assert_array_equal(short.products, Sums.of(kept).products)


@pytest.mark.parametrize("shape", [(9, 9), (5, 5, 3)])
def test_components_are_those_of_the_recipe(shape):
    X, other = pictures(2500, *shape), pictures(1100, *shape)
    ours, theirs = Components.of(Sums.of(X), 6), pca_recipe(6).fit(X)
    for images in (X, other):
        np.testing.assert_allclose(ours.scores(images), theirs.transform(images), atol=2e-4)
    assert ours.scores(X).dtype == np.float32
