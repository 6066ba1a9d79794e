"""Peak memory: linear in the number of features, below that of a file, and little more than that of results."""

import tracemalloc

import numpy as np
import pytest

import skem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*singular")


def peak(function, *arguments):
    """Result and peak memory of a call, in bytes."""
    tracemalloc.start()
    try:
        return function(*arguments), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("covariance_type", ["diag", "spherical"])
def test_memory_of_diagonal_models_is_linear_in_features(covariance_type):
    m, n = 3000, 10
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
        function()  # compiles
        assert peak(function)[1] < 8 * m**2 / 2, function


def test_files_are_read_in_chunks(tmp_path):
    samples = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float32, shape=(200_000, 30))
    rng = np.random.default_rng(0)
    for begin in range(0, len(samples), 50_000):
        samples[begin : begin + 50_000] = rng.standard_normal((50_000, 30), dtype=np.float32)
    init = np.full(2, 0.5), np.stack([np.full(30, -0.1), np.full(30, 0.1)]), np.repeat(np.eye(30)[None], 2, 0)
    for model in (skem.KMeans(5, random_state=0), skem.GaussianMixture(2, init_params=init, tol=0)):
        model.set_params(max_iter=1).fit(samples[:1000])  # compiles
        assert peak(model.fit, samples)[1] < 0.5 * samples.nbytes


@pytest.mark.parametrize("method", ["predict", "predict_proba", "component_log_density", "score_samples"])
def test_memory_of_predictions(method):
    samples = np.random.default_rng(0).normal(size=(200_000, 2))
    model = skem.GaussianMixture(10, max_iter=1, tol=0, random_state=0).fit(samples[:1000])
    predict = getattr(model, method)
    predict(samples[:1000])
    result, memory = peak(predict, samples)
    assert memory < result.nbytes + 2**21
