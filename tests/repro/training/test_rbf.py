"""The two-stage network of radial basis functions."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from skem import GaussianMixture
from skem.repro.training.rbf import rbf_network


def test_the_rbf_network_is_least_squares_on_the_kernels_of_a_mixture():
    X, y = load_digits(return_X_y=True)
    network = rbf_network(40, random_state=0).fit(X[:1200], y[:1200])
    kernels = network.named_steps["kernels"]
    mixture = GaussianMixture(40, covariance_type="spherical", init_params="kmeans", random_state=0).fit(
        X[:1200]
    )
    assert_allclose(kernels.means_, mixture.means_)
    squares = ((X[:, None] - kernels.means_) ** 2).sum(axis=2)
    between = ((kernels.means_[:, None] - kernels.means_) ** 2).sum(axis=2).max()
    phi = np.exp(-0.5 * squares / between)
    assert_allclose(kernels.transform(X), phi, rtol=1e-7)
    design = np.column_stack([phi, np.ones(len(X))])
    weights, *_ = np.linalg.lstsq(design[:1200], np.eye(10)[y[:1200]])
    agree = (network.predict(X[1200:]) == (design[1200:] @ weights).argmax(axis=1)).mean()
    assert agree > 0.99
