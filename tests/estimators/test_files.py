"""Fitted models in files: loaded to the bit, complete or as before, and of Armadillo."""

import gzip
import io
import os
import re
from pathlib import Path

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
from sklearn.exceptions import NotFittedError

import skem

X, SPECIES = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
QUICK = {"max_iter": 3, "random_state": 0, "tol": 0}
SPARSE = QUICK | {"em_iter": 3}
MIXTURE = skem.GaussianMixture(3, **QUICK)
MODELS = [
    (skem.SKEMClassifier(6, covariance_type="spherical", standardize=True, **QUICK), WORDS),
    (skem.SKEMClassifier({0: 1, 1: 3, 2: 2}, priors={0: 0.5, 2: 0.3, 1: 0.2}, **QUICK), SPECIES),
    (skem.PSKEMClassifier(6, n_blocks=2, covariance_type="diag", early_stopping=True, **QUICK), WORDS.astype(object)),
    (skem.DiscriminativePSKEMClassifier(6, n_blocks=2, discriminative_iter=2, **QUICK), SPECIES),
    (skem.MDAClassifier(np.int64(6), n_blocks=2, priors="empirical", **QUICK), SPECIES == 1),
    (skem.PRBFClassifier(6, sharing=0.25, covariance_type="spherical", standardize=False, **QUICK), WORDS),
    (skem.SDGMClassifier(1, **SPARSE), WORDS.astype(object)),
    (skem.SDGMClassifier(1, form="primal", **SPARSE), SPECIES == 1),
    (skem.KMeans(3, metric="mahalanobis", random_state=0), None),
    *[
        (skem.GaussianMixture(3, covariance_type=name, standardize=standardize, **QUICK), None)
        for name, standardize in (("full", True), ("tied", False), ("spherical", True), ("spherical", False))
    ],
]  # fmt: skip
ANSWERS = (
    *("predict", "predict_proba", "transform", "score_samples"),
    *("class_log_density", "component_log_density", "component_log_proba"),
)


def assert_same(loaded, model, X):
    for name in ANSWERS:
        if hasattr(model, name):
            answer, expected = getattr(loaded, name)(X), getattr(model, name)(X)
            assert_array_equal(answer, expected)
            assert answer.dtype == expected.dtype
    assert set(vars(loaded)) == set(vars(model))


def reloaded(model):
    stream = io.BytesIO()
    model.save(stream)
    stream.seek(0)
    return type(model).load(stream)


