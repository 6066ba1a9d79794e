"""Classifiers, and k-means, in files."""

import gzip
import io
import os
import re
from pathlib import Path
from typing import ClassVar

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

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
from skem.estimators._declarations import Array

X, SPECIES = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))
LABELS = {
    "numbers": SPECIES,
    "words": np.array(["setosa", "versicolor", "virginica"])[SPECIES],
    "objects": np.array(["setosa", "versicolor", "virginica"], dtype=object)[SPECIES],
    "booleans": SPECIES == 1,
}
ANSWERS = (
    "predict",
    "predict_proba",
    "class_log_density",
    "score_samples",
    "component_log_proba",
    "transform",
)


def assert_same(loaded, model, rows):
    for name in ANSWERS:
        if hasattr(model, name):
            answer, expected = getattr(loaded, name)(rows), getattr(model, name)(rows)
            assert_array_equal(answer, expected)
            assert answer.dtype == expected.dtype
    assert set(vars(loaded)) == set(vars(model))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "model",
    [
        SKEMClassifier(6, covariance_type="spherical", standardize=True, max_iter=3),
        PSKEMClassifier(
            6, arrangement=[[0, 1], [3, 2, 1]], covariance_type="diag", early_stopping=True, max_iter=3
        ),
        DiscriminativePSKEMClassifier(6, n_blocks=2, max_iter=3, discriminative_iter=2),
        MDAClassifier(np.int64(6), n_blocks=2, max_iter=3, class_prior="empirical"),
        PRBFClassifier(6, sharing=0.25, covariance_type="spherical", standardize=False, max_iter=3, tol=0),
        SDGMClassifier(1, max_iter=3, em_iter=3, tol=0),
        SDGMClassifier(1, form="primal", max_iter=3, em_iter=3, tol=0),
        KMeans(3, metric="mahalanobis"),
    ],
    ids=str,
)
def test_a_saved_model_is_loaded_to_the_bit(tmp_path, model, labels):
    model.set_params(random_state=0).fit(FRAME, LABELS[labels])
    model.save(tmp_path / "model.npz")
    loaded = type(model).load(tmp_path / "model.npz")
    assert {path.name for path in tmp_path.iterdir()} == {"model.npz"}
    assert_same(loaded, model, FRAME)
    assert loaded.get_params() == model.get_params()
    assert list(loaded.feature_names_in_) == list("abcd")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as archive:
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


def test_priors_by_label_are_saved(tmp_path):
    prior = {0: 0.5, 2: 0.3, 1: 0.2}
    model = SKEMClassifier(6, max_iter=1, class_prior=prior).fit(X, SPECIES)
    assert_array_equal(model.class_prior_, [0.5, 0.2, 0.3])
    model.save(tmp_path / "model.npz")
    assert SKEMClassifier.load(tmp_path / "model.npz").class_prior == prior


def test_a_loaded_model_is_asked_and_trained_on_like_the_one_that_was_saved(tmp_path):
    prior, groups = np.array([0.5, 0.2, 0.3]), [[0, 3], [1, 4], [2, 5]]
    options = {"sharing": 0.5, "groups": groups, "class_prior": prior, "warm_start": True}
    model = PSKEMClassifier(6, n_blocks=2, max_iter=2, random_state=np.random.RandomState(0), **options)
    model.fit(X, SPECIES).save(tmp_path / "model")
    loaded = PSKEMClassifier.load(tmp_path / "model")
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    assert_array_equal(loaded.class_log_density(rows), model.class_log_density(rows))
    assert_array_equal(loaded.sample(9, random_state=1)[0], model.sample(9, random_state=1)[0])
    assert (loaded.groups, loaded.random_state) == (groups, None)
    assert_array_equal(loaded.class_prior, prior)
    for group, expected in zip(loaded.groups_, groups, strict=True):
        assert_array_equal(group, expected)
    assert_array_equal(loaded.fit(X, SPECIES).objective_, model.fit(X, SPECIES).objective_)


class Tempered(SKEMClassifier):
    """With one more fitted attribute."""

    _saved: ClassVar = {**SKEMClassifier._saved, "temperature_": Array("n_classes")}

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.temperature_ = np.linspace(1, 2, 3)
        return self


