"""Fitted models in files: of skops, pickle and joblib to the bit, and of Armadillo; mixtures of given parameters."""

import copy
import io
import pickle
from functools import cache

import array_api_strict
import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils._array_api import move_estimator_to

import skem

X, SPECIES = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
QUICK = {"max_iter": 3, "random_state": 0, "tol": 0}
SPARSE = QUICK | {"em_iter": 3}
SEARCH = {"n_components": 3, "n_blocks": 1, "max_doublings": 1, "cv": 2, "random_state": 0}
MODELS = {
    "SKEM": (skem.SKEMClassifier({0: 1, 1: 3, 2: 2}, priors={0: 0.5, 2: 0.3, 1: 0.2}, **QUICK), SPECIES),
    "PSKEM": (skem.PSKEMClassifier(6, n_blocks=2, early_stopping=True, **QUICK), WORDS.astype(object)),
    "MDA": (skem.MDAClassifier(6, standardize="robust", **QUICK), SPECIES == 1),
    "PRBF": (skem.PRBFClassifier(6, covariance_type="spherical", **QUICK), WORDS),
    "discriminative": (skem.DiscriminativePSKEMClassifier(random_state=0), SPECIES),
    "search": (skem.DiscriminativePSKEMClassifierCV(scaling="quantile", **SEARCH), WORDS),
    "SDGM": (skem.SDGMClassifier(1, **SPARSE), WORDS.astype(object)),
    "primal SDGM": (skem.SDGMClassifier(1, form="primal", **SPARSE), SPECIES == 1),
    "mixture": (skem.GaussianMixture(3, random_state=np.random.RandomState(0)), None),
    "path": (skem.GaussianMixturePath(n_components=(1, 2), random_state=0), None),
    "k-means": (skem.KMeans(3, metric="mahalanobis", random_state=0), None),
    "outliers": (skem.DensityOutlierDetector(skem.GaussianMixture(2, random_state=0)), None),
}
METHODS = "predict", "predict_proba", "transform", "score_samples", "class_log_density"


def through_skops(model):
    dumped = skops.io.dumps(model)
    untrusted = skops.io.get_untrusted_types(data=dumped)
    assert all(name.startswith("skem.") for name in untrusted), untrusted
    return skops.io.loads(dumped, trusted=untrusted)


def through_joblib(model):
    joblib.dump(model, stream := io.BytesIO())
    stream.seek(0)
    return joblib.load(stream)


@cache
def fitted(name):
    model, y = MODELS[name]
    return model.fit(FRAME, y)


def assert_same(loaded, model, X):
    for name in METHODS:
        if hasattr(model, name):
            result, expected = getattr(loaded, name)(X), getattr(model, name)(X)
            assert_array_equal(result, expected)
            assert result.dtype == expected.dtype


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "through",
    [through_skops, lambda model: pickle.loads(pickle.dumps(model)), through_joblib],
    ids=["skops", "pickle", "joblib"],
)
@pytest.mark.parametrize("name", MODELS)
def test_files_have_the_same_model(name, through):
    model, y = fitted(name), MODELS[name][1]
    loaded = through(model)
    assert_same(loaded, model, FRAME)
    assert set(vars(loaded)) == set(vars(model))
    assert list(loaded.feature_names_in_) == list(FRAME)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(FRAME[["b", "a", "c", "d"]])
    if hasattr(model, "partial_fit") and not getattr(model, "early_stopping", False):
        batch = FRAME[::2], None if y is None else y[::2]
        assert_same(loaded.partial_fit(*batch), copy.deepcopy(model).partial_fit(*batch), FRAME)
        assert_same(through(loaded).partial_fit(FRAME, y), loaded.partial_fit(FRAME, y), FRAME)


def test_every_estimator_is_in_files():
    public = {name for name in skem.__all__ if hasattr(getattr(skem, name), "fit")}
    assert {type(model).__name__ for model, _ in MODELS.values()} == public


@pytest.mark.parametrize(
    "model", [skem.GaussianMixture(3, **QUICK), skem.SKEMClassifier(6, **QUICK)], ids=str
)
def test_models_of_another_array_library(model):
    asarray = array_api_strict.asarray
    with config_context(array_api_dispatch=True):
        on_device = clone(model).fit(asarray(X), asarray(SPECIES))
        loaded = through_skops(move_estimator_to(on_device, np, "cpu"))
    assert_allclose(loaded.score_samples(X), clone(model).fit(X, SPECIES).score_samples(X))


