"""Fitted models in files: what is saved is loaded, and a file is complete or as before."""

import gzip
import io
import json
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
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import skem
from skem import (
    DiscriminativePSKEMClassifier,
    GaussianMixture,
    KMeans,
    MDAClassifier,
    PRBFClassifier,
    PSKEMClassifier,
    SDGMClassifier,
    SKEMClassifier,
)
from skem.estimators._state import attributes_of, take

X, SPECIES = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
VERSION_1 = Path(__file__).parent / "version_1"
QUICK = {"max_iter": 3, "random_state": 0, "tol": 0}
SPARSE = QUICK | {"em_iter": 3}
MODELS = [
    (SKEMClassifier(6, covariance_type="spherical", standardize=True, **QUICK), WORDS),
    (SKEMClassifier(6, class_prior={0: 0.5, 2: 0.3, 1: 0.2}, **QUICK), SPECIES),
    (
        PSKEMClassifier(6, n_blocks=2, covariance_type="diag", early_stopping=True, **QUICK),
        WORDS.astype(object),
    ),
    (DiscriminativePSKEMClassifier(6, n_blocks=2, discriminative_iter=2, **QUICK), SPECIES),
    (MDAClassifier(np.int64(6), n_blocks=2, class_prior="empirical", **QUICK), SPECIES == 1),
    (PRBFClassifier(6, sharing=0.25, covariance_type="spherical", standardize=False, **QUICK), WORDS),
    (SDGMClassifier(1, **SPARSE), WORDS.astype(object)),
    (SDGMClassifier(1, form="primal", **SPARSE), SPECIES == 1),
    (KMeans(3, metric="mahalanobis", random_state=0), None),
    *[
        (GaussianMixture(3, covariance_type=name, standardize=standardize, **QUICK), None)
        for name in ("full", "tied", "diag", "spherical")
        for standardize in (True, False)
    ],
]
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


@pytest.mark.parametrize("path", sorted(VERSION_1.glob("*.npz")), ids=lambda path: path.stem)
def test_version_1_of_the_format(path):
    """Files of the first version are read, and new files hold nothing that it did not write."""
    model, stream = getattr(skem, path.stem).load(path), io.BytesIO()
    expected = json.loads((VERSION_1 / "expected.json").read_text())[path.stem]
    answer = model.transform if path.stem == "KMeans" else model.predict_proba
    assert_allclose(answer(FRAME[::30]), expected, rtol=1e-9, atol=1e-12)
    model.save(stream)
    with np.load(io.BytesIO(stream.getvalue())) as file, np.load(path) as old:
        new_settings, settings = (json.loads(str(archive["settings"])) for archive in (file, old))
        assert new_settings["attributes"].items() <= settings["attributes"].items()
        assert new_settings | {"attributes": settings["attributes"]} == settings
        assert {*file} == {*old}
        for name in {*old} - {"settings"}:
            assert_array_equal(file[name], old[name], strict=True)


def test_a_loaded_model_is_trained_on_like_the_saved_one(tmp_path):
    prior, groups = np.array([0.5, 0.2, 0.3]), [[0, 3], [1, 4], [2, 5]]
    options = {"sharing": 0.5, "groups": groups, "class_prior": prior, "warm_start": True}
    model = PSKEMClassifier(6, n_blocks=2, max_iter=2, random_state=np.random.RandomState(0), **options)
    model.fit(X, SPECIES).save(tmp_path / "model")
    loaded = PSKEMClassifier.load(tmp_path / "model")
    incomplete = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    assert_array_equal(loaded.class_log_density(incomplete), model.class_log_density(incomplete))
    assert_array_equal(loaded.sample(9, random_state=1)[0], model.sample(9, random_state=1)[0])
    assert (loaded.groups, loaded.random_state) == (groups, None)
    assert_array_equal(loaded.class_prior, prior)
    for group, expected in zip(loaded.groups_, groups, strict=True):
        assert_array_equal(group, expected)
    assert_array_equal(loaded.fit(X, SPECIES).objective_, model.fit(X, SPECIES).objective_)


def test_parameters_that_no_file_holds_have_their_defaults(tmp_path):
    model = GaussianMixture(3, **QUICK).fit(X)
    arrays = model.weights_, model.means_, model.covariances_
    model.set_params(init=arrays, random_state=np.random.RandomState(0), covariance_type="diag")
    model.save(tmp_path / "mixture")
    loaded = GaussianMixture.load(tmp_path / "mixture")
    assert (loaded.random_state, loaded.covariance_type) == (None, "diag")
    for array, expected in zip(loaded.init, arrays, strict=True):
        assert_array_equal(array, expected)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("model", [GaussianMixture(3, **QUICK), SKEMClassifier(6, **QUICK)], ids=str)