@pytest.mark.parametrize(
    ("model", "y"), MODELS, ids=lambda value: str(value) if hasattr(value, "fit") else ""
)
def test_loaded_to_the_bit(tmp_path, model, y):
    path = tmp_path / "model.npz"
    model.fit(FRAME, y).save(path)
    loaded = type(model).load(path)
    assert [*tmp_path.iterdir()] == [path]
    assert_same(loaded, model, FRAME)
    assert loaded.get_params() == model.get_params()
    with np.load(path, allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(FRAME[["b", "a", "c", "d"]])
    stream = io.BytesIO()
    joblib.dump(loaded, stream)
    stream.seek(0)
    dumped = skops.io.dumps(loaded)
    untrusted = skops.io.get_untrusted_types(data=dumped)
    assert all(name.startswith("skem.") for name in untrusted), untrusted
    for twin in (joblib.load(stream), skops.io.loads(dumped, trusted=untrusted)):
        assert_same(twin, model, FRAME)


def test_loaded_models_are_trained_on():
    prior, groups = np.array([0.5, 0.2, 0.3]), [[0, 3], [1, 4], [2, 5]]
    options = {"options": {"sharing": 0.5, "groups": groups}, "priors": prior, "warm_start": True}
    model = skem.PSKEMClassifier(6, n_blocks=2, max_iter=2, random_state=np.random.RandomState(0), **options)
    loaded = reloaded(model.fit(X, SPECIES))
    incomplete = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    assert_array_equal(loaded.class_log_density(incomplete), model.class_log_density(incomplete))
    assert_array_equal(loaded.sample(9, random_state=1)[0], model.sample(9, random_state=1)[0])
    assert (loaded.options["groups"], loaded.random_state) == (groups, None)
    assert_array_equal(loaded.priors, prior)
    for group, expected in zip(loaded.groups_, groups, strict=True):
        assert_array_equal(group, expected)
    assert_array_equal(loaded.fit(X, SPECIES).objective_, model.fit(X, SPECIES).objective_)
    # NumPy integers as labels, which a file has as Python's.
    numbers = dict.fromkeys(np.unique(SPECIES), 2)
    model = skem.SKEMClassifier(numbers, warm_start=True, max_iter=1, random_state=0).fit(X, SPECIES)
    again = reloaded(model).fit(X, SPECIES)
    assert_array_equal(again.means_, model.set_params(n_components=[2, 2, 2]).fit(X, SPECIES).means_)


@pytest.mark.parametrize("model", [MIXTURE, skem.SKEMClassifier(6, **QUICK)], ids=str)
def test_models_of_another_array_library(model):
    asarray = array_api_strict.asarray
    with config_context(array_api_dispatch=True):
        loaded = reloaded(clone(model).fit(asarray(X), asarray(SPECIES)))
    assert_allclose(loaded.score_samples(X), clone(model).fit(X, SPECIES).score_samples(X))


def test_other_classes_are_named(tmp_path):
    skem.PSKEMClassifier(6, max_iter=1, random_state=0).fit(X, SPECIES).save(tmp_path / "blocks")
    for Wrong in (skem.MDAClassifier, skem.GaussianMixture):
        words = r"blocks: .* holds a fitted PSKEMClassifier: read it with PSKEMClassifier\.load"
        with pytest.raises(ValueError, match=words):
            Wrong.load(tmp_path / "blocks")


def linear(X, Y):
    return X @ Y.T + 1.0


def test_models_that_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        skem.PSKEMClassifier().save(tmp_path / "model.npz")
    by_function = skem.SDGMClassifier(1, kernel=linear, **SPARSE).fit(X, SPECIES)
    assigned = skem.KMeans(3, random_state=0).fit(X)
    assigned.labels_ = assigned.labels_ / 2
    unknown = clone(MIXTURE).fit(X).set_params(metric="manhattan")
    for model, words in [
        (by_function, r"SDGMClassifier cannot be saved: _map\.kernel is a function, and nothing is pickled"),
        (assigned, "KMeans cannot be saved: labels_ must be an array of integers, got float64"),
        (unknown, "GaussianMixture cannot be saved: .*'metric'"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


# Files


def test_file_objects_and_wrong_paths(tmp_path):
    model, path = clone(MIXTURE).fit(X), tmp_path / "model.gz"
    with gzip.open(path, "wb") as file:
        model.save(file)
    with gzip.open(path, "rb") as file:
        assert_same(skem.GaussianMixture.load(file), model, X)
    with open(path, encoding="latin-1") as file, pytest.raises(TypeError, match="binary"):
        skem.GaussianMixture.load(file)
    with pytest.raises(ValueError, match=r"model\.gz: no .*: not saved by skem"):
        skem.GaussianMixture.load(path)
    with pytest.raises(FileNotFoundError):
        skem.GaussianMixture.load(tmp_path / "none.npz")
    path.unlink()
    longest = "m" * 255
    model.save(tmp_path / longest)
    assert_array_equal(skem.GaussianMixture.load(tmp_path / longest).means_, model.means_)
    wrong = (
        tmp_path / "no folder" / "model.npz",
        tmp_path / longest / "model.npz",
        tmp_path,
        tmp_path / f"{longest}m",
    )
    for path in wrong:
        with pytest.raises(OSError, match=f"'{re.escape(str(path))}'$"):
            model.save(path)
    assert [path.name for path in tmp_path.iterdir()] == [longest]


def test_failed_or_killed_saves_leave_the_old_file(tmp_path, monkeypatch):
    model, path = clone(MIXTURE).fit(X), tmp_path / "model.npz"
    (tmp_path / ".skem.other").touch()
    model.save(path)
    before, files, unlink = path.read_bytes(), {*tmp_path.iterdir()}, Path.unlink

    def fail(*paths):
        raise OSError(28, "disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match=r"disk full.*model\.npz"):
            model.save(path)
        assert {*tmp_path.iterdir()} == files
        patch.setattr(Path, "unlink", fail)  # as if the process had been killed
        for _ in range(2):
            with pytest.raises(OSError, match="disk full"):
                model.save(path)
    assert path.read_bytes() == before
    fresh, stale = set(tmp_path.iterdir()) - files
    os.utime(stale, (0, 0))
    model.save(path)
    assert {*tmp_path.iterdir()} == {*files, fresh}  # another process may still be writing it
    assert path.read_bytes() == before
    unlink(fresh)


def test_permissions_of_files(tmp_path):
    path, model, before = tmp_path / "model.npz", clone(MIXTURE).fit(X), os.umask(0o027)
    try:
        model.save(path)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o606)
        model.save(path)
        assert path.stat().st_mode & 0o777 == 0o606
    finally:
        os.umask(before)


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
    more = {"warm_start": True, "max_iter": 1, "tol": 0}
    assert_allclose(same.set_params(**more).fit(X).means_, model.set_params(**more).fit(X).means_, rtol=1e-8)
    if covariance_type == "tied":  # equal copies are one
        copies = skem.GaussianMixture.from_parameters(*parameters[:2], [parameters[2]] * 3, **options)
        assert_array_equal(reloaded(copies).score_samples(X), copies.score_samples(X))


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
    loaded = skem.GaussianMixture.load(tmp_path / "model.gmm")
    assert loaded.covariance_type == covariance_type
    # One log-density is -.003, of terms of the size of ten.
    assert_allclose(loaded.score_samples(X), model.score_samples(X), rtol=1e-12, atol=1e-13)
    huge = content.replace(b"5 3 2", b"9999999999 99999 2").replace(b"\n4 3\n", b"\n999999999999 3\n")
    for bad in (content[:-8], content[:25], huge):
        (tmp_path / "bad.gmm").write_bytes(bad)
        with pytest.raises(ValueError, match=r"bad\.gmm: no GaussianMixture: "):
            skem.GaussianMixture.load(tmp_path / "bad.gmm")