# Parameters of other mixtures


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("standardize", [True, False])
def test_from_parameters(covariance_type, standardize):
    options = {"covariance_type": covariance_type, "standardize": standardize}
    model = skem.GaussianMixture(3, **options, **QUICK).fit(X)
    parameters = model.weights_, model.means_, model.covariances_
    same = skem.GaussianMixture.from_parameters(*parameters, **options)
    assert_allclose(same.score_samples(X), model.score_samples(X), rtol=1e-9)
    assert_allclose(same.predict_proba(X), model.predict_proba(X), atol=1e-9)
    assert_array_equal(same.sample(5, random_state=0)[1], model.sample(5, random_state=0)[1])
    assert_allclose(same.bic(X), model.bic(X))
    if covariance_type == "tied":  # equal copies are one
        copies = skem.GaussianMixture.from_parameters(*parameters[:2], [parameters[2]] * 3, **options)
        assert_allclose(copies.score_samples(X), same.score_samples(X))
    more = {"warm_start": True, "max_iter": 1, "tol": 0}
    assert_allclose(same.set_params(**more).fit(X).means_, model.set_params(**more).fit(X).means_, rtol=1e-8)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": [0.5, 0.5]}, r"weights must have shape \(3,\), one per mean, got \(2,\)"),
        ({"weights": [0.5, 0.5, 0.5]}, "weights must sum to 1; they sum to 1.5"),
        ({"means": np.outer([-1e300, 0, 1e300], np.ones(4))}, "feature 0, from .* spreads too far"),
        ({"covariance_type": "spherical", "covariances": [[1, 2, 1, 1]] * 3}, "covariances must be balls"),
    ],
)
def test_impossible_parameters(change, words):
    parameters = {"weights": np.ones(3) / 3, "means": np.zeros((3, 4)), "covariances": [np.eye(4)] * 3}
    with pytest.raises(ValueError, match=words):
        skem.GaussianMixture.from_parameters(**parameters | change)


def cube(weights, means, variances):
    """A file of Armadillo's gmm_diag::save."""
    content = np.zeros((means.shape[1] + 1, len(means), 2))
    content[0, :, 0], content[1:, :, 0], content[1:, :, 1] = weights, means.T, variances.T
    sizes = " ".join(map(str, content.shape))
    return f"ARMA_CUB_BIN_FN008\n{sizes}\n".encode() + content.tobytes(order="F")


def field(weights, means, covariances):
    """A file of Armadillo's gmm_full::save."""
    matrices = [means.T, weights[None], *covariances]
    content = f"ARMA_FLD_BIN\n{len(matrices)}\n1\n".encode()
    for matrix in matrices:
        content += f"ARMA_MAT_BIN_FN008\n{matrix.shape[0]} {matrix.shape[1]}\n".encode()
        content += matrix.tobytes(order="F")
    return content


@pytest.mark.parametrize(("covariance_type", "write"), [("diag", cube), ("full", field)])
def test_files_of_armadillo(tmp_path, covariance_type, write):
    model = skem.GaussianMixture(3, covariance_type=covariance_type, **QUICK).fit(X)
    content = write(model.weights_, model.means_, model.covariances_)
    (tmp_path / "model.gmm").write_bytes(content)
    loaded = skem.GaussianMixture.from_armadillo(tmp_path / "model.gmm")
    assert loaded.covariance_type == covariance_type
    # One log-density is -.003, of terms of the size of ten.
    assert_allclose(loaded.score_samples(X), model.score_samples(X), rtol=1e-12, atol=1e-13)
    with open(tmp_path / "model.gmm", "rb") as file:
        assert_array_equal(skem.GaussianMixture.from_armadillo(file).means_, loaded.means_)
    huge = content.replace(b"5 3 2", b"9999999999 99999 2").replace(b"\n4 3\n", b"\n999999999999 3\n")
    for bad in (content[:-8], content[:25], content[1:], b"", huge):
        (tmp_path / "bad.gmm").write_bytes(bad)
        with pytest.raises(ValueError, match=r"bad\.gmm: no mixture that Armadillo saved as binary: "):
            skem.GaussianMixture.from_armadillo(tmp_path / "bad.gmm")
    with pytest.raises(FileNotFoundError):
        skem.GaussianMixture.from_armadillo(tmp_path / "none.gmm")