def test_a_model_of_another_array_library_is_saved_in_numpy(model):
    stream = io.BytesIO()
    with config_context(array_api_dispatch=True):
        model.fit(array_api_strict.asarray(X), array_api_strict.asarray(SPECIES)).save(stream)
    stream.seek(0)
    loaded, expected = type(model).load(stream), type(model)(**model.get_params()).fit(X, SPECIES)
    assert_allclose(loaded.score_samples(X), expected.score_samples(X))


class Tempered(SKEMClassifier):
    """A classifier with another fitted attribute."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.temperature_ = np.linspace(1, 2, 3)
        return self

    def _state(self):
        return super()._state() | attributes_of(self, "temperature_")

    def _set_state(self, state):
        super()._set_state(state)
        self.temperature_ = take(state, "temperature_", (len(self.classes_),))


def test_another_class_is_named(tmp_path):
    KMeans(3, random_state=0).fit(X).save(tmp_path / "means")
    PSKEMClassifier(6, max_iter=1, random_state=0).fit(X, SPECIES).save(tmp_path / "blocks")
    Tempered(6, max_iter=1, random_state=0).fit(X, SPECIES).save(tmp_path / "tempered")
    assert_array_equal(Tempered.load(tmp_path / "tempered").temperature_, [1, 1.5, 2])
    for path, Wrong, right in [
        ("means", PSKEMClassifier, "KMeans"),
        ("blocks", MDAClassifier, "PSKEMClassifier"),
        ("blocks", GaussianMixture, "PSKEMClassifier"),
        ("tempered", SKEMClassifier, "Tempered"),
    ]:
        words = rf"{path}: .* holds a fitted {right}: read it with {right}\.load"
        with pytest.raises(ValueError, match=words):
            Wrong.load(tmp_path / path)


def linear(X, Y):
    return X @ Y.T + 1.0


def test_models_that_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        PSKEMClassifier().save(tmp_path / "model.npz")
    by_function = SDGMClassifier(1, kernel=linear, **SPARSE).fit(X, SPECIES)
    assigned = KMeans(3, random_state=0).fit(X)
    assigned.labels_ = assigned.labels_ / 2
    unknown = GaussianMixture(2, random_state=0).fit(X).set_params(metric="manhattan")
    for model, words in [
        (by_function, r"SDGMClassifier cannot be saved: _map\.kernel is a function, and nothing is pickled"),
        (assigned, "KMeans cannot be saved: labels_ must be an array of integers, got float64"),
        (unknown, "GaussianMixture cannot be saved: .*'metric'"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


# Files


@pytest.mark.parametrize("model", [GaussianMixture(2), KMeans(3), SKEMClassifier(6, max_iter=1)], ids=str)
def test_file_objects(tmp_path, model):
    model.set_params(random_state=0).fit(X, SPECIES)
    path = tmp_path / "model.gz"
    with gzip.open(path, "wb") as file:
        model.save(file)
    with gzip.open(path, "rb") as file:
        assert_same(type(model).load(file), model, X)
    with open(path, encoding="latin-1") as file, pytest.raises(TypeError, match="binary"):
        type(model).load(file)
    with pytest.raises(ValueError, match=r"model\.gz: no .*: not saved by skem"):
        type(model).load(path)
    with pytest.raises(FileNotFoundError):
        type(model).load(tmp_path / "none.npz")


def test_a_failed_or_killed_save_leaves_the_old_file(tmp_path, monkeypatch):
    model, path = GaussianMixture(2, random_state=0).fit(X), tmp_path / "model.npz"
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


def test_the_umask_sets_who_may_read_a_file(tmp_path):
    before = os.umask(0o027)
    try:
        GaussianMixture(2, random_state=0).fit(X).save(tmp_path / "model.npz")
    finally:
        os.umask(before)
    assert (tmp_path / "model.npz").stat().st_mode & 0o777 == 0o640


def test_an_error_of_writing_names_the_file(tmp_path):
    model = GaussianMixture(2, random_state=0).fit(X)
    longest = "m" * 255
    model.save(tmp_path / longest)
    assert_array_equal(GaussianMixture.load(tmp_path / longest).means_, model.means_)
    beside = [tmp_path / "no folder" / "model.npz", tmp_path / longest / "model.npz"]
    for path in (*beside, tmp_path, tmp_path / f"{longest}m"):
        with pytest.raises(OSError, match=f"'{re.escape(str(path))}'$"):
            model.save(path)
    assert [path.name for path in tmp_path.iterdir()] == [longest]
