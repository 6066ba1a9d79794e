"""Memory and time of diagonal and spherical models, and of samples, are linear in the number of features."""

import tracemalloc

import numpy as np
import pytest

import skem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*singular")


def measured(function):
    """Peak memory of a call in bytes."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("covariance_type", ["diag", "spherical"])
def test_memory_of_diagonal_models_is_linear_in_features(covariance_type):
    m, n = 4000, 30
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, m)), np.arange(n) % 2
    holes = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    variances = np.ones((2, m) if covariance_type == "diag" else 2)
    options = {"covariance_type": covariance_type, "max_iter": 1, "random_state": 0}

    def mixtures():
        mixture = skem.GaussianMixture.from_parameters(
            [0.5, 0.5], X[:2], variances, covariance_type=covariance_type
        )
        mixture.sample(n, random_state=0)
        mixture.partial_fit(X).marginal([0, 1])
        mixture.condition([0], [0.0])
        mixture.predict_proba(holes)
        mixture.impute(holes)
        skem.GaussianMixture(2, **options).fit(holes)

    def classifiers():
        for init in ("class", "uniform"):
            skem.PSKEMClassifier(2, init_params=init, **options).fit(X, y)
        skem.DiscriminativePSKEMClassifier(2, discriminative_iter=1, **options).fit(X, y)

    for function in (mixtures, classifiers):
        assert measured(function) < 8 * m**2 / 2, function