def test_a_subclass_names_what_it_has_more(tmp_path):
    Tempered(6, max_iter=1, random_state=0).fit(X, SPECIES).save(tmp_path / "model")
    assert_array_equal(Tempered.load(tmp_path / "model").temperature_, [1, 1.5, 2])
    with pytest.raises(ValueError, match=r"model: .* holds a fitted Tempered: read it with Tempered\.load"):
        SKEMClassifier.load(tmp_path / "model")


def test_a_file_of_another_class_names_it(tmp_path):
    KMeans(3, random_state=0).fit(X).save(tmp_path / "means")
    PSKEMClassifier(6, max_iter=1, random_state=0).fit(X, SPECIES).save(tmp_path / "blocks")
    for path, Wrong, right in [
        ("means", PSKEMClassifier, "KMeans"),
        ("blocks", MDAClassifier, "PSKEMClassifier"),
        ("blocks", GaussianMixture, "PSKEMClassifier"),
    ]:
        with pytest.raises(
            ValueError, match=rf"{path}: .* holds a fitted {right}: read it with {right}\.load"
        ):
            Wrong.load(tmp_path / path)


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    model = SKEMClassifier(4, max_iter=1, random_state=0).fit(X, SPECIES)
    model.save(tmp_path / "model.npz")
    before = (tmp_path / "model.npz").read_bytes()

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        model.save(tmp_path / "model.npz")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"model.npz": before}


def test_what_a_killed_save_leaves_is_removed_by_the_next_one(tmp_path, monkeypatch):
    model = GaussianMixture(2, random_state=0).fit(X)
    write, files = np.savez, set()

    def leave(file, **arrays):
        """As if two processes had been killed, and a third one wrote to the same file."""
        for end in "xy":
            Path(f"{file.name[:-1]}{end}").write_bytes(b"half")
        files.update(tmp_path.iterdir())
        monkeypatch.setattr(np, "savez", write)
        model.save(tmp_path / "model.npz")
        files.difference_update(tmp_path.iterdir())
        write(file, **arrays)

    monkeypatch.setattr(np, "savez", leave)
    (tmp_path / ".skem.other").touch()
    model.save(tmp_path / "model.npz")
    assert len(files) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"model.npz", ".skem.other"}
    assert_array_equal(GaussianMixture.load(tmp_path / "model.npz").means_, model.means_)


@pytest.mark.parametrize("model", [GaussianMixture(2), KMeans(3), SKEMClassifier(6, max_iter=1)], ids=str)
def test_a_file_object_holds_a_model(tmp_path, model):
    model.set_params(random_state=0).fit(X, SPECIES)
    with gzip.open(tmp_path / "model.gz", "wb") as file:
        model.save(file)
    with gzip.open(tmp_path / "model.gz", "rb") as file:
        assert_same(type(model).load(file), model, X)
    with open(tmp_path / "model.gz", encoding="latin-1") as file, pytest.raises(TypeError, match="binary"):
        type(model).load(file)
    with pytest.raises(ValueError, match=r"model\.gz: no .*: not saved by skem"):
        type(model).load(tmp_path / "model.gz")
    with pytest.raises(FileNotFoundError):
        type(model).load(tmp_path / "none.npz")


def test_a_file_may_be_read_by_whom_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        GaussianMixture(2, random_state=0).fit(X).save(tmp_path / "model.npz")
    finally:
        os.umask(before)
    assert (tmp_path / "model.npz").stat().st_mode & 0o777 == 0o640


def test_where_a_file_cannot_be_written_its_own_name_is_told(tmp_path):
    model = GaussianMixture(2, random_state=0).fit(X)
    longest = "m" * 255
    model.save(tmp_path / longest)
    assert_array_equal(GaussianMixture.load(tmp_path / longest).means_, model.means_)
    beside = [tmp_path / "no folder" / "model.npz", tmp_path / longest / "model.npz"]
    for path in (*beside, tmp_path, tmp_path / f"{longest}m"):
        with pytest.raises(OSError, match=f"'{re.escape(str(path))}'$"):
            model.save(path)
    assert [path.name for path in tmp_path.iterdir()] == [longest]


def linear(X, Y):
    return X @ Y.T + 1.0


def test_what_is_not_saved_is_named(tmp_path):
    with pytest.raises(NotFittedError):
        PSKEMClassifier().save(tmp_path / "model.npz")
    model = SDGMClassifier(1, kernel=linear, max_iter=2, em_iter=2, tol=0).fit(X, SPECIES)
    with pytest.raises(
        ValueError, match=r"SDGMClassifier cannot be saved: _map\.kernel is a function, and nothing"
    ):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())
